#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/dimension.hpp"

/// The units there are. `units.hpp` is what callers use; this is its table.
namespace mansard {

/// What one of a unit is in base units: `factor` * 10^`exponent10`. The power of ten is kept apart
/// so that decimal text is rounded once.
struct UnitScale {
  Dimension dimension;
  int exponent10 = 0;
  long double factor = 1;
};

/// A unit's symbol with its prefix ("TFLOP", "KiB", "us", "clk"), or nothing.
[[nodiscard]] std::optional<UnitScale> find_unit(std::string_view symbol);

/// Every symbol with every prefix that it takes, for suggestions.
[[nodiscard]] const std::vector<std::string>& unit_symbols();

/// Advice on a symbol that people write and that is not one of ours ("TFLOPS": write TFLOP/s), or
/// "".
[[nodiscard]] std::string unit_hint(std::string_view symbol);

enum class PrefixRange { kNone, kLarge, kSmall, kBoth };

/// How values of a dimension are written, and what a person calls it.
struct UnitStyle {
  Dimension dimension;
  std::string_view unit;  ///< What `format_measure` writes.
  PrefixRange prefixes = PrefixRange::kNone;
  std::string_view description;
  std::string_view example;  ///< A unit of usual size, for hints.
  long double per_base = 1;  ///< How many of `unit` one base unit is; powers of ten apart.
};
/// Null for a dimension that has no name of its own.
[[nodiscard]] const UnitStyle* find_style(const Dimension& dimension);

/// The prefix for a power of ten that is a multiple of three in [-12, 18]; 0 has none.
[[nodiscard]] std::string_view decimal_prefix(int exponent10);

}  // namespace mansard
