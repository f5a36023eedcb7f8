#include "frontend/hf/build/builder.hpp"

#include <algorithm>
#include <cassert>

namespace mansard::frontend::hf {

using ir::Expr;
using ir::TensorId;

Builder::Builder(const Architecture& architecture, Phase phase)
    : architecture_(&architecture), phase_(phase) {
  batch_ = graph_.pool().symbol("batch");
  q_len_ = graph_.pool().symbol("q_len");
  context_ = graph_.pool().symbol("context");
}

void Builder::open_block(const std::string& name, std::int64_t count, bool prefixed) {
  block_ = graph_.add_block(name, count);
  prefix_ = prefixed ? name + "." : "";
}

Expr Builder::number(std::int64_t value) {
  return graph_.pool().constant(static_cast<double>(value));
}

TensorId Builder::tensor(const std::string& name, ir::Role role, std::vector<Expr> shape,
                         const ir::Dtype* dtype) {
  return graph_.add_tensor({.name = prefix_ + name,
                            .role = role,
                            .dtype = dtype,
                            .shape = std::move(shape),
                            .block = block_});
}

TensorId Builder::activation(const std::string& name, std::vector<Expr> shape) {
  return tensor(name, ir::Role::kActivation, std::move(shape), architecture_->activations);
}

TensorId Builder::weight(const std::string& name, const std::vector<std::int64_t>& shape,
                         const ir::Dtype* dtype) {
  std::vector<Expr> extents;
  extents.reserve(shape.size());
  for (const std::int64_t extent : shape) {
    extents.push_back(number(extent));
  }
  return tensor(name, ir::Role::kWeight, std::move(extents),
                dtype != nullptr ? dtype : architecture_->weights);
}

void Builder::op(OpSpec spec) {
  const ir::OpDef* def = ir::find_op(spec.kind);
  assert(def != nullptr);
  ir::Op op = {.name = prefix_ + spec.name,
               .def = def,
               .block = block_,
               .operands = std::vector<std::optional<TensorId>>(def->operands.size()),
               .split = spec.split};
  for (auto& [name, value] : spec.dims) {
    op.dims.emplace(name, value);
  }
  for (const auto& [name, operand] : spec.operands) {
    const auto place = std::ranges::find(def->operands, name, &ir::OperandDef::name);
    assert(place != def->operands.end());
    op.operands[static_cast<std::size_t>(place - def->operands.begin())] = operand;
  }
  for (auto& [name, value] : spec.attributes) {
    op.attributes.emplace(name, std::move(value));
  }
  graph_.add_op(std::move(op));
}

const WeightFormats& Builder::formats(WeightRole role) const {
  return role == WeightRole::kHead || layer_ == nullptr ? architecture_->formats : layer_->formats;
}

void Builder::narrow_input(WeightRole role) {
  const ir::Dtype* type = formats(role).input(role);
  if (type != nullptr) {
    narrow_.emplace_back(graph_.ops().size() - 1, type);
  }
}

void Builder::matmul_into(const MatmulSpec& spec, TensorId output) {
  const std::vector<std::int64_t> shape = spec.copies == 1
                                              ? std::vector{spec.in, spec.out}
                                              : std::vector{spec.copies, spec.in, spec.out};
  add_matmul(spec, weight(spec.name + ".weight", shape, formats(spec.role).weight(spec.role)),
             output);
}

TensorId Builder::matmul_with(const MatmulSpec& spec, TensorId weight) {
  const TensorId output = matmul_output(spec);
  add_matmul(spec, weight, output);
  return output;
}

void Builder::add_matmul(const MatmulSpec& spec, TensorId weight, TensorId output) {
  OpSpec op = {.kind = "matmul",
               .name = spec.name,
               .dims = {{"b", number(spec.copies)},
                        {"m", spec.rows},
                        {"n", number(spec.out)},
                        {"k", number(spec.in)},
                        {"bias", number(spec.bias > 0 ? 1 : 0)}},
               .operands = {{"a", spec.input}, {"w", weight}, {"c", output}},
               .split = spec.split};
  if (spec.bias > 0) {
    op.operands.emplace_back("bias", this->weight(spec.name + ".bias", {spec.bias}));
  }
  this->op(std::move(op));
  narrow_input(spec.role);
}

TensorId Builder::matmul_output(const MatmulSpec& spec) {
  std::vector<Expr> shape = {spec.rows, number(spec.out)};
  if (spec.copies != 1) {
    shape.insert(shape.begin(), number(spec.copies));
  }
  return activation(spec.name + ".out", std::move(shape));
}

TensorId Builder::matmul(const MatmulSpec& spec) {
  const TensorId output = matmul_output(spec);
  matmul_into(spec, output);
  return output;
}

TensorId Builder::elementwise(const ElementwiseSpec& spec) {
  Expr written = number(1);
  for (const Expr extent : spec.shape) {
    written = written * extent;
  }
  const TensorId output = activation(spec.name + ".out", spec.shape);
  OpSpec op = {.kind = "elementwise",
               .name = spec.name,
               .dims = {{"n", written},
                        {"i", spec.read},
                        {"a", number(spec.arithmetic)},
                        {"s", number(spec.special)}},
               .operands = {{"x", spec.inputs.front()}, {"o", output}},
               .split = spec.split,
               .attributes = {{"function", spec.function}}};
  if (spec.inputs.size() > 1) {
    op.operands.emplace_back("y", spec.inputs[1]);
  }
  this->op(std::move(op));
  return output;
}

TensorId Builder::norm(const NormSpec& spec) {
  const TensorId output = activation(spec.name + ".out", {spec.rows, number(spec.columns)});
  norm_into(spec, output);
  return output;
}

void Builder::norm_into(const NormSpec& spec, TensorId output) {
  add_norm(architecture_->norm, spec, output);
}

void Builder::layer_norm_into(const NormSpec& spec, TensorId output) {
  add_norm({.layer = true, .gain = true, .bias = true}, spec, output);
}

void Builder::add_norm(const Norm& kind, const NormSpec& spec, TensorId output) {
  const bool gain = spec.gains > 0 && kind.gain;
  const bool bias = gain && kind.bias && spec.may_bias;
  OpSpec op = {.kind = "norm",
               .name = spec.name,
               .dims = {{"r", spec.rows},
                        {"c", number(spec.columns)},
                        // Square, sum and scale; LayerNorm also sums for the mean and subtracts it.
                        {"a", number(kind.layer ? 5 : 3)},
                        {"residual", number(spec.residual ? 1 : 0)},
                        {"bias", number(bias ? 1 : 0)},
                        {"w", number(gain ? 1 : 0)}},
               .operands = {{"x", spec.input}, {"o", output}},
               .split = spec.split,
               .attributes = {{"norm", kind.layer ? "layernorm" : "rmsnorm"}}};
  if (gain) {
    op.operands.emplace_back("gain", weight(spec.name + ".gain", {spec.gains}));
  }
  if (bias) {
    op.operands.emplace_back("bias", weight(spec.name + ".bias", {spec.gains}));
  }
  if (spec.residual) {
    op.operands.emplace_back("residual", residual_);
  }
  this->op(std::move(op));
}

TensorId Builder::convolution(const ConvolutionSpec& spec) {
  const Expr channels = number(spec.channels);
  const TensorId output = activation(spec.name + ".out", {tokens(), channels});
  const TensorId state = tensor(spec.name + ".state", ir::Role::kState,
                                {batch_, channels, number(spec.taps - 1)}, architecture_->kv);
  OpSpec op = {.kind = "convolution",
               .name = spec.name,
               .dims = {{"b", batch_},
                        {"n", channels},
                        {"k", number(spec.taps)},
                        {"o", q_len_},
                        {"i", channels * q_len_},
                        {"bias", number(spec.bias ? 1 : 0)}},
               .operands = {{"x", spec.input},
                            {"w", weight(spec.name + ".weight", {spec.channels, spec.taps})},
                            {"o", output},
                            {"state", state}},
               .split = ir::Split::kHeads};
  if (spec.bias) {
    op.operands.emplace_back("bias", weight(spec.name + ".bias", {spec.channels}));
  }
  this->op(std::move(op));
  return output;
}

void Builder::make_stream() {
  stream_ = activation("stream", {tokens(), number(hidden())});
  residual_ = activation("residual", {tokens(), number(hidden())});
}

}  // namespace mansard::frontend::hf
