#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"
#include "frontend/onnx/rules/windows.hpp"

namespace mansard::frontend::onnx {
namespace {

/// Which inputs a convolution's parts are, and the type of its result.
struct Parts {
  std::size_t x = 0;
  std::size_t w = 1;
  std::optional<std::size_t> bias;
  int type = 0;
  bool channels_last = false;
};

/// A convolution's extents.
struct Shapes {
  Expr samples;
  Expr channels;
  Shape spatial;
  std::int64_t groups = 1;
  Windows windows;
};

std::optional<std::int64_t> constant(Expr e) {
  return e.is_constant() ? std::optional(static_cast<std::int64_t>(e.constant())) : std::nullopt;
}

std::optional<Shapes> shapes_of(Node& node, const Parts& parts) {
  const Shape& x = node.shape(parts.x);
  const Shape& w = node.shape(parts.w);
  if (x.size() < 3 || w.size() != x.size()) {
    node.error("onnx-rank", fmt::format("convolves a tensor of rank {} with weights of rank {}",
                                        x.size(), w.size()));
    return std::nullopt;
  }
  Shapes s{.samples = x[0], .channels = parts.channels_last ? x.back() : x[1]};
  const auto first = x.begin() + (parts.channels_last ? 1 : 2);
  s.spatial.assign(first, parts.channels_last ? x.end() - 1 : x.end());
  s.groups = node.integer("group", 1);
  if (s.groups < 1) {
    node.error("onnx-attribute", fmt::format("{} groups, expected at least 1", s.groups));
    return std::nullopt;
  }
  std::vector<std::int64_t> kernel;
  for (std::size_t i = 2; i < w.size(); ++i) {
    const auto size = constant(w[i]);
    if (!size) {
      kernel = node.list("kernel_shape");
      break;
    }
    kernel.push_back(*size);
  }
  auto windows = windows_of(node, std::move(kernel), s.spatial.size());
  if (!windows) {
    return std::nullopt;
  }
  s.windows = std::move(*windows);
  return s;
}

/// Facts that the estimate needs and that no count does.
std::vector<std::pair<std::string_view, std::string>> facts(const Shapes& s,
                                                            const char* direction) {
  return {{"groups", std::to_string(s.groups)},
          {"taps", fmt::format("{}", s.windows.taps())},
          {"direction", direction}};
}

void convolve(Node& node, const Parts& parts) {
  const auto s = shapes_of(node, parts);
  if (!s) {
    return;
  }
  const Shape& w = node.shape(parts.w);
  const Expr grouped = product(w[1], node.number(static_cast<double>(s->groups)));
  const bool fits = !grouped.is_constant() || !s->channels.is_constant() || grouped == s->channels;
  const auto outputs = constant(w[0]);
  if (!fits || (outputs && *outputs % s->groups != 0)) {
    node.error("onnx-shape",
               fmt::format("{} groups do not divide channels: weights take {} of them, the input "
                           "has {}",
                           s->groups, grouped.is_constant() ? grouped.constant() : 0,
                           s->channels.is_constant() ? s->channels.constant() : 0));
    return;
  }
  const Shape places = positions(node, s->windows, s->spatial);
  Shape shape{s->samples};
  if (!parts.channels_last) {
    shape.push_back(w[0]);
  }
  shape.insert(shape.end(), places.begin(), places.end());
  if (parts.channels_last) {
    shape.push_back(w[0]);
  }
  const ValueId output = node.set(0, parts.type, std::move(shape));
  OpSpec spec{.kind = "convolution",
              .dims = {{"b", s->samples},
                       {"n", w[0]},
                       {"k", product(w[1], node.number(s->windows.taps()))},
                       {"o", elements(node.pool(), places)},
                       {"i", product(s->channels, elements(node.pool(), s->spatial))}},
              .operands = {{"x", node.id(parts.x)}, {"w", node.id(parts.w), true}, {"o", output}},
              .attributes = facts(*s, "forward")};
  if (parts.bias && node.has(*parts.bias)) {
    spec.dims.emplace_back("bias", node.number(1));
    spec.operands.push_back({"bias", node.id(*parts.bias), true});
  }
  node.emit(std::move(spec));
}

void conv(Node& node) {
  if (needs_inputs(node, 2)) {
    convolve(node, {.bias = 2, .type = node.in(0).type});
  }
}

void conv_integer(Node& node) {
  if (needs_inputs(node, 2)) {
    convolve(node, {.type = pb::TensorProto::INT32});
  }
}

/// x, its scale and zero point, w likewise, then those of the result and the bias.
void qlinear_conv(Node& node) {
  if (needs_inputs(node, 4)) {
    convolve(node, {.x = 0,
                    .w = 3,
                    .bias = 8,
                    .type = node.in(0).type,
                    .channels_last = node.integer("channels_last", 0) != 0});
  }
}

/// With an activation, perhaps a sum, in its epilogue.
void fused_conv(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  const bool last = node.type() != "FusedConv";
  convolve(node, {.bias = 2, .type = node.in(0).type, .channels_last = last});
  node.importer().note(
      fmt::format("{}: the activation is part of the convolution", node.full_type()));
}

/// Extents that a transposed convolution writes: stride (in - 1) + reach + output padding - pads.
Shape transposed_extents(Node& node, const Shapes& s) {
  const Windows& w = s.windows;
  const std::vector<std::int64_t> more = node.list("output_padding");
  const std::vector<std::int64_t> given = node.list("output_shape");
  Shape result;
  for (std::size_t i = 0; i < s.spatial.size(); ++i) {
    const auto stride = static_cast<double>(w.strides[i]);
    if (given.size() == s.spatial.size()) {
      result.push_back(node.number(static_cast<double>(std::max<std::int64_t>(given[i], 0))));
      continue;
    }
    if (w.auto_pad.starts_with("SAME")) {
      result.push_back(product(s.spatial[i], node.number(stride)));
      continue;
    }
    const double reach =
        static_cast<double>(w.dilations[i]) * static_cast<double>(w.kernel[i] - 1) + 1;
    const double padding = i < more.size() ? static_cast<double>(more[i]) : 0;
    const Expr extent =
        canonical(stride * (s.spatial[i] - 1) + (reach + padding - static_cast<double>(w.pads[i])));
    if (extent.is_constant() && extent.constant() < 0) {
      node.error("onnx-shape", "padding takes more than the transposed convolution writes");
      return s.spatial;
    }
    result.push_back(extent);
  }
  return result;
}

/// Depthwise along time, over what came before: [batch, channels, length]. The last inputs are the
/// next state.
void causal_conv(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  if (node.rank(0) != 3 || node.rank(1) != 3) {
    node.error("onnx-rank", fmt::format("convolves a tensor of rank {} with weights of rank {}, "
                                        "expected 3 and 3",
                                        node.rank(0), node.rank(1)));
    return;
  }
  const bool last = node.integer("channels_last", 0) != 0;
  const Shape& x = node.shape(0);
  const Expr channels = x[last ? 2 : 1];
  const Expr length = x[last ? 1 : 2];
  const Expr taps = node.shape(1)[2];
  const ValueId output = node.set(0, node.in(0).type, x);
  OpSpec spec{.kind = "convolution",
              .dims = {{"b", x[0]},
                       {"n", channels},
                       {"k", taps},
                       {"o", length},
                       {"i", product(channels, length)}},
              .operands = {{"x", node.id(0)}, {"w", node.id(1), true}, {"o", output}},
              .attributes = {{"groups", "depthwise"}, {"direction", "forward"}}};
  if (channels.is_constant() && taps.is_constant()) {
    spec.attributes = {{"groups", fmt::format("{}", channels.constant())},
                       {"taps", fmt::format("{}", taps.constant())},
                       {"direction", "forward"}};
  }
  if (node.has(2)) {
    spec.dims.emplace_back("bias", node.number(1));
    spec.operands.push_back({"bias", node.id(2), true});
  }
  node.emit(std::move(spec));
  if (node.wants(1)) {
    const Expr before = difference(taps, node.number(1));
    const Shape state = last ? Shape{x[0], before, channels} : Shape{x[0], channels, before};
    node.emit_many("move", {node.id(0)}, node.set(1, node.in(0).type, state),
                   {{"n", elements(node.pool(), state)}, {"i", elements(node.pool(), state)}},
                   {{"function", "state"}}, ".state");
  }
}

/// Every input position times every tap times every output channel of its group. The bias is a
/// kernel of its own.
void conv_transpose(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  auto s = shapes_of(node, {});
  if (!s) {
    return;
  }
  const bool pads_come_in = node.type() == "ConvTransposeWithDynamicPads";
  const std::size_t bias = pads_come_in ? 3 : 2;
  const std::size_t axes = s->spatial.size();
  if (const auto pads = pads_come_in ? node.integers(2) : std::nullopt;
      pads && pads->size() == 2 * axes) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    for (std::size_t i = 0; i < axes; ++i) {
      s->windows.pads[i] =
          std::clamp((*pads)[i], -kMost, kMost) + std::clamp((*pads)[axes + i], -kMost, kMost);
    }
  }
  const Shape& w = node.shape(1);
  const Expr channels = product(w[1], node.number(static_cast<double>(s->groups)));
  const Shape extents = transposed_extents(node, *s);
  Shape shape{s->samples, channels};
  shape.insert(shape.end(), extents.begin(), extents.end());
  const ValueId output = node.set(0, node.in(0).type, shape);
  const ValueId made = node.has(bias) ? node.between(node.in(0).type, shape) : output;
  const Expr inputs = elements(node.pool(), s->spatial);
  node.emit({.kind = "convolution",
             .dims = {{"b", s->samples},
                      {"n", s->channels},
                      {"k", product(w[1], node.number(s->windows.taps()))},
                      {"o", inputs},
                      {"i", product(s->channels, inputs)},
                      {"u", product(channels, elements(node.pool(), extents))}},
             .operands = {{"x", node.id(0)}, {"w", node.id(1), true}, {"o", made}},
             .attributes = facts(*s, "transposed")});
  if (node.has(bias)) {
    emit_elementwise(node, {made, node.id(bias)}, output, {1, 0, "add"}, ".bias");
  }
}

/// Taps stand where an input says: each is interpolated from four neighbours first.
void deform_conv(Node& node) {
  if (!needs_inputs(node, 3)) {
    return;
  }
  convolve(node, {.bias = 3, .type = node.in(0).type});
  node.importer().note("DeformConv: the interpolation of its taps is not counted");
}

constexpr std::array kRules = {
    RuleEntry{"Conv", conv},
    RuleEntry{"ConvInteger", conv_integer},
    RuleEntry{"ConvTranspose", conv_transpose},
    RuleEntry{"DeformConv", deform_conv},
    RuleEntry{"QLinearConv", qlinear_conv},
    RuleEntry{"com.microsoft.CausalConvWithState", causal_conv},
    RuleEntry{"com.microsoft.ConvTransposeWithDynamicPads", conv_transpose},
    RuleEntry{"com.microsoft.FusedConv", fused_conv},
    RuleEntry{"com.microsoft.NhwcConv", fused_conv},
    RuleEntry{"com.microsoft.NhwcFusedConv", fused_conv},
    RuleEntry{"com.microsoft.QLinearConv", qlinear_conv},
};

}  // namespace

std::span<const RuleEntry> convolution_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
