#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"
#include "ir/passes/shard_tensor.hpp"

namespace mansard::ir {
namespace {

/// Expert matmuls hold e / ep experts and work on the rows that all ranks of the group send them.
/// Each rank sends its share of its replica's rows: tokens that tp ranks hold alike are shared out
/// among them, and gathered again afterwards.
class ExpertSplitter {
 public:
  ExpertSplitter(Graph& graph, const ExpertRanks& ranks)
      : graph_(graph),
        ep_(static_cast<double>(ranks.ep)),
        tp_(static_cast<double>(ranks.tp)),
        rows_(graph.tensors().size()) {}

  Diagnostics run() {
    const std::vector<Op> ops = std::move(graph_.ops());
    for (const Op& op : ops) {
      router_ = is_kind(op, "moe_router") ? std::optional(op) : router_;
      take(op);
    }
    graph_.ops() = std::move(result_);
    return std::move(problems_);
  }

 private:
  /// Rows of a tensor that lives where the experts are.
  struct Rows {
    Expr before;  ///< In the whole replica.
    Expr after;   ///< On a rank.
  };

  void take(Op op) {
    if (is_kind(op, "grouped_matmul") && op.split == Split::kExperts) {
      split_matmul(std::move(op));
    } else if (const std::optional<Rows> rows = rows_of_elementwise(op)) {
      split_elementwise(std::move(op), *rows);
    } else {
      const bool combines = bring_back(op);
      forget_outputs(op);
      result_.push_back(op);
      if (combines && tp_ > 1) {
        gather_tokens(op);
      }
    }
  }

  /// Replicas whose ranks together hold the experts once.
  [[nodiscard]] double replicas() const { return ep_ / tp_; }

  void split_matmul(Op op) {
    const Expr before = dim_of(graph_, op, "m");
    const Rows rows{.before = before, .after = divided(before * replicas(), ep_)};
    const double held = coefficient(dim_of(graph_, op, "e"));
    if (std::fmod(held, ep_) != 0) {
      problems_.push_back({.id = "shard-divide",
                           .message = fmt::format("{} experts of '{}' cannot be split over ep {}",
                                                  held, op.name, ep_),
                           .location = {},
                           .label = {}});
    }
    op.dims.insert_or_assign("u", touched(op));
    op.dims.insert_or_assign("e", graph_.pool().constant(std::ceil(held / ep_)));
    op.dims.insert_or_assign("l", ceil_div(dim_of(graph_, op, "l"), ep_));
    op.dims.insert_or_assign("m", rows.after);
    const TensorId input = tensor_of(op, "a");
    if (!rows_[index(input)]) {
      set_operand(op, "a", dispatch(op, input));
    }
    divide_weights(op);
    set_output(op, "c", rows);
    op.split = Split::kReplicated;
    result_.push_back(std::move(op));
  }

  /// The distinct experts of a rank: a fixed number divides, an expectation is that of all tokens
  /// of the group.
  [[nodiscard]] Expr touched(const Op& op) const {
    const Expr before = dim_of(graph_, op, "u");
    if (before.is_constant() || !router_) {
      return before / ep_;
    }
    const Expr all = dim_of(graph_, *router_, "e");
    const Expr chosen = dim_of(graph_, *router_, "k");
    if (!all.is_constant() || !chosen.is_constant()) {
      return before / ep_;
    }
    return expected_experts(dim_of(graph_, op, "e") / ep_, all, chosen,
                            dim_of(graph_, *router_, "t") * replicas());
  }

  void divide_weights(const Op& op) {
    for (const std::string_view name : {"w", "bias"}) {
      if (const std::optional<TensorId> weight = operand_of(op, name)) {
        Tensor& tensor = graph_.tensor(*weight);
        if (!tensor.shape.empty()) {
          tensor.shape.front() = divided(tensor.shape.front(), ep_);
        }
      }
    }
  }

  void split_elementwise(Op op, const Rows& rows) {
    for (const std::string_view name : {"n", "i"}) {
      const double per_row = coefficient(dim_of(graph_, op, name)) / coefficient(rows.before);
      op.dims.insert_or_assign(std::string(name), rows.after * per_row);
    }
    set_output(op, "o", rows);
    op.split = Split::kReplicated;
    result_.push_back(std::move(op));
  }

  /// Rows at the experts that an elementwise op between two expert matmuls works on.
  [[nodiscard]] std::optional<Rows> rows_of_elementwise(const Op& op) const {
    if (!is_kind(op, "elementwise") || op.split == Split::kReplicated) {
      return std::nullopt;
    }
    return rows_[index(tensor_of(op, "x"))];
  }

  void set_output(const Op& op, std::string_view name, const Rows& rows) {
    const TensorId output = tensor_of(op, name);
    std::ranges::replace(graph_.tensor(output).shape, rows.before, rows.after);
    rows_[index(output)] = rows;
  }

  void forget_outputs(const Op& op) {
    for (const OperandUse& use : uses_of(op)) {
      if (use.writes()) {
        rows_[index(use.tensor)] = std::nullopt;
      }
    }
  }

  TensorId dispatch(const Op& op, TensorId input) {
    const Expr rows = dim_of(graph_, op, "m");
    const Expr columns = dim_of(graph_, op, "k");
    Tensor arrived = graph_.tensor(input);
    arrived.name = op.name + ".dispatched";
    arrived.shape = {rows, columns};
    arrived.block = op.block;
    const TensorId output = add_tensor(std::move(arrived));
    exchange({.name = op.name + ".dispatch", .block = op.block}, rows * columns, input, output);
    return output;
  }

  /// Rows that an op outside the experts reads return to where they came from.
  bool bring_back(Op& op) {
    bool any = false;
    for (const OperandUse& use : uses_of(op)) {
      const std::optional<Rows> rows = rows_[index(use.tensor)];
      if (use.reads() && rows) {
        op.operands[use.position] = return_rows(op, use, *rows);
        any = true;
      }
    }
    return any;
  }

  TensorId return_rows(const Op& op, const OperandUse& use, const Rows& rows) {
    Tensor returned = graph_.tensor(use.tensor);
    const Expr elements = graph_.elements(returned);
    const std::string what = fmt::format("{}.{}", op.name, use.def->name);
    returned.name = what + ".returned";
    std::ranges::replace(returned.shape, rows.after, rows.before);
    const TensorId output = add_tensor(std::move(returned));
    exchange({.name = what + ".return", .block = op.block}, elements, use.tensor, output);
    return output;
  }

  TensorId add_tensor(Tensor tensor) {
    rows_.emplace_back();
    return graph_.add_tensor(std::move(tensor));
  }

  void exchange(Op op, Expr elements, TensorId from, TensorId to) {
    op.def = find_op("all_to_all");
    op.dims = {{"n", elements}, {"p", graph_.pool().constant(ep_)}};
    op.operands = operands_by_name(*op.def, {{"x", from}, {"o", to}});
    result_.push_back(std::move(op));
  }

  void gather_tokens(const Op& op) {
    const OpDef* def = find_op("all_gather");
    const TensorId tensor = tensor_of(op, "o");
    result_.push_back({.name = op.name + ".all_gather",
                       .def = def,
                       .block = op.block,
                       .dims = {{"n", graph_.elements(graph_.tensor(tensor))},
                                {"p", graph_.pool().constant(tp_)}},
                       .operands = operands_by_name(*def, {{"x", tensor}, {"o", tensor}})});
  }

  Graph& graph_;
  double ep_;
  double tp_;
  std::vector<std::optional<Rows>> rows_;
  std::optional<Op> router_;
  std::vector<Op> result_;
  Diagnostics problems_;
};

}  // namespace

Diagnostics split_experts(Graph& graph, const ExpertRanks& ranks) {
  return ExpertSplitter(graph, ranks).run();
}

}  // namespace mansard::ir
