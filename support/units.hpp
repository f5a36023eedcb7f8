#pragma once

#include <string>
#include <string_view>

#include "support/dimension.hpp"
#include "support/quantity.hpp"
#include "support/result.hpp"

/// Text units, both ways: "4.8 TB/s", "141 GB", "60 MiB", "989.4 TFLOP/s", "35 us", "700 W", "1980
/// MHz", "128 B/clk", "29 clk", "2.5 USD/h", "0.8 pJ/FLOP", "16/clk". Decimal prefixes are SI (GB =
/// 1e9 byte); Ki, Mi, Gi, Ti are binary and go with bytes only. OP counts as FLOP ("TOP/s").
namespace mansard {

struct Measure {
  double value = 0;  ///< In SI base units.
  Dimension dimension;
};

/// Reads a number with its unit. Errors: unknown unit (with did-you-mean), missing unit, trailing
/// text, non-finite.
[[nodiscard]] Result<Measure> parse_measure(std::string_view text, const Location& location = {});

/// As above; a unit of another dimension is an error that names both ("expected a rate, found an
/// amount of work").
[[nodiscard]] Result<double> parse_measure(std::string_view text, const Dimension& expected,
                                           const Location& location = {});

/// A change to a value, as `--set` and overlays write it: "8 TB/s" replaces, "*1.4" scales, "+1
/// TB/s" and "-1 TB/s" add.
struct Adjustment {
  enum class Kind { kReplace, kScale, kAdd };
  Kind kind = Kind::kReplace;
  double value = 0;
  [[nodiscard]] double apply(double old) const;
};
[[nodiscard]] Result<Adjustment> parse_adjustment(std::string_view text, const Dimension& expected,
                                                  const Location& location = {});

/// A value with the prefix that reads best and `digits` significant digits: "4.8 TB/s", "35.2 us",
/// "141 GB".
[[nodiscard]] std::string format_measure(double base_units, const Dimension& dimension,
                                         int digits = 3);
template <Dimension D>
[[nodiscard]] std::string format_measure(Quantity<D> quantity, int digits = 3) {
  return format_measure(quantity.value(), D, digits);
}

/// What a person calls a dimension: "a rate of work", "a bandwidth", "a time", "an amount of data".
[[nodiscard]] std::string describe(const Dimension& dimension);

/// The unit in base units: "FLOP/s", "B", "s", "" for a number. `parse_measure("1 " + unit_of(d))`
/// gives 1 again.
[[nodiscard]] std::string unit_of(const Dimension& dimension);

}  // namespace mansard
