#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/onnx/shape.hpp"
#include "ir/graph.hpp"

namespace mansard::frontend::onnx {

/// A tensor that stands in the file with its data, or that a Constant node makes.
struct Root {
  std::string name;
  int type = 0;
  std::vector<std::int64_t> dims;
  const ir::Dtype* dtype = nullptr;  ///< How it is packed, where that is not its type.
  bool is_initializer = false;
  bool counts = false;                 ///< As parameters, although its type is no float.
  std::optional<ir::TensorId> tensor;  ///< In the graph, once an op reads it.
};

/// What is known of a value before the graph runs. `content` are the elements of a small tensor of
/// numbers, some perhaps absent; shapes are computed with them.
struct Value {
  std::string name;
  int type = 0;                ///< TensorProto::DataType; 0: not known.
  std::optional<Shape> shape;  ///< Absent: not even the rank is known.
  std::optional<std::vector<Expr>> content;
  bool is_constant = false;            ///< Does not depend on inputs: folded when loaded.
  std::optional<std::size_t> root;     ///< Of constants: the tensor it is made from.
  std::optional<ir::TensorId> tensor;  ///< In the graph, if an op made it or reads it.
  bool is_sequence = false;
  bool is_input = false;
};

using ValueId = std::size_t;

}  // namespace mansard::frontend::onnx
