#include "model/serve/comparison.hpp"

#include <array>

#include <fmt/format.h>

namespace mansard::model::serve {
namespace {

struct Statistic {
  std::string_view name;
  double quantile = -1;  ///< Negative: the mean.

  [[nodiscard]] double of(const Distribution& distribution) const {
    return quantile < 0 ? distribution.mean() : distribution.quantile(quantile);
  }
};

constexpr std::array<Statistic, 5> kStatistics{
    {{"mean", -1}, {"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}}};

class Comparer {
 public:
  explicit Comparer(const std::map<std::string, double, std::less<>>& figures)
      : figures_(figures) {}

  void add(const std::string& metric, const Distribution& simulated, const Distribution& measured) {
    for (const Statistic& statistic : kStatistics) {
      const auto given = figures_.find(fmt::format("{}.{}", metric, statistic.name));
      const double value = given != figures_.end() ? given->second : statistic.of(measured);
      if (value > 0) {
        result.figures.push_back(
            {metric, std::string(statistic.name), statistic.of(simulated), value});
      }
    }
  }

  RunComparison result;

 private:
  const std::map<std::string, double, std::less<>>& figures_;
};

}  // namespace

RunComparison compare_runs(const ServiceReport& report, std::span<const ir::ServedRequest> requests,
                           const std::map<std::string, double, std::less<>>& figures,
                           double makespan) {
  Distribution ttft;
  Distribution tpot;
  Distribution latency;
  double tokens = 0;
  for (const ir::ServedRequest& request : requests) {
    if (request.ttft) {
      ttft.add(*request.ttft);
    }
    if (request.tpot) {
      tpot.add(*request.tpot);
    }
    if (request.latency) {
      latency.add(*request.latency);
    }
    tokens += request.output_tokens;
  }
  Comparer comparer(figures);
  comparer.result.measured_requests = requests.size();
  comparer.add("ttft", report.ttft, ttft);
  comparer.add("tpot", report.tpot, tpot);
  comparer.add("latency", report.latency, latency);
  if (makespan > 0 && tokens > 0) {
    comparer.result.figures.push_back(
        {"output_tokens_per_second", "", report.output_tokens_per_second(), tokens / makespan});
  }
  return std::move(comparer.result);
}

}  // namespace mansard::model::serve
