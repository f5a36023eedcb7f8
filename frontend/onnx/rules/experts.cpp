#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"
#include "frontend/onnx/types.hpp"
#include "ir/passes/passes.hpp"

namespace mansard::frontend::onnx {
namespace {

/// Where the parts of a mixture of experts stand among its inputs.
struct Positions {
  std::size_t up;
  std::size_t up_bias;
  std::size_t down;
  std::size_t down_bias;
  std::size_t gate;
};

/// One matmul of all experts' rows.
struct Layer {
  ValueId input;
  std::size_t weights;
  std::size_t bias;
  Expr in;
  Expr out;
  std::string suffix;
};

/// A mixture of experts: routes, up (and gate), activation, down, and the weighted sum.
class Mixture {
 public:
  Mixture(Node& node, const Positions& at, std::int64_t bits)
      : node_(node), at_(at), bits_(bits), chosen_(number(node.integer("k", 1))) {
    const Shape& x = node.shape(0);
    columns_ = x.back();
    tokens_ = quotient(node.elements(0), columns_);
    rows_ = product(tokens_, chosen_);
    experts_ = node.shape(1).back();
  }

  void build() {
    const ValueId output = node_.set(0, node_.in(0).type, node_.shape(0));
    route();
    const Expr width = inner_width();
    ValueId wide = layer({node_.id(0), at_.up, at_.up_bias, columns_, width, ".up"});
    const std::string activation = node_.text("activation_type", "relu");
    const bool fused_gate = activation == "swiglu";
    const Expr active = fused_gate ? quotient(width, node_.number(2)) : width;
    wide = activate(wide, activation, active, fused_gate);
    if (node_.has(at_.gate)) {
      const ValueId gate = layer({node_.id(0), at_.gate, at_.gate + 1, columns_, width, ".gate"});
      const ValueId gated = between(width);
      emit_elementwise(node_, {wide, gate}, gated, {1, 0, "mul"}, ".product");
      wide = gated;
    }
    const ValueId down = layer({wide, at_.down, at_.down_bias, active, columns_, ".down"});
    node_.emit_many("elementwise", {down}, output,
                    {{"n", product(tokens_, columns_)}, {"a", product(node_.number(2), chosen_)}},
                    {{"function", "weighted_sum"}}, ".combine");
  }

 private:
  Expr number(std::int64_t n) const {
    return node_.number(static_cast<double>(std::max<std::int64_t>(n, 1)));
  }
  ValueId between(Expr columns) { return node_.between(node_.in(0).type, Shape{rows_, columns}); }

  /// Features of the first layer: the weights hold experts x in x out elements, two a byte at 4
  /// bits.
  Expr inner_width() {
    const Expr stored = node_.elements(at_.up);
    const Expr per_byte = node_.number(bits_ == 0 ? 1 : 8.0 / static_cast<double>(bits_));
    return quotient(product(stored, per_byte), product(experts_, columns_));
  }

  void route() {
    const ValueId routes =
        node_.between(pb::TensorProto::FLOAT, Shape{tokens_, chosen_, node_.number(2)});
    node_.emit({.kind = "moe_router",
                .dims = {{"t", tokens_}, {"e", experts_}, {"k", chosen_}},
                .operands = {{"logits", node_.id(1)}, {"routes", routes}},
                .suffix = ".router"});
  }

  ValueId layer(const Layer& l) {
    if (bits_ != 0 && l.in.is_constant() && l.out.is_constant() && experts_.is_constant()) {
      const auto whole = [](Expr e) { return static_cast<std::int64_t>(e.constant()); };
      repack(node_, l.weights, {whole(experts_), whole(l.in), whole(l.out)}, bits_,
             node_.integer("block_size", 0));
    }
    const ValueId output = between(l.out);
    OpSpec spec{.kind = "grouped_matmul",
                .dims = {{"m", rows_},
                         {"n", l.out},
                         {"k", l.in},
                         {"e", experts_},
                         {"u", touched()},
                         {"l", chosen_}},
                .operands = {{"a", l.input}, {"w", node_.id(l.weights), true}, {"c", output}},
                .suffix = l.suffix};
    if (node_.has(l.bias)) {
      spec.dims.emplace_back("bias", node_.number(1));
      spec.operands.push_back({"bias", node_.id(l.bias), true});
    }
    node_.emit(std::move(spec));
    return output;
  }

  Expr touched() const {
    const bool fixed = experts_.is_constant() && chosen_.is_constant();
    return fixed && chosen_.constant() < experts_.constant()
               ? ir::expected_experts(experts_, experts_, chosen_, tokens_)
               : experts_;
  }

  ValueId activate(ValueId wide, const std::string& activation, Expr columns, bool gated) {
    const ValueId output = between(columns);
    const Cost cost = activation == "gelu"   ? Cost{4, 1, "gelu"}
                      : activation == "silu" ? Cost{2, 1, "silu"}
                      : gated                ? Cost{3, 1, "silu_mul"}
                                             : Cost{1, 0, "relu"};
    emit_elementwise(node_, {wide}, output, cost, ".activation");
    return output;
  }

  Node& node_;
  Positions at_;
  std::int64_t bits_;
  Expr chosen_;
  Expr columns_;
  Expr tokens_;
  Expr rows_;
  Expr experts_;
};

bool has_shapes(Node& node, std::size_t up, std::size_t down) {
  if (!needs_inputs(node, 2) || !node.has(up) || !node.has(down) || node.rank(0) < 2 ||
      node.rank(1) < 1) {
    if (!node.failed()) {
      node.error("onnx-inputs", "lacks the weights of its experts");
    }
    return false;
  }
  return true;
}

/// Input, router logits, then weights and bias of up, down and gate.
void moe(Node& node) {
  if (has_shapes(node, 2, 4)) {
    Mixture(node, {.up = 2, .up_bias = 3, .down = 4, .down_bias = 5, .gate = 6}, 0).build();
  }
}

/// The same with a scale after each weight.
void qmoe(Node& node) {
  if (has_shapes(node, 2, 5)) {
    Mixture(node, {.up = 2, .up_bias = 4, .down = 5, .down_bias = 7, .gate = 8},
            node.integer("expert_weight_bits", 4))
        .build();
  }
}

constexpr std::array kRules = {
    RuleEntry{"com.microsoft.MoE", moe},
    RuleEntry{"com.microsoft.QMoE", qmoe},
};

}  // namespace

void repack(Node& node, std::size_t i, const std::vector<std::int64_t>& dims, std::int64_t bits,
            std::int64_t block) {
  const Value& packed = node.in(i);
  if (!packed.root) {
    return;
  }
  Root& root = node.importer().root(*packed.root);
  root.dims = dims;
  root.counts = true;
  std::string name = bits == 8 ? "int8_wo" : bits == 4 ? "int4" : "";
  if (bits == 4 && block > 0) {
    name = block <= 16   ? "int4_g16"
           : block <= 32 ? "int4_g32"
           : block <= 64 ? "int4_g64"
                         : "int4_wo";
  }
  root.dtype = ir::find_dtype(name.empty() ? "int4" : name);
  if (name.empty()) {
    node.importer().note(
        fmt::format("{}: weights of {} bits are counted as of 4", node.full_type(), bits));
  }
}

std::span<const RuleEntry> expert_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
