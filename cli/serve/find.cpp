#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "cli/serve/search.hpp"

namespace mansard::cli {
namespace {

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

/// Doubles a value until it meets the objectives; the last that did not, and the first that did.
Result<std::pair<double, double>> bracket(Search& search, double most) {
  double last = 0;
  for (double value = 1; value <= most; value *= 2) {
    const auto met = search.meets(value);
    if (!met) {
      return failure(met.error());
    }
    if (*met) {
      return std::pair(last, value);
    }
    last = value;
  }
  return std::pair(last, 2 * most);
}

constexpr double kMostReplicas = 4096;

Result<void> search_replicas(Search& search) {
  const auto ends = bracket(search, kMostReplicas);
  if (!ends) {
    return failure(ends.error());
  }
  return ends->second > kMostReplicas
             ? Result<void>()
             : bisect(search, ends->first, ends->second, false, whole_middle);
}

/// The greatest power of two that meets the objectives, then halfway to the next: a batch may be
/// too small for them (requests queue) as well as too large (tokens are late).
Result<void> search_batch(Search& search) {
  constexpr double kMost = 8192;
  for (double value = kMost; value >= 1; value /= 2) {
    const auto met = search.meets(value);
    if (!met) {
      return failure(met.error());
    }
    if (*met) {
      return value == kMost ? Result<void>() : bisect(search, value, 2 * value, true, whole_middle);
    }
  }
  return {};
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
