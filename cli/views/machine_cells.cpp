#include "cli/views/machine_cells.hpp"

#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "cli/views/numbers.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

constexpr int kSheetDigits = 4;
constexpr double kGiga = 1e9;
constexpr Dimension kPerSecond{.second = -1};

bool is_pin_rate(std::string_view path) {
  return path.ends_with(".pin_rate");
}

}  // namespace

std::string capacity(double bytes) {
  constexpr double kLargest = 2048;
  double scaled = bytes;
  for (const char* unit : {"KiB", "MiB", "GiB"}) {
    scaled /= 1024;
    if (scaled >= 1 && scaled < kLargest && std::trunc(scaled) == scaled) {
      return fmt::format("{:.0f} {}", scaled, unit);
    }
  }
  return format_measure(bytes, kByte, kSheetDigits);
}

std::string figure_text(const hardware::Field& field, double value) {
  constexpr double kBits = 8;
  if (is_pin_rate(field.path)) {
    return fmt::format("{:.4g} Gbit/s", value * kBits / kGiga);
  }
  if (field.dimension == kByte) {
    return capacity(value);
  }
  if (field.dimension == kWatt) {
    return fmt::format("{:.4g} W", value);
  }
  if (field.dimension == kPerSecond) {
    return format_measure(value / kGiga, kNumber, kSheetDigits) + " G/s";
  }
  return format_measure(value, field.dimension, field.dimension == kNumber ? 17 : kSheetDigits);
}

Cell figure(const hardware::Machine& machine, std::string_view path) {
  const hardware::Field* field = machine.find(path);
  if (field == nullptr) {
    return Cell::none();
  }
  const auto value = machine.known(path);
  return value ? Cell::number(*value, figure_text(*field, *value)) : Cell::unknown();
}

Cell figure_ratio(const hardware::Machine& machine, std::string_view above,
                  std::string_view below) {
  if (machine.find(above) == nullptr || machine.find(below) == nullptr) {
    return Cell::none();
  }
  const auto a = machine.known(above);
  const auto b = machine.known(below);
  return a && b ? Cell::number(*a / *b, ratio(*a / *b)) : Cell::unknown();
}

}  // namespace mansard::cli
