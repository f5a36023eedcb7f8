#include "cli/serving.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "support/units.hpp"
#include "traces/requests/served.hpp"

namespace mansard::cli {
namespace {

namespace serve = model::serve;
namespace requests = traces::requests;

void append(Diagnostics& all, Diagnostics more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Reads option values and keeps every error.
class Reading {
 public:
  double measure(const std::string& option, const std::string& text, const Dimension& dimension) {
    auto source = std::make_shared<SourceFile>(SourceFile{option, text});
    auto value = parse_measure(text, dimension, {source, 0, text.size()});
    if (!value) {
      append(errors, std::move(value.error()));
      return 0;
    }
    return *value;
  }

  void wrong(const std::string& option, const std::string& text, std::string_view expected) {
    errors.push_back(
        {.id = "option",
         .message = fmt::format("{}: expected {}, found '{}'", option, expected, text)});
  }

  template <typename T>
  T take(Result<T> value) {
    if (!value) {
      append(errors, std::move(value.error()));
      return T{};
    }
    return std::move(*value);
  }

  Diagnostics errors;
};

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value)
             ? std::optional(value)
             : std::nullopt;
}

/// Parts of a text between separators.
std::vector<std::string> parts(const std::string& text, char separator) {
  std::vector<std::string> result;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    result.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

template <typename To, typename From>
void override_with(To& to, const std::optional<From>& from) {
  if (from) {
    to = static_cast<To>(*from);
  }
}

void override_with(bool& to, const std::string& word) {
  to = word.empty() ? to : word == "on";
}

void add_words(const EngineOptions& o, serve::EngineSettings& s) {
  if (!o.order.empty()) {
    s.order = o.order == "priority"   ? serve::QueueOrder::kPriority
              : o.order == "shortest" ? serve::QueueOrder::kShortest
              : o.order == "fair"     ? serve::QueueOrder::kFair
                                      : serve::QueueOrder::kFcfs;
  }
  if (!o.precedence.empty()) {
    s.precedence = o.precedence == "prefill" ? serve::Precedence::kPrefillFirst
                                             : serve::Precedence::kDecodeFirst;
  }
  if (!o.preemption.empty()) {
    s.preemption =
        o.preemption == "swap" ? serve::Preemption::kSwap : serve::Preemption::kRecompute;
  }
}

void add_options(const EngineOptions& o, serve::EngineSettings& s, Reading& reading) {
  override_with(s.block_size, o.block_size);
  if (o.num_blocks) {
    s.num_blocks = static_cast<std::uint64_t>(*o.num_blocks);
  }
  override_with(s.max_num_seqs, o.max_num_seqs);
  override_with(s.max_num_batched_tokens, o.max_num_batched_tokens);
  override_with(s.max_model_len, o.max_model_len);
  override_with(s.long_prefill_token_threshold, o.long_prefill_threshold);
  override_with(s.draft_tokens, o.draft_tokens);
  override_with(s.gpu_memory_utilization, o.memory_utilization);
  override_with(s.watermark, o.watermark);
  override_with(s.acceptance, o.acceptance);
  override_with(s.enable_prefix_caching, o.prefix_caching);
  override_with(s.enable_chunked_prefill, o.chunked_prefill);
  override_with(s.async_scheduling, o.async_scheduling);
  s.enforce_eager = s.enforce_eager || o.enforce_eager;
  add_words(o, s);
  const auto measure = [&](const char* option, const std::string& text, const Dimension& dimension,
                           double& to) {
    to = text.empty() ? to : reading.measure(option, text, dimension);
  };
  measure("--host-time", o.host_time, kSecond, s.host_seconds);
  measure("--host-time-per-sequence", o.host_time_per_sequence, kSecond,
          s.host_seconds_per_sequence);
  measure("--swap-space", o.swap_space, kByte, s.swap_bytes);
  measure("--runtime-memory", o.runtime_memory, kByte, s.runtime_bytes);
}

serve::Router router_of(const std::string& word) {
  return word == "round-robin" ? serve::Router::kRoundRobin
         : word == "kv-aware"  ? serve::Router::kKvAware
         : word == "user"      ? serve::Router::kUser
                               : serve::Router::kLeastLoaded;
}

serve::Objectives objectives_of(const ServeOptions& options, Reading& reading) {
  serve::Objectives result{.share = options.slo_share};
  if (options.slo.empty()) {
    return result;
  }
  for (const std::string& part : parts(options.slo, ',')) {
    const std::size_t at = part.find('=');
    const std::string name = part.substr(0, at);
    std::optional<double>* to = name == "ttft"      ? &result.ttft
                                : name == "tpot"    ? &result.tpot
                                : name == "latency" ? &result.latency
                                                    : nullptr;
    if (to == nullptr || at == std::string::npos) {
      reading.wrong("--slo", part, "ttft=TIME, tpot=TIME or latency=TIME");
      continue;
    }
    *to = reading.measure("--slo", part.substr(at + 1), kSecond);
  }
  return result;
}

/// "100 s@2" or "100 s@2+30 s": when, which replica, for how long.
void add_failures(const ServeOptions& options, serve::Service& service, Reading& reading) {
  for (const std::string& text : options.failures) {
    const std::size_t at = text.find('@');
    const std::size_t plus = text.find('+', at == std::string::npos ? 0 : at);
    const auto replica =
        at == std::string::npos
            ? std::nullopt
            : number(std::string_view(text).substr(
                  at + 1, plus == std::string::npos ? std::string::npos : plus - at - 1));
    if (!replica || *replica < 0 || *replica > 1e6 || *replica != std::floor(*replica)) {
      reading.wrong("--fail", text, "TIME@REPLICA or TIME@REPLICA+DOWNTIME");
      continue;
    }
    const std::string down = plus == std::string::npos ? options.downtime : text.substr(plus + 1);
    service.failures.push_back({.time = reading.measure("--fail", text.substr(0, at), kSecond),
                                .replica = static_cast<std::uint32_t>(*replica),
                                .downtime = reading.measure("--fail", down, kSecond)});
  }
  if (!options.mtbf.empty()) {
    service.mean_time_between_failures = reading.measure("--mtbf", options.mtbf, kSecond);
  }
  service.downtime = reading.measure("--downtime", options.downtime, kSecond);
}

void add_autoscaling(const ServeOptions& options, serve::Service& service, Reading& reading) {
  if (options.autoscale.empty()) {
    return;
  }
  const std::size_t at = options.autoscale.find("..");
  const auto least = number(std::string_view(options.autoscale).substr(0, at));
  const auto most = at == std::string::npos
                        ? std::nullopt
                        : number(std::string_view(options.autoscale).substr(at + 2));
  if (!least || !most || *least < 1 || *most < *least || *most > 1e5) {
    return reading.wrong("--autoscale", options.autoscale, "LEAST..MOST replicas");
  }
  service.autoscaling = {.least = static_cast<std::uint32_t>(*least),
                         .most = static_cast<std::uint32_t>(*most),
                         .start_up = reading.measure("--start-up", options.start_up, kSecond),
                         .above = options.above,
                         .below = options.below};
}

/// A pool as the user names it: "h200-sxm*4:prefill".
struct PoolRequest {
  std::string machine;
  std::uint32_t replicas = 1;
  serve::Role role = serve::Role::kBoth;
};

std::vector<PoolRequest> pools_of(const ServeOptions& options, Reading& reading) {
  std::vector<PoolRequest> result;
  for (const std::string& text : options.pools) {
    PoolRequest pool;
    const std::size_t colon = text.rfind(':');
    const std::string role = colon == std::string::npos ? "" : text.substr(colon + 1);
    const std::string rest = text.substr(0, colon);
    const std::size_t star = rest.rfind('*');
    pool.machine = rest.substr(0, star);
    const auto count = star == std::string::npos ? std::optional(1.0)
                                                 : number(std::string_view(rest).substr(star + 1));
    const bool known = role.empty() || role == "prefill" || role == "decode";
    if (!known || !count || *count < 1 || *count > 1e5 || *count != std::floor(*count)) {
      reading.wrong("--pool", text, "MACHINE, MACHINE*N or MACHINE*N:prefill|decode");
      continue;
    }
    pool.replicas = static_cast<std::uint32_t>(*count);
    pool.role = role == "prefill"  ? serve::Role::kPrefill
                : role == "decode" ? serve::Role::kDecode
                                   : serve::Role::kBoth;
    result.push_back(pool);
  }
  if (!result.empty() || options.machine.machines.empty()) {
    return result;
  }
  const std::string& machine = options.machine.machines.front();
  const auto replicas = static_cast<std::uint32_t>(options.replicas);
  if (options.prefill_replicas > 0) {
    return {{machine, static_cast<std::uint32_t>(options.prefill_replicas), serve::Role::kPrefill},
            {machine, replicas, serve::Role::kDecode}};
  }
  return {{machine, replicas, serve::Role::kBoth}};
}

/// Where the requests come from, and what it is called.
struct Source {
  std::unique_ptr<ir::RequestSource> source;
  const requests::RequestReader* reader = nullptr;
  std::string name;
};

requests::Workload workload_of_serve(const ServeOptions& options, Reading& reading) {
  requests::Workload w;
  w.arrivals.kind = options.arrivals == "gamma"      ? requests::Arrivals::Kind::kGamma
                    : options.arrivals == "constant" ? requests::Arrivals::Kind::kConstant
                    : options.arrivals == "closed"   ? requests::Arrivals::Kind::kClosed
                                                     : requests::Arrivals::Kind::kPoisson;
  w.arrivals.rate = options.rate.value_or(1) * options.scale;
  w.arrivals.shape = options.burstiness;
  w.arrivals.users = static_cast<std::uint32_t>(options.users);
  w.arrivals.think_time = reading.measure("--think-time", options.think_time, kSecond);
  w.input = reading.take(requests::parse_lengths(options.input, false));
  w.output = reading.take(requests::parse_lengths(options.output, true));
  const std::int64_t limit =
      options.requests.empty() ? 1000 : std::numeric_limits<std::int64_t>::max();
  w.requests = static_cast<std::uint64_t>(options.num_requests.value_or(limit));
  w.seed = options.seed;
  return w;
}

std::string arrivals_name(const ServeOptions& options) {
  const std::string kind = options.arrivals.empty() ? "poisson" : options.arrivals;
  return kind == "closed"
             ? fmt::format("closed loop of {} users", options.users)
             : fmt::format("{} {:g}/s", kind, options.rate.value_or(1) * options.scale);
}

Result<Source> source_of(const ServeOptions& options) {
  Reading reading;
  const requests::Workload workload = workload_of_serve(options, reading);
  if (!reading.errors.empty()) {
    return failure(std::move(reading.errors));
  }
  Source result;
  if (options.requests.empty()) {
    result.source = requests::generate(workload);
    result.name = arrivals_name(options);
    return result;
  }
  auto reader = requests::open_requests(options.requests);
  if (!reader) {
    return failure(std::move(reader.error()));
  }
  result.reader = reader->get();
  result.name = "trace " + (*reader)->report().format;
  if (!options.arrivals.empty() || options.rate) {
    result.source = requests::with_arrivals(std::move(*reader), workload);
    result.name += ", " + arrivals_name(options);
  } else {
    result.source = requests::scaled(std::move(*reader), options.scale, workload.requests);
    result.name += options.scale == 1 ? "" : fmt::format(" at {:g} times its rate", options.scale);
  }
  return result;
}

Result<serve::EngineFile> engine_file(const EngineOptions& options) {
  if (options.file.empty()) {
    return serve::EngineFile{};
  }
  return read_document(options.file).and_then([](const Node& document) {
    return serve::read_engine(document);
  });
}

}  // namespace

Result<const Server::Graphs*> Server::graphs(const ModelOptions& options) {
  if (const auto known = graphs_.find(options.model); known != graphs_.end()) {
    return &known->second;
  }
  auto decode = frontend::import_model(options.model, frontend::Phase::kDecode);
  if (!decode) {
    return failure(std::move(decode.error()));
  }
  auto prefill = frontend::import_model(options.model, frontend::Phase::kPrefill);
  if (!prefill) {
    return failure(std::move(prefill.error()));
  }
  return &graphs_.emplace(options.model, Graphs{std::move(*decode), std::move(*prefill)})
              .first->second;
}

Result<const serve::Deployment*> Server::deployment(const ServeOptions& options,
                                                    const std::string& machine_name,
                                                    const serve::EngineSettings& settings,
                                                    const model::Plan& plan) {
  // What the step model and the memory depend on; all else of the settings is put in afterwards.
  const std::string key = fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", machine_name, options.model.model,
      plan.parallelism.tp, plan.parallelism.ep, plan.parallelism.dp, plan.pp, options.model.weights,
      options.model.kv, options.model.activations, settings.max_num_seqs,
      settings.max_num_batched_tokens, settings.num_blocks.value_or(0), settings.block_size,
      settings.gpu_memory_utilization, settings.enforce_eager);
  if (const auto known = deployments_.find(key); known != deployments_.end()) {
    return &known->second;
  }
  auto loaded = graphs(options.model);
  if (!loaded) {
    return failure(std::move(loaded.error()));
  }
  const auto machine = load(machine_name, options.machine);
  if (!machine) {
    return failure(machine.error());
  }
  const auto calibration = load_calibration(*machine, options.machine);
  if (!calibration) {
    return failure(calibration.error());
  }
  auto deployed = serve::deploy({.decode = (*loaded)->decode,
                                 .prefill = (*loaded)->prefill,
                                 .machine = *machine,
                                 .calibration = *calibration,
                                 .plan = plan,
                                 .options = cost_options(options.machine),
                                 .settings = settings,
                                 .usd_per_gpu_hour = options.model.price});
  if (!deployed) {
    return failure(std::move(deployed.error()));
  }
  deployed->assumptions.insert(deployed->assumptions.begin(), calibration->notes.begin(),
                               calibration->notes.end());
  calibrations_[machine_name] = calibration->name;
  return &deployments_.emplace(key, std::move(*deployed)).first->second;
}

Result<serve::Service> Server::service(const ServeOptions& options, ServeAnswer& answer) {
  Reading reading;
  serve::EngineFile file = reading.take(engine_file(options.engine));
  add_options(options.engine, file.settings, reading);
  auto plan = reading.take(plan_of(options.model));
  plan.kv = {};
  plan.speculation = {};
  const auto ranks = std::max(options.model.dp, file.dp);
  plan.parallelism.tp = std::max(options.model.tp, file.tp);
  plan.pp = std::max(options.model.pp, file.pp);
  if (file.expert_parallel && plan.parallelism.ep == 1) {
    plan.parallelism.ep = plan.parallelism.tp * ranks;
  }
  // Ranks that share experts step as one; others are replicas of their own.
  plan.parallelism.dp = plan.parallelism.ep > plan.parallelism.tp ? ranks : 1;
  serve::Service result{.router = router_of(options.router), .seed = options.seed};
  result.objectives = objectives_of(options, reading);
  result.link = {.bytes_per_second = reading.measure("--link", options.link, kBytePerSecond),
                 .latency = reading.measure("--link-latency", options.link_latency, kSecond)};
  add_failures(options, result, reading);
  add_autoscaling(options, result, reading);
  const std::vector<PoolRequest> pools = pools_of(options, reading);
  if (!reading.errors.empty()) {
    return failure(std::move(reading.errors));
  }
  for (const PoolRequest& asked : pools) {
    auto deployed = deployment(options, asked.machine, file.settings, plan);
    if (!deployed) {
      append(reading.errors, std::move(deployed.error()));
      continue;
    }
    serve::Pool pool = (*deployed)->pool;
    const auto blocks = pool.settings.num_blocks;
    const auto length = pool.settings.max_model_len;
    pool.settings = file.settings;
    pool.settings.num_blocks = blocks;
    pool.settings.max_model_len =
        file.settings.max_model_len > 0 ? file.settings.max_model_len : length;
    pool.role = asked.role;
    pool.replicas = asked.replicas * static_cast<std::uint32_t>(ranks);
    if (!options.engine.draft_model.empty() && pool.settings.draft_tokens > 0) {
      ServeOptions of_draft = options;
      of_draft.model.model = options.engine.draft_model;
      serve::EngineSettings settings = file.settings;
      settings.num_blocks = 2;
      auto draft = deployment(of_draft, asked.machine, settings, plan);
      if (!draft) {
        append(reading.errors, std::move(draft.error()));
        continue;
      }
      pool.draft = (*draft)->timer.get();
    }
    answer.pools.push_back({.machine = asked.machine,
                            .calibration = calibrations_[asked.machine],
                            .replicas = pool.replicas,
                            .gpus = pool.gpus,
                            .blocks = pool.blocks,
                            .role = pool.role,
                            .settings = pool.settings,
                            .memory = (*deployed)->memory});
    for (const std::string& note : (*deployed)->assumptions) {
      if (std::ranges::find(answer.assumptions, note) == answer.assumptions.end()) {
        answer.assumptions.push_back(note);
      }
    }
    result.pools.push_back(std::move(pool));
  }
  if (!reading.errors.empty()) {
    return failure(std::move(reading.errors));
  }
  return result;
}

Result<ServeAnswer> Server::serve(const ServeOptions& options, const serve::Listeners& listeners) {
  ServeAnswer answer{.router = options.router};
  auto simulated = service(options, answer);
  auto source = source_of(options);
  Diagnostics errors;
  if (!simulated) {
    append(errors, std::move(simulated.error()));
  }
  if (!source) {
    append(errors, std::move(source.error()));
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  answer.model = graphs_.at(options.model.model).decode.facts.name;
  answer.source = source->name;
  answer.objectives = simulated->objectives;
  answer.report = serve::simulate(*simulated, *source->source, listeners);
  if (source->reader != nullptr) {
    answer.read = source->reader->report();
    if (answer.report.requests == 0) {
      Diagnostics problems = answer.read->problems;
      for (Diagnostic& problem : problems) {
        problem.severity = Severity::kError;
      }
      append(problems, failure("request-file",
                               fmt::format("no request could be read from '{}'", options.requests))
                           .value());
      return failure(std::move(problems));
    }
  }
  if (!options.against.empty()) {
    auto run = requests::read_served(options.against);
    if (!run) {
      return failure(std::move(run.error()));
    }
    answer.against = serve::compare_runs(answer.report, run->requests, run->figures, run->makespan);
  }
  return answer;
}

}  // namespace mansard::cli
