#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// Decimal numbers as integers, without passing through double: at 1.7e15 microseconds a double
/// has steps of 0.25.
namespace mansard::traces {

/// A decimal number of units, as thousandths of them, rounded half away from zero: microseconds to
/// nanoseconds ("4458676522690.655", "1.7e9", "-3"). nullopt: not a number, or beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> parse_thousandths(std::string_view text);

/// A whole number: "2560", "-1"; also hexadecimal ("0x10") and a decimal without a fraction that
/// counts ("7.0").
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);

}  // namespace mansard::traces
