#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/serve/search.hpp"
#include "cli/serve/server.hpp"
#include "cli/validators.hpp"
#include "cli/verb.hpp"
#include "cli/views/serving.hpp"

namespace mansard::cli {
namespace {

namespace serve = model::serve;

struct Options {
  ServeOptions serve;
  Format format = Format::kTable;
  std::vector<std::string> vary;
  std::string find;
  std::string requests_csv;
  std::string events;
  std::string plot;
};

/// Files that are written while the simulation runs.
class Logs {
 public:
  Logs(const Options& options) : events_(options.events), requests_(options.requests_csv) {
    is_chrome_ = options.events.ends_with(".json");
  }

  serve::Listeners listeners() {
    serve::Listeners result;
    if (requests_.wanted()) {
      requests_.write(served_header());
      result.served = [this](const serve::Served& served) { requests_.write(served_line(served)); };
      result.rejected = [this](const ir::Request& request, std::string_view reason) {
        requests_.write(rejected_line(request, reason));
      };
    }
    if (events_.wanted()) {
      events_.write(is_chrome_ ? "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" : "");
      result.event = [this](const serve::Event& event) {
        if (is_chrome_) {
          events_.write((any_ ? ",\n" : "") + event_chrome(event));
          any_ = true;
        } else {
          events_.write(event_line(event));
        }
      };
    }
    return result;
  }

  Result<void> finish() {
    if (events_.wanted() && is_chrome_) {
      events_.write("\n]}\n");
    }
    return events_.close("--events").and_then([&] { return requests_.close("--requests-csv"); });
  }

 private:
  /// A file that takes what it is given and remembers whether all of it was taken.
  class Log {
   public:
    explicit Log(std::string path) : path_(std::move(path)) {
      if (wanted()) {
        file_.reset(std::fopen(path_.c_str(), "wb"));
      }
    }
    [[nodiscard]] bool wanted() const { return !path_.empty(); }
    void write(std::string_view text) {
      good_ =
          good_ && file_ && std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
    }
    Result<void> close(const std::string& option) {
      const bool good = !wanted() || (file_ && std::fclose(file_.release()) == 0 && good_);
      return good ? Result<void>()
                  : failure("output-file", fmt::format("{}: cannot write '{}'", option, path_));
    }

   private:
    struct Close {
      void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    bool good_ = true;
  };

  Log events_;
  Log requests_;
  bool is_chrome_ = false;
  bool any_ = false;
};

Outcome shown(const std::vector<ServeAnswer>& answers, const Options& options) {
  Outcome outcome;
  if (!options.plot.empty()) {
    const std::string svg = answers.size() == 1 ? timeline_svg(answers.front()) : rate_svg(answers);
    if (const auto written = write_file("--plot", options.plot, svg); !written) {
      return failed(written.error());
    }
  }
  if (answers.front().read) {
    outcome.err = render(answers.front().read->problems);
  }
  switch (options.format) {
    case Format::kJson:
      outcome.out = serving_json(answers);
      break;
    case Format::kCsv:
      outcome.out = serving_csv(answers);
      break;
    case Format::kTable:
      outcome.out = serving_table(answers);
  }
  return outcome;
}

Outcome serve_all(const Options& options) {
  Server server;
  Logs logs(options);
  const serve::Listeners listeners = logs.listeners();
  const auto points = sweep_points(options.serve, options.vary);
  if (!points) {
    return failed(points.error());
  }
  std::vector<ServeAnswer> answers;
  Diagnostics errors;
  for (const SweepPoint& point : *points) {
    auto answer = options.find.empty() ? server.serve(point.options, listeners)
                                       : find_best(server, point.options, options.find);
    if (answer) {
      answer->varied.insert(answer->varied.begin(), point.varied.begin(), point.varied.end());
      answers.push_back(std::move(*answer));
    } else {
      errors.insert(errors.end(), std::make_move_iterator(answer.error().begin()),
                    std::make_move_iterator(answer.error().end()));
    }
  }
  if (const auto finished = logs.finish(); !finished) {
    return failed(finished.error());
  }
  if (answers.empty() || (points->size() == 1 && !errors.empty())) {
    return failed(errors);
  }
  Outcome outcome = shown(answers, options);
  outcome.err += render(errors);  // points of a sweep that cannot serve
  return outcome;
}

/// Adds options to one group of `--help`.
class Group {
 public:
  Group(CLI::App& app, std::string name) : app_(&app), name_(std::move(name)) {}
  template <typename T>
  CLI::Option* add(const char* names, T& value, const char* type, const char* help) {
    return app_->add_option(names, value, help)->type_name(type)->group(name_);
  }
  template <typename T>
  void count(const char* names, T& value, std::int64_t least, const char* help) {
    add(names, value, "N", help)->check(at_least(least));
  }
  void word(const char* names, std::string& value, std::vector<std::string> words,
            const char* help) {
    add(names, value, "WORD", help)->check(one_of(std::move(words)));
  }

 private:
  CLI::App* app_;
  std::string name_;
};

void add_engine_options(CLI::App& app, EngineOptions& o) {
  Group g(app, "Engine (defaults: vLLM's)");
  g.add("--engine", o.file, "FILE", "Settings as a vLLM benchmark writes them (JSON or YAML)");
  g.count("--max-num-seqs", o.max_num_seqs, 1, "Most sequences that run (256)");
  g.count("--max-num-batched-tokens", o.max_num_batched_tokens, 1,
          "Most new tokens of an iteration (2048)");
  g.count("--max-model-len", o.max_model_len, 1, "Most tokens of a request (the model's)");
  g.count("--block-size", o.block_size, 1, "Tokens of a KV block (16)");
  g.count("--num-blocks", o.num_blocks, 2,
          "KV blocks of a GPU (what memory is left after weights and activations)");
  g.add("--gpu-memory-utilization", o.memory_utilization, "F", "Usable share of the memory (0.9)")
      ->check(fraction());
  g.add("--runtime-memory", o.runtime_memory, "BYTES",
        "Of the CUDA context and libraries (0.6 GB, assumed)");
  g.word("--chunked-prefill", o.chunked_prefill, {"on", "off"}, "Prompts in parts (on)");
  g.word("--prefix-caching", o.prefix_caching, {"on", "off"}, "Reuse of equal prompts' KV (on)");
  g.count("--long-prefill-token-threshold", o.long_prefill_threshold, 0,
          "Most new tokens of one prompt in an iteration (0: no limit)");
  g.add("--watermark", o.watermark, "F", "Share of the blocks that admission leaves free (0)")
      ->check(fraction());
  g.word("--order", o.order, {"fcfs", "priority", "shortest", "fair"},
         "Who is admitted first (fcfs)");
  g.word("--precedence", o.precedence, {"decode", "prefill"},
         "What takes the budget first (decode)");
  g.word("--preemption", o.preemption, {"recompute", "swap"},
         "What becomes of KV when blocks run out (recompute)");
  g.add("--swap-space", o.swap_space, "BYTES", "Of the host, a GPU (4 GiB)");
  g.word("--async-scheduling", o.async_scheduling, {"on", "off"},
         "Schedule an iteration while the one before runs (on)");
  g.add("--host-time", o.host_time, "TIME", "Of the host, an iteration (0.5 ms, assumed)");
  g.add("--host-time-per-sequence", o.host_time_per_sequence, "TIME",
        "And each sequence in it (10 us, assumed)");
  app.add_flag("--enforce-eager", o.enforce_eager, "No CUDA graphs")
      ->group("Engine (defaults: vLLM's)");
  g.count("--draft-tokens", o.draft_tokens, 0, "Speculative decoding: tokens drafted a step (0)");
  g.add("--acceptance", o.acceptance, "P", "Chance that a drafted token is accepted (0.7)")
      ->check(fraction());
  g.add("--draft-model", o.draft_model, "MODEL", "What drafts (nothing that takes time)");
}

void add_request_options(CLI::App& app, ServeOptions& o) {
  Group g(app, "Requests");
  g.add("--requests", o.requests, "FILE",
        "A trace: Azure, BurstGPT or other CSV, Mooncake or vLLM JSON lines, ShareGPT");
  g.word("--arrivals", o.arrivals, {"poisson", "gamma", "constant", "closed"},
         "Made arrivals (poisson without a trace; a trace has its own)");
  g.add("--rate", o.rate, "N", "Made arrivals a second (1)")->check(not_negative());
  g.add("--scale-rate", o.scale, "X", "That many times the rate")->check(not_negative());
  g.add("--burstiness", o.burstiness, "K", "Shape of gamma arrivals (1: poisson)")
      ->check(not_negative());
  g.count("--users", o.users, 1, "Of a closed loop, each waiting for its answer (1)");
  g.add("--think-time", o.think_time, "TIME", "Of a user between answer and request (0 s)");
  g.count("--num-requests", o.num_requests, 1, "At most as many (1000 if made)");
  g.add("--input", o.input, "LENGTH",
        "Prompt tokens: N, uniform:A..B, lognormal:MEAN,SIGMA, sharegpt")
      ->capture_default_str();
  g.add("--output", o.output, "LENGTH", "Output tokens, likewise")->capture_default_str();
  g.add("--seed", o.seed, "N", "Of all that is drawn")->capture_default_str();
}

void add_service_options(CLI::App& app, ServeOptions& o) {
  Group g(app, "Service");
  g.count("--replicas", o.replicas, 1, "Engines behind the router (1)");
  g.word("--router", o.router, {"least-loaded", "round-robin", "kv-aware", "user"},
         "How requests are spread (least-loaded)");
  g.add("--pool", o.pools, "MACHINE*N[:ROLE]",
        "Replicas of unlike machines; ROLE prefill or decode. Instead of --machine")
      ->allow_extra_args(false);
  g.count("--prefill-replicas", o.prefill_replicas, 1,
          "Prompts on replicas of their own, --replicas generate");
  g.add("--link", o.link, "RATE", "Over which their KV goes")->capture_default_str();
  g.add("--link-latency", o.link_latency, "TIME", "And its latency")->capture_default_str();
  g.add("--autoscale", o.autoscale, "A..B", "Replicas as the load asks for");
  g.add("--start-up", o.start_up, "TIME", "Of a replica")->capture_default_str();
  g.add("--scale-above", o.above, "N", "Requests a replica above which one is started")
      ->capture_default_str();
  g.add("--scale-below", o.below, "N", "And below which one is stopped")->capture_default_str();
  g.add("--fail", o.failures, "TIME@REPLICA[+TIME]", "A replica fails, for so long")
      ->allow_extra_args(false);
  g.add("--mtbf", o.mtbf, "TIME", "Mean time between failures of a replica");
  g.add("--downtime", o.downtime, "TIME", "Of a failure")->capture_default_str();
}

void add_output_options(CLI::App& app, Options& o) {
  Group g(app, "Output");
  g.add("--slo", o.serve.slo, "ttft=T,tpot=T,latency=T", "What counts as good");
  g.add("--slo-share", o.serve.slo_share, "F", "Share of good requests for a load to be served")
      ->check(fraction())
      ->capture_default_str();
  g.word("--find", o.find, {"gpus", "rate", "batch"},
         "The fewest replicas, highest rate or largest --max-num-seqs within --slo");
  g.add("--vary", o.vary, "OPTION=A,B,...", "A sweep; several options give all combinations")
      ->allow_extra_args(false);
  g.add("--against", o.serve.against, "FILE", "Also compare with a measured run");
  g.add("--requests-csv", o.requests_csv, "FILE", "Also write each request's times");
  g.add("--events", o.events, "FILE",
        "Also write what happened: .jsonl, or .json for chrome://tracing");
  g.add("--plot", o.plot, "FILE", "Also draw it as SVG: over time, or of a sweep over the rate");
  add_format_option(app, o.format);
}

}  // namespace

Run add_serve(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "serve", "What users wait for, and what it costs, under a load of requests");
  verb->footer(R"(Examples:
  mansard serve llama3-8b -m h100-sxm --rate 5 --input sharegpt --output sharegpt
  mansard serve llama3-8b -m l40s --requests AzureLLMInferenceTrace_code.csv --replicas 8
  mansard serve llama3-70b -m h200-sxm --tp 4 --rate 10 --slo ttft=1s,tpot=50ms --find gpus
  mansard serve llama3-8b -m h100-sxm --vary machine=h100-sxm,b200-sxm --vary rate=2,4,8 --plot rate.svg
  mansard serve config.json -m rtx-4090 --requests run.jsonl --engine meta.json --against run.jsonl)");
  auto options = std::make_shared<Options>();
  add_deployment_options(*verb, options->serve.model);
  add_machine_options(*verb, options->serve.machine);
  verb->get_option("--machine")->required(false);  // --pool names machines too
  add_request_options(*verb, options->serve);
  add_engine_options(*verb, options->serve.engine);
  add_service_options(*verb, options->serve);
  add_output_options(*verb, *options);
  return [options] { return serve_all(*options); };
}

}  // namespace mansard::cli
