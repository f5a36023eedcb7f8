#pragma once

#include <optional>
#include <string>
#include <vector>

/// Shapes and types as PyTorch's profiler records them.
namespace mansard::cli {

using Shape = std::vector<double>;

/// The dims of the inputs that have any, of "[[16,4096],[],[4096,4096]]".
[[nodiscard]] std::vector<Shape> shapes_of(const std::string& text);

/// Of the dims in [first, last); 1 of none.
[[nodiscard]] double product(const Shape& shape, std::size_t first, std::size_t last);

/// The first floating-point type that is named: "c10::BFloat16" is "bf16"; integers by their width
/// ("Long": "int64"). nullopt: no type that we know.
[[nodiscard]] std::optional<std::string> torch_dtype(const std::string& types);

}  // namespace mansard::cli
