#include "cli/trace/activity_shapes.hpp"

#include <algorithm>

#include "cli/views/json.hpp"

namespace mansard::cli {

std::vector<Shape> shapes_of(const std::string& text) {
  std::vector<Shape> result;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) {
    return result;
  }
  for (const Json& input : json) {
    Shape shape;
    for (const Json& dim : input.is_array() ? input : Json::array()) {
      if (dim.is_number()) {
        shape.push_back(dim.get<double>());
      }
    }
    if (!shape.empty()) {
      result.push_back(std::move(shape));
    }
  }
  return result;
}

double product(const Shape& shape, std::size_t first, std::size_t last) {
  double result = 1;
  for (std::size_t i = first; i < std::min(last, shape.size()); ++i) {
    result *= shape[i];
  }
  return result;
}

std::optional<std::string> torch_dtype(const std::string& types) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"BFloat16", "bf16"}, {"Half", "fp16"},  {"Float8", "fp8"}, {"Double", "fp64"},
      {"double", "fp64"},   {"Float", "fp32"}, {"float", "fp32"}, {"Long", "int64"},
      {"long", "int64"},    {"Int", "int32"},  {"int", "int32"},  {"Byte", "int8"},
      {"Char", "int8"},     {"uint8", "int8"}};
  for (const auto& [part, dtype] : kTypes) {
    if (types.find(part) != std::string::npos) {
      return std::string(dtype);
    }
  }
  return std::nullopt;
}

}  // namespace mansard::cli
