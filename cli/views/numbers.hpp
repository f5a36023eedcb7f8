#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/dimension.hpp"

/// Numbers as tables show them: three significant digits, zeros kept, so that columns line up.
namespace mansard::cli {

/// "4.80 TB/s", "35.2 us", "141 GB".
[[nodiscard]] std::string measure(double base_units, const Dimension& dimension);
[[nodiscard]] std::string seconds(double value);
[[nodiscard]] std::string bytes(double value);  ///< "-" for none.
[[nodiscard]] std::string flops(
    double value);  ///< With the prefix but without the unit: "805 M"; "-" for none.
/// A plain number, three significant digits and no exponent below a million: "0.0412", "16.0",
/// "1340".
[[nodiscard]] std::string ratio(double value);
[[nodiscard]] std::string percent(double fraction);  ///< "23.4 %".
/// A whole number with its thousands apart: "8,030,261,248".
[[nodiscard]] std::string grouped(double value);
/// A time in microseconds without its unit: "0.851", "14.4", "1234".
[[nodiscard]] std::string microseconds(double value);

/// At most `columns` characters of a name: long words shortened first, then its middle left out.
[[nodiscard]] std::string abbreviated(std::string_view name, std::size_t columns);

}  // namespace mansard::cli
