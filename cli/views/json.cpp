#include "cli/views/json.hpp"

#include <cmath>
#include <cstdint>

namespace mansard::cli {

Json json_number(double value) {
  constexpr double kLimit = 0x1p63;
  if (std::trunc(value) == value && std::abs(value) < kLimit) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mansard::cli
