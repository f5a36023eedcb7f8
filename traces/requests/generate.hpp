#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ir/request.hpp"
#include "support/result.hpp"

/// Made requests: arrivals of a process, lengths of a distribution, the same for a seed everywhere.
namespace mansard::traces::requests {

/// How many tokens: always as many, or drawn.
struct Lengths {
  enum class Kind : std::uint8_t { kFixed, kUniform, kLognormal };
  Kind kind = Kind::kFixed;
  double mean = 512;
  double deviation = 0;  ///< kLognormal: of the logarithm.
  double least = 1;      ///< kUniform; lognormal lengths are cut to [1, most] too.
  double most = 1 << 20;
};

/// "512", "uniform:100..900", "lognormal:MEAN,SIGMA" (SIGMA of the logarithm), or "sharegpt" with
/// the mean lengths of that data set (161 in, 338 out: Kwon et al. 2023, section 6.1) and a
/// deviation of the logarithm of 1 (assumed). Errors: anything else, with its place.
[[nodiscard]] Result<Lengths> parse_lengths(std::string_view text, bool output);

struct Arrivals {
  enum class Kind : std::uint8_t { kPoisson, kGamma, kConstant, kClosed };
  Kind kind = Kind::kPoisson;
  double rate = 1;          ///< Requests a second; infinite: all at once.
  double shape = 1;         ///< kGamma: below 1 comes in bursts (vLLM calls it burstiness).
  std::uint32_t users = 1;  ///< kClosed: each sends its next request once it has its answer
  double think_time = 0;    ///< and after this many seconds.
};

struct Workload {
  Arrivals arrivals;
  Lengths input, output;
  std::uint64_t requests = 1000;
  std::uint64_t seed = 0;
};

/// Requests of a workload, one at a time.
[[nodiscard]] std::unique_ptr<ir::RequestSource> generate(const Workload& workload);

/// The requests of `source` with arrivals of a process instead of their own (their order stays);
/// a closed loop takes them one by one. At most `requests` of them.
[[nodiscard]] std::unique_ptr<ir::RequestSource> with_arrivals(
    std::unique_ptr<ir::RequestSource> source, const Workload& workload);

/// The same requests, `scale` times as many a second. At most `requests` of them.
[[nodiscard]] std::unique_ptr<ir::RequestSource> scaled(std::unique_ptr<ir::RequestSource> source,
                                                        double scale, std::uint64_t requests);

}  // namespace mansard::traces::requests
