#include <algorithm>
#include <cassert>
#include <utility>

#include "ir/passes/elementwise.hpp"
#include "ir/passes/rewrite.hpp"
#include "ir/passes/shard_tensor.hpp"

namespace mansard::ir {
namespace {

/// Walks over the ops of a rank, remembers which tensors are partial sums, lets them pass through
/// sums, and completes them before anything else reads them or their block ends.
class Completer {
 public:
  Completer(Graph& graph, const std::vector<OpChange>& changes, std::int64_t tp)
      : graph_(graph),
        changes_(changes),
        ranks_(graph.pool().constant(static_cast<double>(tp))),
        partial_(graph.tensors().size()),
        is_term_(graph.tensors().size()),
        gathered_(graph.tensors().size()) {}

  void run() {
    const std::vector<Op> ops = std::move(graph_.ops());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      take(ops[i], changes_[i]);
      if (i + 1 == ops.size() || ops[i + 1].block != ops[i].block) {
        reduce_all();
      }
    }
    graph_.ops() = std::move(result_);
  }

 private:
  void take(Op op, const OpChange& change) {
    read_gathered(op);
    const bool stays_partial = passes_on(op);
    if (stays_partial) {
      mark_terms(op);
    } else {
      reduce_inputs(op);
    }
    const Completion completion = change.dims.empty() ? Completion::kNone : change.rule->completion;
    mark_outputs(op, stays_partial || completion == Completion::kReduce);
    result_.push_back(op);
    if (completion == Completion::kGather) {
      gather(op, change);
    }
  }

  void read_gathered(Op& op) {
    for (const OperandUse& use : uses_of(op)) {
      std::optional<TensorId>& gathered = gathered_[index(use.tensor)];
      if (!use.reads()) {
        gathered = std::nullopt;
      } else if (gathered) {
        op.operands[use.position] = gathered;
      }
    }
  }

  [[nodiscard]] bool is_partial(TensorId tensor) const {
    return index(tensor) < partial_.size() && !partial_[index(tensor)].empty();
  }

  /// Whether all terms of a sum are partial, and nothing else that it reads.
  [[nodiscard]] bool passes_on(const Op& op) const {
    const auto linear = linear_operands(op);
    bool any = false;
    for (const OperandUse& use : uses_of(op)) {
      if (!use.reads() || graph_.tensor(use.tensor).role != Role::kActivation) {
        continue;
      }
      const bool is_term = std::ranges::find(linear, use.def->name) != linear.end();
      if (is_term != is_partial(use.tensor)) {
        return false;
      }
      any = any || is_term;
    }
    return any;
  }

  /// Terms of a sum: what is left of them need not be completed.
  void mark_terms(const Op& op) {
    for (const OperandUse& use : uses_of(op)) {
      if (is_partial(use.tensor)) {
        is_term_[index(use.tensor)] = true;
      }
    }
  }

  void reduce_inputs(const Op& op) {
    for (const OperandUse& use : uses_of(op)) {
      if (use.reads() && is_partial(use.tensor)) {
        reduce(use.tensor, op.block);
      }
    }
  }

  void reduce_all() {
    const BlockId block = result_.back().block;
    for (std::size_t i = 0; i < partial_.size(); ++i) {
      if (!partial_[i].empty() && !is_term_[i]) {
        reduce(static_cast<TensorId>(i), block);
      }
    }
  }

  void mark_outputs(const Op& op, bool partial) {
    for (const OperandUse& use : uses_of(op)) {
      if (use.writes() && index(use.tensor) < partial_.size()) {
        partial_[index(use.tensor)] = partial ? op.name : std::string();
        is_term_[index(use.tensor)] = false;
      }
    }
  }

  void reduce(TensorId tensor, BlockId block) {
    const OpDef* def = find_op("all_reduce");
    result_.push_back({.name = partial_[index(tensor)] + ".all_reduce",
                       .def = def,
                       .block = block,
                       .dims = {{"n", graph_.elements(graph_.tensor(tensor))}, {"p", ranks_}},
                       .operands = operands_by_name(*def, {{"x", tensor}})});
    partial_[index(tensor)].clear();
  }

  void gather(const Op& op, const OpChange& change) {
    const DimChange& dim = change.dims.front();
    const TensorId part = output_of(op);
    Tensor whole = graph_.tensor(part);
    whole.name += ".gathered";
    std::ranges::replace(whole.shape, dim.after, dim.before);
    const TensorId output = graph_.add_tensor(std::move(whole));
    gathered_[index(part)] = output;
    const OpDef* def = find_op("all_gather");
    result_.push_back({.name = op.name + ".all_gather",
                       .def = def,
                       .block = op.block,
                       .dims = {{"n", graph_.elements(graph_.tensor(output))}, {"p", ranks_}},
                       .operands = operands_by_name(*def, {{"x", part}, {"o", output}})});
  }

  [[nodiscard]] static TensorId output_of(const Op& op) {
    const std::vector<OperandUse> uses = uses_of(op);
    const auto written =
        std::ranges::find_if(uses, [](const OperandUse& use) { return use.writes(); });
    assert(written != uses.end());
    return written->tensor;
  }

  Graph& graph_;
  const std::vector<OpChange>& changes_;
  Expr ranks_;
  std::vector<std::string> partial_;  ///< Of each tensor: the op that left it partial, or "".
  std::vector<bool> is_term_;         ///< Of each tensor: whether a sum has taken it up.
  std::vector<std::optional<TensorId>> gathered_;
  std::vector<Op> result_;
};

}  // namespace

void complete_results(Graph& graph, const std::vector<OpChange>& changes, std::int64_t tp) {
  Completer(graph, changes, tp).run();
}

}  // namespace mansard::ir
