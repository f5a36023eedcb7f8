#pragma once

#include <optional>

#include <nlohmann/json.hpp>

/// JSON as every view writes it: keys in the order given, two spaces, a line feed at the end.
namespace mansard::cli {

using Json = nlohmann::ordered_json;

/// Whole numbers become integers, whatever their size up to 2^63.
[[nodiscard]] Json json_number(double value);
template <typename T>
[[nodiscard]] Json json_optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
[[nodiscard]] std::string json_text(const Json& json);

}  // namespace mansard::cli
