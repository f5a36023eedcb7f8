#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/result.hpp"

namespace mansard::cli {

/// A field with the end that is better: "tokens_per_second:max". Without one, rates are better
/// great, all else small.
struct Objective {
  std::string field;
  bool greatest = false;
};

/// Errors: an end other than min and max. `option` is named in them.
[[nodiscard]] Result<Objective> parse_objective(const std::string& option, const std::string& text);
/// Likewise several with commas between.
[[nodiscard]] Result<std::vector<Objective>> parse_objectives(const std::string& option,
                                                              const std::string& text);

/// The points [first, second) of `shard`: "2/4" is the second of four parts, an empty text all.
[[nodiscard]] Result<std::pair<std::uint64_t, std::uint64_t>> part_of(const std::string& shard,
                                                                      std::uint64_t points);

}  // namespace mansard::cli
