#include "model/serve/ragged.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mansard::model::serve {
namespace {

using ir::Expr;

bool reads(Expr expression, std::string_view symbol) {
  return std::ranges::any_of(ir::symbols_of(expression),
                             [&](Expr read) { return read->symbol == symbol; });
}

class Rewriter {
 public:
  explicit Rewriter(ir::Graph graph) { result_.graph = std::move(graph); }

  RaggedGraph rewrite() {
    for (ir::Op& op : result_.graph.ops()) {
      for (auto& [name, extent] : op.dims) {
        extent = rewrite(extent);
      }
    }
    for (ir::Tensor& tensor : result_.graph.tensors()) {
      for (Expr& extent : tensor.shape) {
        extent = rewrite(extent);
      }
    }
    return std::move(result_);
  }

 private:
  /// Replaces the greatest parts that read the context and not the number of sequences.
  Expr rewrite(Expr expression) {
    if (!reads(expression, "context")) {
      return expression;
    }
    if (!reads(expression, "batch")) {
      return mean_of(expression);
    }
    if (expression->kind == ir::ExprKind::kCall || expression->kind == ir::ExprKind::kReduce) {
      const Expr context = mean_of(pool().symbol("context"));
      return ir::substitute(expression, pool(), [&](const ir::ExprNode& node) {
        return node.symbol == "context" ? context : Expr();
      });
    }
    std::vector<Expr> operands;
    for (const Expr operand : expression->operands) {
      operands.push_back(rewrite(operand));
    }
    return pool().make(expression->kind, std::move(operands));
  }

  Expr mean_of(Expr expression) {
    const auto known = std::ranges::find(result_.of_sequence, expression);
    const auto place = static_cast<std::size_t>(known - result_.of_sequence.begin());
    if (known == result_.of_sequence.end()) {
      result_.of_sequence.push_back(expression);
      result_.means.push_back(pool().symbol(fmt::format("mean.{}", place), expression.dimension()));
    }
    return result_.means[place];
  }

  ir::ExprPool& pool() const { return result_.graph.pool(); }

  RaggedGraph result_;
};

}  // namespace

RaggedGraph make_ragged(ir::Graph graph) {
  return Rewriter(std::move(graph)).rewrite();
}

}  // namespace mansard::model::serve
