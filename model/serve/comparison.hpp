#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/request.hpp"
#include "model/serve/service.hpp"

namespace mansard::model::serve {

/// One figure, simulated and measured; seconds or tokens a second.
struct ComparedFigure {
  std::string metric;     ///< "ttft", "tpot", "latency", "output_tokens_per_second".
  std::string statistic;  ///< "mean", "p50", "p90", "p95", "p99"; "" of a rate.
  double simulated = 0;
  double measured = 0;
  [[nodiscard]] double error() const { return simulated / measured - 1; }
};

struct RunComparison {
  std::uint64_t measured_requests = 0;
  std::vector<ComparedFigure> figures;
};

/// `figures` ("ttft.mean", seconds) come before what follows from `requests`.
[[nodiscard]] RunComparison compare_runs(const ServiceReport& report,
                                         std::span<const ir::ServedRequest> requests,
                                         const std::map<std::string, double, std::less<>>& figures,
                                         double makespan);

}  // namespace mansard::model::serve
