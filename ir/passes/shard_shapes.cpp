#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/passes/rewrite.hpp"
#include "ir/passes/shard_tensor.hpp"

namespace mansard::ir {
namespace {

using Shape = std::vector<Expr>;

/// One use of a tensor by an op: what the op's division means for the tensor's shape.
class Use {
 public:
  Use(const Graph& graph, const Op& op, const OperandDef& def, const OpChange& change)
      : graph_(graph), op_(op), def_(def), change_(change) {}

  /// The new shape, or none if the op uses the tensor as before.
  [[nodiscard]] std::optional<Shape> divide(const Tensor& tensor) const {
    if (const std::optional<Shape> matched = by_extent(tensor.shape)) {
      return matched;
    }
    const double ratio = touched_ratio(tensor);
    return ratio == 1 ? std::nullopt : std::optional(by_ratio(tensor.shape, ratio));
  }

 private:
  /// Axes that are a dim of the op change as that dim did.
  [[nodiscard]] std::optional<Shape> by_extent(const Shape& shape) const {
    Shape result = shape;
    bool found = false;
    for (const DimChange& dim : change_.dims) {
      const auto axis = std::ranges::find(result, dim.before);
      if (touches(dim.name) && axis != result.end()) {
        *axis = dim.after;
        found = true;
      }
    }
    return found ? std::optional(result) : std::nullopt;
  }

  [[nodiscard]] bool touches(std::string_view dim) const { return depends_on(def_.touched, dim); }

  /// How many times fewer elements of the tensor the op touches now.
  [[nodiscard]] double touched_ratio(const Tensor& tensor) const {
    const double after = coefficient(graph_.instantiate(op_, def_.touched));
    const double before = coefficient(graph_.instantiate(undivided(), def_.touched));
    if (before != after) {
      return before / after;
    }
    return tensor.role == Role::kWeight ? parameter_ratio(tensor) : 1;
  }

  /// Parameters that the counts do not tell apart: a gain for each head follows the heads, which
  /// are rows of the norm; one for each output of an elementwise op follows the outputs.
  [[nodiscard]] double parameter_ratio(const Tensor& tensor) const {
    const double elements = coefficient(graph_.elements(tensor));
    if (is_kind(op_, "norm") && elements > coefficient(dim_of(graph_, op_, "c"))) {
      return ratio_of("r");
    }
    const auto outputs = std::ranges::find(change_.dims, "n", &DimChange::name);
    const bool follows = is_kind(op_, "elementwise") && outputs != change_.dims.end() &&
                         coefficient(outputs->before) == elements;
    return follows ? ratio_of("n") : 1;
  }

  [[nodiscard]] double ratio_of(std::string_view dim) const {
    const auto change = std::ranges::find(change_.dims, dim, &DimChange::name);
    return change == change_.dims.end() ? 1
                                        : coefficient(change->before) / coefficient(change->after);
  }

  [[nodiscard]] Op undivided() const {
    Op whole = op_;
    for (const DimChange& dim : change_.dims) {
      whole.dims.insert_or_assign(std::string(dim.name), dim.before);
    }
    return whole;
  }

  /// The first constant axis that divides, else the last constant one rounded up, else the first.
  [[nodiscard]] static Shape by_ratio(const Shape& shape, double ratio) {
    Shape result = shape;
    Expr* chosen = nullptr;
    for (Expr& extent : result) {
      if (extent.is_constant() && extent.constant() > 1) {
        chosen = &extent;
        if (std::fmod(extent.constant(), ratio) == 0) {
          break;
        }
      }
    }
    if (chosen != nullptr) {
      *chosen = chosen->pool().constant(std::ceil(chosen->constant() / ratio));
    } else if (!result.empty()) {
      result.front() = divided(result.front(), ratio);
    }
    return result;
  }

  const Graph& graph_;
  const Op& op_;
  const OperandDef& def_;
  const OpChange& change_;
};

/// What all uses of a tensor together mean for it.
struct Verdict {
  std::optional<Shape> shape;
  bool used_whole = false;
  bool written = false;
};

/// What is stored is divided only if every op that uses it is; an activation is as it was written.
void add_use(Verdict& verdict, const Tensor& tensor, std::optional<Shape> shape, bool writes) {
  const bool stored = tensor.role != Role::kActivation;
  if (!stored && (verdict.written || (!writes && verdict.shape))) {
    return;
  }
  verdict.written = verdict.written || writes;
  verdict.used_whole = stored ? verdict.used_whole || !shape : !shape;
  if (!stored || !verdict.shape) {
    verdict.shape = std::move(shape);
  }
}

}  // namespace

void divide_shapes(Graph& graph, const std::vector<OpChange>& changes) {
  std::vector<Verdict> verdicts(graph.tensors().size());
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    for (const OperandUse& use : uses_of(op)) {
      const Tensor& tensor = graph.tensor(use.tensor);
      add_use(verdicts[index(use.tensor)], tensor,
              Use(graph, op, *use.def, changes[i]).divide(tensor),
              use.def->access == Access::kWrite);
    }
  }
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const std::optional<Shape>& shape = verdicts[i].shape;
    if (shape && !verdicts[i].used_whole) {
      graph.tensors()[i].shape = *shape;
    }
  }
}

}  // namespace mansard::ir
