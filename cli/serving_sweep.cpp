#include "cli/serving_sweep.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/suggest.hpp"

namespace mansard::cli {
namespace {

/// Sets an option from text; false if it does not take it.
using Setter = std::function<bool(ServeOptions&, const std::string&)>;

template <typename T>
bool parse(const std::string& text, T& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

Setter count(std::int64_t ModelOptions::* field) {
  return [field](ServeOptions& o, const std::string& text) {
    return parse(text, o.model.*field) && o.model.*field >= 1;
  };
}
Setter count(std::int64_t ServeOptions::* field) {
  return [field](ServeOptions& o, const std::string& text) {
    return parse(text, o.*field) && o.*field >= 1;
  };
}
Setter engine_count(std::optional<std::int64_t> EngineOptions::* field) {
  return [field](ServeOptions& o, const std::string& text) {
    return parse(text, (o.engine.*field).emplace()) && *(o.engine.*field) >= 0;
  };
}
Setter engine_word(std::string EngineOptions::* field, std::vector<std::string> words) {
  return [field, words = std::move(words)](ServeOptions& o, const std::string& text) {
    o.engine.*field = text;
    return std::ranges::find(words, text) != words.end();
  };
}
Setter dtype(std::string ModelOptions::* field) {
  return [field](ServeOptions& o, const std::string& text) {
    o.model.*field = text;
    return !text.empty();
  };
}

const std::vector<std::pair<std::string, Setter>>& setters() {
  static const std::vector<std::pair<std::string, Setter>> list{
      {"machine",
       [](ServeOptions& o, const std::string& text) {
         o.machine.machines = {text};
         return !text.empty();
       }},
      {"model",
       [](ServeOptions& o, const std::string& text) {
         o.model.model = text;
         return !text.empty();
       }},
      {"rate",
       [](ServeOptions& o, const std::string& text) {
         return parse(text, o.rate.emplace()) && *o.rate > 0;
       }},
      {"scale-rate", [](ServeOptions& o,
                        const std::string& text) { return parse(text, o.scale) && o.scale > 0; }},
      {"users", count(&ServeOptions::users)},
      {"replicas", count(&ServeOptions::replicas)},
      {"prefill-replicas", count(&ServeOptions::prefill_replicas)},
      {"tp", count(&ModelOptions::tp)},
      {"pp", count(&ModelOptions::pp)},
      {"ep", count(&ModelOptions::ep)},
      {"dp", count(&ModelOptions::dp)},
      {"weights", dtype(&ModelOptions::weights)},
      {"kv", dtype(&ModelOptions::kv)},
      {"activations", dtype(&ModelOptions::activations)},
      {"router",
       [](ServeOptions& o, const std::string& text) {
         o.router = text;
         constexpr std::array<std::string_view, 4> kWords{"least-loaded", "round-robin", "kv-aware",
                                                          "user"};
         return std::ranges::find(kWords, text) != kWords.end();
       }},
      {"max-num-seqs", engine_count(&EngineOptions::max_num_seqs)},
      {"max-num-batched-tokens", engine_count(&EngineOptions::max_num_batched_tokens)},
      {"block-size", engine_count(&EngineOptions::block_size)},
      {"num-blocks", engine_count(&EngineOptions::num_blocks)},
      {"draft-tokens", engine_count(&EngineOptions::draft_tokens)},
      {"chunked-prefill", engine_word(&EngineOptions::chunked_prefill, {"on", "off"})},
      {"prefix-caching", engine_word(&EngineOptions::prefix_caching, {"on", "off"})},
      {"async-scheduling", engine_word(&EngineOptions::async_scheduling, {"on", "off"})},
      {"order", engine_word(&EngineOptions::order, {"fcfs", "priority", "shortest", "fair"})},
      {"precedence", engine_word(&EngineOptions::precedence, {"decode", "prefill"})},
      {"preemption", engine_word(&EngineOptions::preemption, {"recompute", "swap"})},
  };
  return list;
}

tl::unexpected<Diagnostics> unknown_axis(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, setter] : setters()) {
    names.push_back(known);
  }
  const auto meant = did_you_mean(name, names);
  return failure("vary", fmt::format("--vary: '{}' cannot be varied", name), {},
                 meant ? fmt::format("did you mean '{}'?", *meant)
                       : fmt::format("one of {}", fmt::join(names, ", ")));
}

/// Every point with every value of one more option.
Result<std::vector<SweepPoint>> varied(const std::vector<SweepPoint>& points,
                                       const std::string& axis) {
  const std::size_t at = axis.find('=');
  const std::string name = axis.substr(0, at);
  const auto found =
      std::ranges::find(setters(), name, [](const auto& entry) { return entry.first; });
  if (at == std::string::npos || found == setters().end()) {
    return unknown_axis(name);
  }
  std::vector<SweepPoint> result;
  for (const SweepPoint& point : points) {
    std::size_t begin = at + 1;
    while (begin <= axis.size()) {
      const std::size_t end = std::min(axis.find(',', begin), axis.size());
      const std::string value = axis.substr(begin, end - begin);
      SweepPoint next = point;
      if (!found->second(next.options, value)) {
        return failure("vary", fmt::format("--vary: {} does not take '{}'", name, value));
      }
      next.varied.emplace_back(name, value);
      result.push_back(std::move(next));
      begin = end + 1;
    }
  }
  return result;
}

bool is_served(const ServeAnswer& answer) {
  const model::serve::ServiceReport& r = answer.report;
  return r.requests > 0 &&
         static_cast<double>(r.good) >= answer.objectives.share * static_cast<double>(r.requests);
}

/// Searches an option that is a positive number.
class Search {
 public:
  using Set = std::function<void(ServeOptions&, double)>;
  Search(Server& server, const ServeOptions& options, Set set)
      : server_(server), options_(options), set_(std::move(set)) {}

  /// Whether the objectives are met at a value; remembers the answer of the last that did.
  Result<bool> meets(double value) {
    ServeOptions options = options_;
    set_(options, value);
    auto answer = server_.serve(options, {});
    if (!answer) {
      return failure(std::move(answer.error()));
    }
    const bool served = is_served(*answer);
    if (served) {
      best_ = std::move(*answer);
      at_ = value;
    }
    return served;
  }

  [[nodiscard]] const std::optional<ServeAnswer>& best() const { return best_; }
  [[nodiscard]] double at() const { return at_; }

 private:
  Server& server_;
  const ServeOptions& options_;
  Set set_;
  std::optional<ServeAnswer> best_;
  double at_ = 0;
};

/// Halves (low, high) until `done`; `low_is_good` says on which side the objectives are met.
Result<void> bisect(Search& search, double low, double high, bool low_is_good,
                    const std::function<std::optional<double>(double, double)>& middle_of) {
  while (const auto middle = middle_of(low, high)) {
    const auto met = search.meets(*middle);
    if (!met) {
      return failure(met.error());
    }
    (*met == low_is_good ? low : high) = *middle;
  }
  return {};
}

std::optional<double> whole_middle(double low, double high) {
  const double middle = std::floor((low + high) / 2);
  return middle > low && middle < high ? std::optional(middle) : std::nullopt;
}

std::optional<double> ratio_middle(double low, double high) {
  constexpr double kClose = 1.01;
  return high / low > kClose ? std::optional(std::sqrt(low * high)) : std::nullopt;
}

/// Doubles a value until it meets the objectives (or, of `while_good`, until it no longer does).
Result<std::pair<double, double>> bracket(Search& search, double from, double most,
                                          bool while_good) {
  double last = 0;
  for (double value = from; value <= most; value *= 2) {
    const auto met = search.meets(value);
    if (!met) {
      return failure(met.error());
    }
    if (*met != while_good) {
      return std::pair(last, value);
    }
    last = value;
  }
  return std::pair(last, 2 * most);
}

constexpr double kMostReplicas = 4096;

Result<void> search_replicas(Search& search) {
  const auto ends = bracket(search, 1, kMostReplicas, false);
  if (!ends) {
    return failure(ends.error());
  }
  return ends->second > kMostReplicas
             ? Result<void>()
             : bisect(search, ends->first, ends->second, false, whole_middle);
}

Result<void> search_batch(Search& search) {
  constexpr double kMost = 8192;
  const auto ends = bracket(search, 1, kMost, true);
  if (!ends) {
    return failure(ends.error());
  }
  return ends->second > kMost
             ? Result<void>()
             : bisect(search, std::max(ends->first, 1.0), ends->second, true, whole_middle);
}

/// From the rate given down or up, to 1 %.
Result<void> search_rate(Search& search, double from) {
  constexpr double kSteps = 1 << 20;
  auto met = search.meets(from);
  if (!met) {
    return failure(met.error());
  }
  double low = from;
  double high = from;
  while (*met && high < from * kSteps) {
    low = high;
    high *= 2;
    met = search.meets(high);
    if (!met) {
      return failure(met.error());
    }
  }
  while (!*met && low == high && low > from / kSteps) {
    low /= 2;
    high = 2 * low;
    met = search.meets(low);
    if (!met) {
      return failure(met.error());
    }
    if (!*met) {
      high = low;
    }
  }
  return low < high ? bisect(search, low, high, true, ratio_middle) : Result<void>();
}

}  // namespace

Result<std::vector<SweepPoint>> sweep_points(const ServeOptions& options,
                                             const std::vector<std::string>& vary) {
  std::vector<SweepPoint> points{{options, {}}};
  std::vector<std::string> axes = vary;
  if (options.machine.machines.size() > 1) {
    axes.insert(axes.begin(), fmt::format("machine={}", fmt::join(options.machine.machines, ",")));
  }
  for (const std::string& axis : axes) {
    auto next = varied(points, axis);
    if (!next) {
      return failure(std::move(next.error()));
    }
    points = std::move(*next);
  }
  for (const SweepPoint& point : points) {
    if (point.options.machine.machines.empty() && point.options.pools.empty()) {
      return failure("machine", "no machine given", {}, "add --machine NAME or --pool NAME*N");
    }
  }
  return points;
}

Result<ServeAnswer> find_best(Server& server, const ServeOptions& options,
                              const std::string& what) {
  if (options.slo.empty()) {
    return failure("slo", fmt::format("--find {} needs an objective", what), {},
                   "add --slo ttft=1s,tpot=50ms");
  }
  const bool scales = !options.rate && !options.requests.empty() && options.arrivals.empty();
  Search search(server, options, [&](ServeOptions& o, double value) {
    if (what == "gpus") {
      o.replicas = static_cast<std::int64_t>(value);
    } else if (what == "batch") {
      o.engine.max_num_seqs = static_cast<std::int64_t>(value);
    } else if (scales) {
      o.scale = value;
    } else {
      o.rate = value;
    }
  });
  const auto searched =
      what == "gpus"    ? search_replicas(search)
      : what == "batch" ? search_batch(search)
                        : search_rate(search, scales ? options.scale : options.rate.value_or(1));
  if (!searched) {
    return failure(searched.error());
  }
  if (!search.best()) {
    return failure("slo", fmt::format("no {} meets {} for {:g} % of the requests",
                                      what == "gpus"    ? "number of replicas"
                                      : what == "batch" ? "batch size"
                                                        : "rate",
                                      options.slo, 100 * options.slo_share));
  }
  ServeAnswer answer = *search.best();
  answer.varied.emplace_back(what == "gpus"    ? "replicas"
                             : what == "batch" ? "max-num-seqs"
                             : scales          ? "scale-rate"
                                               : "rate",
                             fmt::format("{:.4g}", search.at()));
  return answer;
}

}  // namespace mansard::cli
