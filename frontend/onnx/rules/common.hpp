#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/onnx/importer.hpp"

/// What rules share.
namespace mansard::frontend::onnx {

using Content = std::optional<std::vector<Expr>>;

/// What an elementwise op costs per output.
struct Cost {
  double arithmetic = 1;
  double special = 0;
  std::string_view function;
};

/// Output `output` = f(inputs), broadcast together. Emits nothing where `content` is known: that is
/// arithmetic on shapes.
ValueId elementwise(Node& node, const std::vector<std::size_t>& inputs, int type, const Cost& cost,
                    Content content = std::nullopt, std::size_t output = 0);

/// The shape that inputs broadcast to; an error of the node if they do not.
[[nodiscard]] std::optional<Shape> broadcast_inputs(Node& node,
                                                    const std::vector<std::size_t>& inputs);

/// An op whose only input and output are whole tensors.
void emit_elementwise(const Node& node, const std::vector<ValueId>& values, ValueId output,
                      const Cost& cost, const std::string& suffix = {});

[[nodiscard]] inline bool is_integer(int type) {
  return type == pb::TensorProto::INT64 || type == pb::TensorProto::INT32;
}

/// Adds a bias to what wrote `value`, if that is a matmul without one; false if it is not.
bool add_bias_to_matmul(Node& node, ValueId value, ValueId bias);

/// Says that input `i`, a packed constant, is really a tensor of `dims` with `bits` bits an element
/// and a scale for each `block` elements along a row.
void repack(Node& node, std::size_t i, const std::vector<std::int64_t>& dims, std::int64_t bits,
            std::int64_t block);

/// All inputs that are there, in order.
[[nodiscard]] std::vector<ValueId> present_inputs(const Node& node);

/// The one number of an input, or a symbol of its own that `--set` binds.
[[nodiscard]] Expr number_or_unknown(const Node& node, std::size_t input, const std::string& what,
                                     const std::string& meaning);

/// Whether inputs 0 to `least` - 1 are there; an error of the node if not.
bool needs_inputs(Node& node, std::size_t least);

/// A matmul of two values as ONNX multiplies them (numpy's rules): c = a b, with leading extents
/// broadcast. `weights`: the second is of that many bits per element where it is packed.
struct Matmul {
  ValueId a;
  ValueId b;
  Shape a_shape;
  Shape b_shape;
  std::optional<ValueId> bias = std::nullopt;
  std::string suffix = {};
};
/// The shape of the product; absent after an error.
[[nodiscard]] std::optional<Shape> matmul_shape(Node& node, const Shape& a, const Shape& b);
void emit_matmul(const Node& node, const Matmul& matmul, ValueId output);

}  // namespace mansard::frontend::onnx
