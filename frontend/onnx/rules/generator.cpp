#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

/// A tensor made of nothing: written only.
void fill(Node& node, int type, Shape shape, double special) {
  const ValueId output = node.set(0, type, shape);
  const Expr count = elements(node.pool(), shape);
  if (node.inputs() == 0 || !node.has(0)) {
    const ValueId seed = node.between(type, Shape{});
    node.emit_many(
        "elementwise", {seed}, output,
        {{"n", count}, {"i", node.number(0)}, {"a", node.number(1)}, {"s", node.number(special)}},
        {{"function", node.type()}});
    return;
  }
  node.emit_many(
      "elementwise", {node.id(0)}, output,
      {{"n", count}, {"i", node.number(0)}, {"a", node.number(1)}, {"s", node.number(special)}},
      {{"function", node.type()}});
}

void random(Node& node) {
  Shape shape;
  for (const std::int64_t dim : node.list("shape")) {
    if (dim < 0) {
      node.error("onnx-attribute", fmt::format("shape has extent {}", dim));
      return;
    }
    shape.push_back(node.number(static_cast<double>(dim)));
  }
  fill(node, static_cast<int>(node.integer("dtype", pb::TensorProto::FLOAT)), shape, 2);
}

void random_like(Node& node) {
  if (needs_inputs(node, 1)) {
    fill(node, static_cast<int>(node.integer("dtype", node.in(0).type)), node.shape(0), 2);
  }
}

void bernoulli(Node& node) {
  if (needs_inputs(node, 1)) {
    elementwise(node, {0}, static_cast<int>(node.integer("dtype", node.in(0).type)),
                {1, 1, "bernoulli"});
  }
}

void multinomial(Node& node) {
  if (!needs_inputs(node, 1) || node.rank(0) != 2) {
    return;
  }
  const double samples =
      static_cast<double>(std::max<std::int64_t>(node.integer("sample_size", 1), 1));
  const ValueId output =
      node.set(0, static_cast<int>(node.integer("dtype", pb::TensorProto::INT32)),
               Shape{node.shape(0)[0], node.number(samples)});
  node.emit(
      {.kind = "top_k",
       .dims = {{"r", node.shape(0)[0]}, {"c", node.shape(0)[1]}, {"k", node.number(samples)}},
       .operands = {{"x", node.id(0)}, {"o", output}}});
}

void eye_like(Node& node) {
  if (needs_inputs(node, 1)) {
    fill(node, static_cast<int>(node.integer("dtype", node.in(0).type)), node.shape(0), 0);
  }
}

Expr one_number(Node& node, std::size_t input, const char* what) {
  return number_or_unknown(node, input, what,
                           fmt::format("an extent of {} '{}'", node.type(), node.name()));
}

void window(Node& node) {
  if (needs_inputs(node, 1)) {
    fill(node, static_cast<int>(node.integer("output_datatype", pb::TensorProto::FLOAT)),
         Shape{one_number(node, 0, ".0")}, 1);
  }
}

/// A transform of length n by the fast algorithm: 5 n log2 n real operations (Cooley and Tukey
/// 1965); the logarithm is that of the next power of two.
Expr transform_cost(const Node& node, Expr length) {
  const Expr next = ir::max(length, 2);
  return next.is_constant() ? node.number(5 * std::ceil(std::log2(next.constant())))
                            : 5 * (ir::exponent2(next) + 1);
}

void dft(Node& node) {
  if (!needs_inputs(node, 1) || node.rank(0) < 2) {
    return;
  }
  std::int64_t given = node.integer("axis", node.opset() >= 20 ? -2 : 1);
  if (const auto input = node.integers(2); input && input->size() == 1) {
    given = input->front();
  }
  const auto axis = node.axis(given, node.rank(0));
  if (!axis) {
    return;
  }
  Shape shape = node.shape(0);
  if (const auto length = node.content(1); length && length->size() == 1) {
    shape[*axis] = length->front();
  }
  const Expr cost = transform_cost(node, shape[*axis]);
  if (node.integer("onesided", 0) != 0) {
    shape[*axis] = canonical(ir::floor_div(shape[*axis], 2) + 1);
  }
  shape.back() = node.number(2);
  const ValueId output = node.set(0, node.in(0).type, shape);
  node.emit_many("elementwise", {node.id(0)}, output,
                 {{"n", elements(node.pool(), shape)}, {"a", cost}}, {{"function", "dft"}});
}

void stft(Node& node) {
  if (!needs_inputs(node, 2) || node.rank(0) < 2) {
    return;
  }
  const Expr step = one_number(node, 1, ".step");
  Expr frame;
  if (node.has(3)) {
    frame = one_number(node, 3, ".frame");
  } else if (node.has(2) && node.rank(2) == 1) {
    frame = node.shape(2)[0];
  } else {
    frame = node.unknown(".frame", fmt::format("frame of STFT '{}'", node.name()));
  }
  const Expr frames = canonical(ir::floor_div(node.shape(0)[1] - frame, step) + 1);
  const bool one_sided = node.integer("onesided", 1) != 0;
  const Expr bins = one_sided ? canonical(ir::floor_div(frame, 2) + 1) : frame;
  const Shape shape{node.shape(0)[0], frames, bins, node.number(2)};
  const ValueId output = node.set(0, node.in(0).type, shape);
  node.emit_many("elementwise", {node.id(0)}, output,
                 {{"n", elements(node.pool(), shape)}, {"a", transform_cost(node, frame)}},
                 {{"function", "stft"}});
}

void mel_weights(Node& node) {
  if (needs_inputs(node, 2)) {
    const Expr bins = one_number(node, 0, ".bins");
    const Expr length = one_number(node, 1, ".length");
    fill(node, static_cast<int>(node.integer("output_datatype", pb::TensorProto::FLOAT)),
         Shape{canonical(ir::floor_div(length, 2) + 1), bins}, 1);
  }
}

/// Real to complex over the last `signal_ndim` extents, or back.
void real_transform(Node& node) {
  const auto axes =
      static_cast<std::size_t>(std::max<std::int64_t>(node.integer("signal_ndim", 1), 1));
  const bool inverse = node.type() == "Irfft";
  if (!needs_inputs(node, 1)) {
    return;
  }
  Shape shape = node.shape(0);
  if (shape.size() < axes + (inverse ? 1 : 0)) {
    node.error("onnx-rank",
               fmt::format("transforms {} extents of a tensor of rank {}", axes, shape.size()));
    return;
  }
  if (inverse) {
    shape.pop_back();
  }
  const bool one_sided = node.integer("onesided", 1) != 0;
  if (one_sided) {
    shape.back() =
        inverse ? canonical((shape.back() - 1) * 2) : canonical(ir::floor_div(shape.back(), 2) + 1);
  }
  Expr cost = node.number(0);
  for (std::size_t i = shape.size() - axes; i < shape.size(); ++i) {
    cost = sum(cost, transform_cost(node, shape[i]));
  }
  if (!inverse) {
    shape.push_back(node.number(2));
  }
  const ValueId output = node.set(0, node.in(0).type, shape);
  node.emit_many("elementwise", {node.id(0)}, output,
                 {{"n", elements(node.pool(), shape)}, {"a", cost}}, {{"function", node.type()}});
}

constexpr std::array kRules = {
    RuleEntry{"Bernoulli", bernoulli, false, true},
    RuleEntry{"BlackmanWindow", window},
    RuleEntry{"DFT", dft},
    RuleEntry{"EyeLike", eye_like},
    RuleEntry{"HammingWindow", window},
    RuleEntry{"HannWindow", window},
    RuleEntry{"MelWeightMatrix", mel_weights},
    RuleEntry{"Multinomial", multinomial, false, true},
    RuleEntry{"RandomNormal", random, false, true},
    RuleEntry{"RandomNormalLike", random_like, false, true},
    RuleEntry{"RandomUniform", random, false, true},
    RuleEntry{"RandomUniformLike", random_like, false, true},
    RuleEntry{"STFT", stft},
    RuleEntry{"com.microsoft.Irfft", real_transform},
    RuleEntry{"com.microsoft.Rfft", real_transform},
};

}  // namespace

std::span<const RuleEntry> generator_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
