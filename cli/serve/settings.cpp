#include "cli/serve/settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/serve/reading.hpp"
#include "support/text.hpp"

namespace mansard::cli {
namespace {

namespace serve = model::serve;

constexpr std::uint32_t kMostReplicas = 100'000;
constexpr double kLeastBetweenFailures = 1;  ///< Seconds: below it nothing is ever answered.

template <typename To, typename From>
void override_with(To& to, const std::optional<From>& from) {
  if (from) {
    to = static_cast<To>(*from);
  }
}

void override_with(bool& to, const std::string& word) {
  to = word.empty() ? to : word == "on";
}

serve::QueueOrder order_of(const std::string& word) {
  if (word == "priority") {
    return serve::QueueOrder::kPriority;
  }
  if (word == "shortest") {
    return serve::QueueOrder::kShortest;
  }
  return word == "fair" ? serve::QueueOrder::kFair : serve::QueueOrder::kFcfs;
}

void add_words(const EngineOptions& o, serve::EngineSettings& s) {
  if (!o.order.empty()) {
    s.order = order_of(o.order);
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
    to = text.empty() ? to : reading.amount(option, text, dimension);
  };
  measure("--host-time", o.host_time, kSecond, s.host_seconds);
  measure("--host-time-per-sequence", o.host_time_per_sequence, kSecond,
          s.host_seconds_per_sequence);
  measure("--swap-space", o.swap_space, kByte, s.swap_bytes);
  measure("--runtime-memory", o.runtime_memory, kByte, s.runtime_bytes);
}

serve::Router router_of(const std::string& word) {
  if (word == "round-robin") {
    return serve::Router::kRoundRobin;
  }
  if (word == "kv-aware") {
    return serve::Router::kKvAware;
  }
  return word == "user" ? serve::Router::kUser : serve::Router::kLeastLoaded;
}

/// Where the objective of that name is kept; null if there is none.
std::optional<double>* objective(serve::Objectives& all, std::string_view name) {
  if (name == "ttft") {
    return &all.ttft;
  }
  if (name == "tpot") {
    return &all.tpot;
  }
  return name == "latency" ? &all.latency : nullptr;
}

serve::Objectives objectives_of(const ServeOptions& options, Reading& reading) {
  serve::Objectives result{.share = options.slo_share};
  if (options.slo.empty()) {
    return result;
  }
  for (const std::string& part : split(options.slo, ',')) {
    const std::size_t at = part.find('=');
    std::optional<double>* to = objective(result, part.substr(0, at));
    if (to == nullptr || at == std::string::npos) {
      reading.wrong("--slo", part, "ttft=TIME, tpot=TIME or latency=TIME");
      continue;
    }
    *to = reading.amount("--slo", part.substr(at + 1), kSecond);
  }
  return result;
}

/// "100 s@2" or "100 s@2+30 s": when, which replica, for how long (`downtime` if it does not say).
void add_failure(const std::string& text, const std::string& downtime, serve::Service& service,
                 Reading& reading) {
  const std::size_t at = text.find('@');
  std::optional<std::uint32_t> replica;
  std::string down = downtime;
  if (at != std::string::npos) {
    const std::size_t plus = std::min(text.find('+', at), text.size());
    replica = whole_number(std::string_view(text).substr(at + 1, plus - at - 1), 0, kMostReplicas);
    if (plus < text.size()) {
      down = text.substr(plus + 1);
    }
  }
  if (!replica) {
    reading.wrong("--fail", text, "TIME@REPLICA or TIME@REPLICA+DOWNTIME");
    return;
  }
  service.failures.push_back({.time = reading.amount("--fail", text.substr(0, at), kSecond),
                              .replica = *replica,
                              .downtime = reading.amount("--fail", down, kSecond)});
}

void add_failures(const ServeOptions& options, serve::Service& service, Reading& reading) {
  for (const std::string& text : options.failures) {
    add_failure(text, options.downtime, service, reading);
  }
  if (!options.mtbf.empty()) {
    service.mean_time_between_failures = reading.amount("--mtbf", options.mtbf, kSecond);
    if (reading.errors.empty() && *service.mean_time_between_failures < kLeastBetweenFailures) {
      reading.wrong("--mtbf", options.mtbf, "at least 1 s");
    }
  }
  service.downtime = reading.amount("--downtime", options.downtime, kSecond);
}

void add_autoscaling(const ServeOptions& options, serve::Service& service, Reading& reading) {
  if (options.autoscale.empty()) {
    return;
  }
  const std::size_t at = options.autoscale.find("..");
  const auto least =
      whole_number(std::string_view(options.autoscale).substr(0, at), 1, kMostReplicas);
  const auto most =
      at == std::string::npos
          ? std::nullopt
          : whole_number(std::string_view(options.autoscale).substr(at + 2), 1, kMostReplicas);
  if (!least || !most || *most < *least) {
    reading.wrong("--autoscale", options.autoscale, "LEAST..MOST replicas");
    return;
  }
  service.autoscaling = {.least = *least,
                         .most = *most,
                         .start_up = reading.amount("--start-up", options.start_up, kSecond),
                         .above = options.above,
                         .below = options.below};
}

std::optional<serve::Role> role_of(std::string_view word) {
  if (word == "prefill") {
    return serve::Role::kPrefill;
  }
  if (word == "decode") {
    return serve::Role::kDecode;
  }
  return word.empty() ? std::optional(serve::Role::kBoth) : std::nullopt;
}

/// "h200-sxm", "h200-sxm*4" or "h200-sxm*4:prefill"; nullopt if it is none of them.
std::optional<PoolRequest> parse_pool(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto role = role_of(colon == std::string::npos ? "" : text.substr(colon + 1));
  const std::string rest = text.substr(0, colon);
  const std::size_t star = rest.rfind('*');
  const auto count = star == std::string::npos
                         ? std::optional<std::uint32_t>(1)
                         : whole_number(std::string_view(rest).substr(star + 1), 1, kMostReplicas);
  std::string machine = rest.substr(0, star);
  if (!role || !count || machine.empty()) {
    return std::nullopt;
  }
  return PoolRequest{.machine = std::move(machine), .replicas = *count, .role = *role};
}

std::vector<PoolRequest> pools_of(const ServeOptions& options, Reading& reading) {
  std::vector<PoolRequest> result;
  for (const std::string& text : options.pools) {
    if (auto pool = parse_pool(text)) {
      result.push_back(*std::move(pool));
    } else {
      reading.wrong("--pool", text, "MACHINE, MACHINE*N or MACHINE*N:prefill|decode");
    }
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

/// Prompts need a replica that computes them, and outputs one that generates.
void check_roles(const std::vector<PoolRequest>& pools, Reading& reading) {
  const auto none_but = [&](serve::Role role) {
    return !pools.empty() && std::ranges::all_of(pools, [role](const PoolRequest& pool) {
      return pool.role == role;
    });
  };
  if (none_but(serve::Role::kPrefill)) {
    reading.add(failure("pool", "no pool generates: all are of the role prefill", {},
                        "add --pool MACHINE*N:decode")
                    .value());
  }
  if (none_but(serve::Role::kDecode)) {
    reading.add(failure("pool", "no pool computes prompts: all are of the role decode", {},
                        "add --pool MACHINE*N:prefill")
                    .value());
  }
}

void check_failures(const ServicePlan& plan, Reading& reading) {
  std::uint64_t replicas = 0;
  for (const PoolRequest& pool : plan.pools) {
    replicas += std::uint64_t{pool.replicas} * plan.ranks;
  }
  if (!plan.pools.empty()) {
    const std::uint32_t first = plan.pools.front().replicas * plan.ranks;
    replicas += std::max(plan.service.autoscaling.most, first) - first;
  }
  for (const serve::Failure& failed : plan.service.failures) {
    if (failed.replica >= replicas) {
      reading.wrong(
          "--fail", fmt::format("@{}", failed.replica),
          fmt::format("a replica from 0 to {}", std::max<std::uint64_t>(replicas, 1) - 1));
    }
  }
}

/// Formats that the engine's file names and no option does.
void add_formats(const serve::EngineFile& file, ServicePlan& plan) {
  if (plan.model.kv.empty() && file.kv_dtype.starts_with("fp8")) {
    plan.model.kv = file.kv_dtype == "fp8_e5m2" ? "fp8_e5m2" : "fp8";
  }
  if (plan.model.weights.empty() && file.quantization == "fp8") {
    plan.model.weights = "fp8";
  }
}

/// Ranks that share experts step as one; others are replicas of their own.
void add_parallelism(const serve::EngineFile& file, ServicePlan& plan) {
  ModelOptions& model = plan.model;
  model.tp = std::max(model.tp, file.tp);
  model.pp = std::max(model.pp, file.pp);
  model.dp = std::max(model.dp, file.dp);
  if (file.expert_parallel && model.ep == 1) {
    model.ep = model.tp * model.dp;
  }
  plan.ranks = static_cast<std::uint32_t>(model.dp);
  model.dp = model.ep > model.tp ? model.dp : 1;
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

Result<ServicePlan> service_plan(const ServeOptions& options) {
  Reading reading;
  ServicePlan result;
  const serve::EngineFile file = reading.take(engine_file(options.engine));
  result.settings = file.settings;
  add_options(options.engine, result.settings, reading);
  if (!options.engine.draft_model.empty() && result.settings.draft_tokens == 0) {
    reading.add(failure("option", "--draft-model drafts nothing without --draft-tokens", {},
                        "add --draft-tokens 3")
                    .value());
  }
  if (!options.pools.empty() && !options.machine.machines.empty()) {
    reading.add(failure("option", "--machine and --pool both say what serves", {},
                        "name every machine with --pool")
                    .value());
  }
  result.model = options.model;
  add_formats(file, result);
  add_parallelism(file, result);
  result.plan = reading.take(plan_of(result.model));
  result.plan.kv = {};
  result.plan.speculation = {};
  if (!file.device.empty()) {
    result.notes.push_back(
        fmt::format("the number of KV blocks and the memory are those that {} states for {}",
                    options.engine.file, printable(file.device)));
  }
  serve::Service& service = result.service;
  service.router = router_of(options.router);
  service.seed = options.seed;
  service.objectives = objectives_of(options, reading);
  service.link = {.bytes_per_second = reading.amount("--link", options.link, kBytePerSecond),
                  .latency = reading.amount("--link-latency", options.link_latency, kSecond)};
  if (reading.errors.empty() && service.link.bytes_per_second <= 0) {
    reading.wrong("--link", options.link, "more than 0");
  }
  add_failures(options, service, reading);
  add_autoscaling(options, service, reading);
  result.pools = pools_of(options, reading);
  check_roles(result.pools, reading);
  check_failures(result, reading);
  if (!reading.errors.empty()) {
    return failure(std::move(reading.errors));
  }
  return result;
}

}  // namespace mansard::cli
