#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/request.hpp"
#include "support/result.hpp"

/// What real servers were measured to do.
namespace mansard::traces::requests {

/// A measured run: its requests where the file has them, its published figures where it has those.
struct ServedRun {
  std::string format;  ///< "vllm" (per request) or "bench" (a benchmark's result file).
  std::vector<ir::ServedRequest> requests;
  /// "ttft.mean", "tpot.p90": seconds.
  std::map<std::string, double, std::less<>> figures;
  double makespan = 0;  ///< 0: not known. Seconds.
  std::uint64_t failed = 0;
};

/// Reads per-request JSON lines of a vLLM benchmark (queued_ts, first_token_ts, last_token_ts: one
/// clock; arrival_time is of another and is not mixed with them), or the result of `vllm bench
/// serve` (keys in ms, arrays `ttfts`, `itls`, `input_lens`, `output_lens` optional). Errors: no
/// such file, neither form, no request in it.
[[nodiscard]] Result<ServedRun> read_served(const std::string& path);

}  // namespace mansard::traces::requests
