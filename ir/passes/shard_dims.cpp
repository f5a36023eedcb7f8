#include <cmath>

#include <fmt/format.h>

#include "ir/passes/rewrite.hpp"
#include "ir/passes/shard_heads.hpp"
#include "ir/passes/shard_tensor.hpp"

namespace mansard::ir {
namespace {

class DimDivider {
 public:
  DimDivider(Graph& graph, std::int64_t tp, Diagnostics& problems)
      : graph_(graph),
        original_(graph),
        ranks_(static_cast<double>(tp)),
        heads_(original_, ranks_),
        divided_features_(graph.tensors().size()),
        problems_(problems) {}

  std::vector<OpChange> run() {
    std::vector<OpChange> changes;
    changes.reserve(graph_.ops().size());
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      changes.push_back(divide(static_cast<OpId>(i)));
    }
    return changes;
  }

 private:
  OpChange divide(OpId id) {
    Op& op = graph_.ops()[index(id)];
    OpChange change{.rule = find_split_rule(op.def->name, split_of(op)), .dims = {}};
    if (change.rule != nullptr) {
      for (const DimRule& dim : change.rule->dims) {
        divide_dim(id, dim, change);
      }
    }
    remember_outputs(op, change);
    return change;
  }

  /// Experts that are not spread over ranks are split in width: columns where the input is whole,
  /// rows where it is split already.
  [[nodiscard]] Split split_of(const Op& op) const {
    if (op.split != Split::kExperts || !is_kind(op, "grouped_matmul")) {
      return op.split;
    }
    const std::optional<TensorId> input = operand_of(op, "a");
    return input && divided_features_[index(*input)] ? Split::kRow : Split::kColumn;
  }

  void divide_dim(OpId id, const DimRule& rule, OpChange& change) {
    Op& op = graph_.ops()[index(id)];
    const std::string_view name = dim_to_divide(op, rule);
    if (name.empty()) {
      return;
    }
    const Expr before = dim_of(graph_, op, name);
    const double width = coefficient(before);
    const double share = share_of(id, op, name, width);
    if (share == width) {
      return;
    }
    if (rule.strict && std::floor(share) != share) {
      refuse(op, name, width);
      return;
    }
    const Expr after = resized(before, width, std::ceil(share));
    op.dims.insert_or_assign(std::string(name), after);
    change.dims.push_back({.name = name, .before = before, .after = after});
    if (std::floor(share) != share && op.split == Split::kVocabulary) {
      note(graph_, fmt::format("{} {} of '{}' are padded to {} on each of {} ranks", width, name,
                               op.name, std::ceil(share), ranks_));
    }
  }

  [[nodiscard]] std::string_view dim_to_divide(const Op& op, const DimRule& rule) const {
    std::string_view last;
    for (const std::string_view name : rule.names) {
      const bool may_replicate = name == "g" && is_kind(op, "attention");
      if (may_replicate || (!name.empty() && coefficient(dim_of(graph_, op, name)) > 1)) {
        return name;
      }
      last = name.empty() ? last : name;
    }
    // One key head or group is replicated; one head or column cannot be divided.
    return rule.strict && last != "g" ? last : std::string_view();
  }

  double share_of(OpId id, const Op& op, std::string_view name, double width) {
    if (name == "g" && is_kind(op, "attention") && heads_.replicated(op)) {
      note(graph_,
           fmt::format("{} KV heads are replicated over {} ranks: each holds one", width, ranks_));
      return 1;
    }
    if (name == "g" && is_kind(op, "ssm_scan") && width < ranks_) {
      note(graph_, fmt::format("{} state groups are replicated over {} ranks", width, ranks_));
      return width;
    }
    return heads_.width_on_rank(id, width).value_or(width / ranks_);
  }

  void refuse(const Op& op, std::string_view name, double width) {
    std::string_view meaning;
    for (const DimDef& dim : op.def->dims) {
      meaning = dim.name == name ? dim.meaning : meaning;
    }
    problems_.push_back(
        {.id = "shard-divide",
         .message = fmt::format("'{}' cannot be split over tp {}: its {} {} ({}) do not divide",
                                op.name, ranks_, width, name, meaning),
         .location = {},
         .label = {}});
  }

  void remember_outputs(const Op& op, const OpChange& change) {
    const bool whole = change.dims.empty() || change.rule->completion == Completion::kReduce;
    for (const OperandUse& use : uses_of(op)) {
      if (use.writes()) {
        divided_features_[index(use.tensor)] = !whole;
      }
    }
  }

  Graph& graph_;
  Graph original_;  ///< Dims as they were: what feeds attention is told by its whole widths.
  double ranks_;
  ReplicatedHeads heads_;
  std::vector<bool> divided_features_;
  Diagnostics& problems_;
};

}  // namespace

std::vector<OpChange> divide_dims(Graph& graph, std::int64_t tp, Diagnostics& problems) {
  return DimDivider(graph, tp, problems).run();
}

Diagnostics split_tensors(Graph& graph, std::int64_t tp) {
  Diagnostics problems;
  const std::vector<OpChange> changes = divide_dims(graph, tp, problems);
  if (problems.empty()) {
    divide_shapes(graph, changes);
    complete_results(graph, changes, tp);
  }
  return problems;
}

}  // namespace mansard::ir
