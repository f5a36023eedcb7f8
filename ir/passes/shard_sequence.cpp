#include <algorithm>
#include <utility>

#include "ir/passes/rewrite.hpp"
#include "ir/passes/shard_tensor.hpp"

namespace mansard::ir {
namespace {

/// A step of a fixed number of new tokens (speculation) has no q_len any more.
bool uses_q_len(const Graph& graph) {
  return std::ranges::any_of(graph.ops(), [](const Op& op) {
    return std::ranges::any_of(op.dims,
                               [](const auto& dim) { return depends_on(dim.second, "q_len"); });
  });
}

/// Turns every all-reduce into a reduce-scatter over tokens. What follows element by element or row
/// by row works on a rank's share of the tokens; before anything else reads it, it is gathered
/// (Korthikanti et al., arXiv 2205.05198, section 4.2.2).
class Scatterer {
 public:
  Scatterer(Graph& graph, std::int64_t tp)
      : graph_(graph),
        ranks_(static_cast<double>(tp)),
        token_symbol_(uses_q_len(graph) ? "q_len" : "batch"),
        scattered_(graph.tensors().size()),
        partial_(graph.tensors().size()),
        gathered_(graph.tensors().size()) {}

  void run() {
    find_scattered();
    const std::vector<Op> ops = std::move(graph_.ops());
    whole_ = graph_.tensors();
    for (const Op& op : ops) {
      take(op);
    }
    graph_.ops() = std::move(result_);
  }

 private:
  static bool works_by_token(const Op& op) {
    return op.split == Split::kReplicated && (is_kind(op, "norm") || is_kind(op, "elementwise"));
  }

  /// Whether it works on all tokens, not on the last one of each sequence only.
  [[nodiscard]] bool is_over_tokens(const Op& op) const {
    const Expr rows = dim_of(graph_, op, is_kind(op, "norm") ? "r" : "n");
    return depends_on(rows, token_symbol_);
  }

  /// Tensors that some all-reduce or scattered op writes, until nothing more follows.
  void find_scattered() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Op& op : graph_.ops()) {
        if (is_kind(op, "all_reduce") || runs_scattered(op)) {
          changed = mark_outputs(op) || changed;
        }
      }
    }
  }

  [[nodiscard]] bool runs_scattered(const Op& op) const {
    if (!works_by_token(op) || !is_over_tokens(op)) {
      return false;
    }
    const std::optional<TensorId> input = operand_of(op, "x");
    return input && is_scattered(*input);
  }

  bool mark_outputs(const Op& op) {
    bool changed = false;
    for (const OperandUse& use : uses_of(op)) {
      if (use.writes()) {
        changed = changed || !scattered_[index(use.tensor)];
        scattered_[index(use.tensor)] = true;
      }
    }
    return changed;
  }

  void take(Op op) {
    if (is_kind(op, "all_reduce")) {
      scatter(std::move(op));
      return;
    }
    const bool scattered = runs_scattered(op);
    if (scattered) {
      divide_rows(op);
    } else {
      gather_inputs(op);
    }
    forget_gathered(op);
    result_.push_back(std::move(op));
  }

  void divide_rows(Op& op) {
    const auto divide = [&](std::string_view name) {
      op.dims.insert_or_assign(std::string(name), ceil_div(dim_of(graph_, op, name), ranks_));
    };
    if (is_kind(op, "norm")) {
      divide("r");
    } else {
      divide("n");
      divide("i");
    }
    divide_outputs(op);
  }

  void divide_outputs(const Op& op) {
    for (const OperandUse& use : uses_of(op)) {
      if (use.writes()) {
        divide_tokens(use.tensor);
      }
    }
  }

  /// The token axis of a tensor, the first time.
  void divide_tokens(TensorId tensor) {
    std::vector<Expr>& shape = graph_.tensor(tensor).shape;
    if (shape == whole_[index(tensor)].shape && !shape.empty()) {
      shape.front() = ceil_div(shape.front(), ranks_);
    }
  }

  /// The partial sum gets a tensor of its own, which its writer fills.
  void scatter(Op reduce) {
    const TensorId tensor = tensor_of(reduce, "x");
    const TensorId partial = partial_of(tensor);
    for (std::size_t i = result_.size(); i-- > 0;) {
      if (writes(result_[i], tensor)) {
        std::ranges::replace(result_[i].operands, std::optional(tensor), std::optional(partial));
        break;
      }
    }
    reduce.def = find_op("reduce_scatter");
    reduce.name.replace(reduce.name.rfind("all_reduce"), std::string::npos, "reduce_scatter");
    reduce.operands = operands_by_name(*reduce.def, {{"x", partial}, {"o", tensor}});
    divide_tokens(tensor);
    forget_gathered(reduce);
    result_.push_back(std::move(reduce));
  }

  TensorId partial_of(TensorId tensor) {
    if (const std::optional<TensorId> known = partial_[index(tensor)]) {
      return *known;
    }
    Tensor whole = whole_[index(tensor)];
    whole.name += ".partial";
    const TensorId partial = graph_.add_tensor(std::move(whole));
    partial_[index(tensor)] = partial;
    return partial;
  }

  /// What is rewritten in place is left: the residual stream of the last norm, whose few rows are
  /// where they are.
  void gather_inputs(Op& op) {
    for (const OperandUse& use : uses_of(op)) {
      if (!use.writes() && is_scattered(use.tensor)) {
        op.operands[use.position] = gather(op, use);
      }
    }
  }

  [[nodiscard]] bool is_scattered(TensorId tensor) const {
    return index(tensor) < scattered_.size() && scattered_[index(tensor)];
  }

  /// All tokens once for all who read them; for the head only the last ones.
  TensorId gather(const Op& op, const OperandUse& use) {
    const TensorId part = use.tensor;
    const OperandDef& def = *use.def;
    const Expr read = graph_.instantiate(op, def.touched);
    const bool all = depends_on(read, token_symbol_);
    const std::optional<TensorId> known = gathered_[index(part)];
    if (all && known) {
      return *known;
    }
    Tensor tensor = whole_[index(part)];
    tensor.name = op.name + "." + std::string(def.name) + ".gathered";
    tensor.block = op.block;
    const Expr elements = all ? graph_.elements(tensor) : read;
    const TensorId output = graph_.add_tensor(std::move(tensor));
    if (all) {
      gathered_[index(part)] = output;
    }
    const OpDef* gather_def = find_op("all_gather");
    result_.push_back({.name = op.name + ".gather_" + std::string(def.name),
                       .def = gather_def,
                       .block = op.block,
                       .dims = {{"n", elements}, {"p", graph_.pool().constant(ranks_)}},
                       .operands = operands_by_name(*gather_def, {{"x", part}, {"o", output}})});
    return output;
  }

  void forget_gathered(const Op& op) {
    for (const OperandUse& use : uses_of(op)) {
      if (use.writes() && index(use.tensor) < gathered_.size()) {
        gathered_[index(use.tensor)] = std::nullopt;
      }
    }
  }

  Graph& graph_;
  double ranks_;
  std::string_view token_symbol_;
  std::vector<bool> scattered_;
  std::vector<std::optional<TensorId>> partial_;
  std::vector<std::optional<TensorId>> gathered_;
  std::vector<Tensor> whole_;  ///< As they were.
  std::vector<Op> result_;
};

}  // namespace

void scatter_tokens(Graph& graph, std::int64_t tp) {
  Scatterer(graph, tp).run();
  note(graph, "sequence parallelism: between matmuls each rank has its share of the tokens");
}

}  // namespace mansard::ir
