#include "ir/verify.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "ir/expr_eval.hpp"
#include "ir/graph_names.hpp"

namespace mansard::ir {
namespace {

/// Beyond it integers of doubles are no longer exact (ir/expr.hpp).
constexpr double kGreatestDimension = 0x1p53;

/// Workloads at which counts must not be negative: a decode step and a chunk of prefill.
const std::array kSamples = {Bindings{{"batch", 1}, {"q_len", 1}, {"context", 2048}},
                             Bindings{{"batch", 3}, {"q_len", 5}, {"context", 4100}}};

bool is_workload_symbol(std::string_view name) {
  return name == "batch" || name == "q_len" || name == "context";
}

bool is_dimension(double number) {
  return number >= 0 && number < kGreatestDimension;
}

/// Roles that a tensor may have where a definition says `expected`.
bool fits(Role expected, Role found, Access access) {
  if (access != Access::kRead) {
    return found == expected;
  }
  switch (expected) {
    case Role::kActivation:
      return found == Role::kActivation || found == Role::kWeight;
    case Role::kWeight:  // Unfused attention multiplies by activations and by caches.
      return found != Role::kState;
    case Role::kKvCache:  // Attention without a cache reads activations.
      return found == Role::kKvCache || found == Role::kActivation;
    case Role::kState:
      return found == Role::kState;
  }
  return false;
}

class Verifier {
 public:
  Verifier(const Graph& graph, const GraphLocations& locations)
      : graph_(graph), locations_(locations) {}

  Diagnostics run() && {
    check_blocks();
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      place(locations_.tensors, i);
      check_tensor(graph_.tensors()[i]);
    }
    check_names(graph_.tensors(), "tensor", locations_.tensors);
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      place(locations_.ops, i);
      check_op(graph_.ops()[i]);
    }
    check_names(graph_.ops(), "op", locations_.ops);
    if (diagnostics_.empty()) {
      check_counts();
      check_order();
    }
    return std::move(diagnostics_);
  }

 private:
  void place(const std::vector<Location>& locations, std::size_t i) {
    here_ = i < locations.size() ? locations[i] : Location();
  }

  void error(std::string id, std::string message) {
    diagnostics_.push_back(
        {.id = std::move(id), .message = std::move(message), .location = here_, .label = {}});
  }

  template <typename Elements>
  void check_names(const Elements& elements, std::string_view what,
                   const std::vector<Location>& locations) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      place(locations, i);
      if (elements[i].name.empty()) {
        error("unnamed", fmt::format("{} {} has no name", what, i));
      } else if (!seen.insert(elements[i].name).second) {
        error("duplicate-name", fmt::format("a second {} is called '{}'", what, elements[i].name));
      }
    }
  }

  void check_blocks() {
    check_names(graph_.blocks(), "block", locations_.blocks);
    for (std::size_t i = 0; i < graph_.blocks().size(); ++i) {
      place(locations_.blocks, i);
      const Block& block = graph_.blocks()[i];
      if (block.count < 1 || static_cast<double>(block.count) > kGreatestDimension) {
        error("block-count",
              fmt::format("block '{}' has count {}, expected at least 1", block.name, block.count));
      }
    }
  }

  void check_block_of(std::string_view what, std::string_view name, BlockId block) {
    if (index(block) >= graph_.blocks().size()) {
      error("id-range", fmt::format("{} '{}' is in block {} of {}", what, name, index(block),
                                    graph_.blocks().size()));
    }
  }

  void check_tensor(const Tensor& tensor) {
    check_block_of("tensor", tensor.name, tensor.block);
    if (tensor.dtype == nullptr) {
      error("no-dtype", fmt::format("tensor '{}' has no dtype", tensor.name));
    }
    if (tensor.buffer && tensor.role != Role::kWeight) {
      error("buffer-role", fmt::format("tensor '{}' is a buffer and has role {}, expected weight",
                                       tensor.name, name_of(tensor.role)));
    }
    for (const Expr extent : tensor.shape) {
      const std::string what = fmt::format("an extent of tensor '{}'", tensor.name);
      check_expression(what, extent);
      check_extent(what, tensor, extent);
    }
  }

  void check_extent(const std::string& what, const Tensor& tensor, Expr extent) {
    if (extent && tensor.role == Role::kWeight && !extent.is_constant()) {
      error("weight-shape", fmt::format("{} depends on the workload, but it is a weight", what));
    }
    if (extent && extent.is_constant() && std::floor(extent.constant()) != extent.constant()) {
      error("fraction", fmt::format("{} is {}, expected a whole number", what, extent.constant()));
    }
  }

  /// A plain number over the workload that can be a dimension.
  void check_expression(const std::string& what, Expr expression) {
    if (!expression) {
      error("unbound-dimension", fmt::format("{} has no value", what));
      return;
    }
    if (expression.dimension() != kNumber) {
      error("expression-unit", fmt::format("{} has a unit, expected a plain number", what));
    }
    for (const Expr symbol : symbols_of(expression)) {
      if (!is_workload_symbol(symbol->symbol) && !is_declared(symbol->symbol)) {
        error("unknown-symbol",
              fmt::format("{} depends on '{}', expected only batch, q_len and context", what,
                          symbol->symbol));
      }
    }
    if (expression.is_constant() && !is_dimension(expression.constant())) {
      error("negative-count",
            fmt::format("{} is {}, expected a number from 0 to 2^53", what, expression.constant()));
    }
  }

  /// Whether the graph says that it has a dimension of that name.
  [[nodiscard]] bool is_declared(std::string_view name) const {
    return std::ranges::find(graph_.facts.symbols, name, &DimensionSymbol::name) !=
           graph_.facts.symbols.end();
  }

  void check_op(const Op& op) {
    check_block_of("op", op.name, op.block);
    if (op.def == nullptr) {
      error("unknown-kind", fmt::format("op '{}' has no kind", op.name));
      return;
    }
    check_dims(op);
    check_operands(op);
  }

  void check_dims(const Op& op) {
    for (const DimDef& dim : op.def->dims) {
      if (!dim.otherwise && !op.dims.contains(dim.name)) {
        error("unbound-dimension", fmt::format("op '{}' of kind {} does not bind '{}' ({})",
                                               op.name, op.def->name, dim.name, dim.meaning));
      }
    }
    for (const auto& [name, value] : op.dims) {
      if (std::ranges::find(op.def->dims, name, &DimDef::name) == op.def->dims.end()) {
        error("unknown-dimension", fmt::format("op '{}' binds '{}', which kind {} does not have",
                                               op.name, name, op.def->name));
      }
      check_expression(fmt::format("'{}' of op '{}'", name, op.name), value);
    }
  }

  void check_operands(const Op& op) {
    const std::vector<OperandDef>& defs = op.def->operands;
    if (op.operands.size() > defs.size()) {
      error("operand-count", fmt::format("op '{}' has {} operands, but kind {} has {}", op.name,
                                         op.operands.size(), op.def->name, defs.size()));
      return;
    }
    for (std::size_t i = 0; i < defs.size(); ++i) {
      const std::optional<TensorId> tensor = i < op.operands.size() ? op.operands[i] : std::nullopt;
      if (tensor) {
        check_operand(op, defs[i], *tensor);
      } else if (!defs[i].optional) {
        error("operand-missing",
              fmt::format("op '{}' of kind {} has no '{}'", op.name, op.def->name, defs[i].name));
      }
    }
  }

  void check_operand(const Op& op, const OperandDef& def, TensorId id) {
    if (index(id) >= graph_.tensors().size()) {
      error("id-range", fmt::format("operand '{}' of op '{}' is tensor {} of {}", def.name, op.name,
                                    index(id), graph_.tensors().size()));
      return;
    }
    const Tensor& tensor = graph_.tensor(id);
    if (!fits(def.role, tensor.role, def.access)) {
      error("operand-role",
            fmt::format("operand '{}' of op '{}' is '{}' of role {}, expected {}", def.name,
                        op.name, tensor.name, name_of(tensor.role), name_of(def.role)));
    }
  }

  /// Counts that have exact values must not be negative, and weights must hold what ops read.
  void check_counts() {
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      place(locations_.ops, i);
      const Op& op = graph_.ops()[i];
      for (const auto& [name, value] : op.dims) {
        check_not_negative(fmt::format("'{}' of op '{}'", name, op.name), value);
      }
      for (const OperandUse& use : uses_of(op)) {
        check_weight_is_large_enough(op, use);
      }
    }
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      place(locations_.tensors, i);
      for (const Expr extent : graph_.tensors()[i].shape) {
        check_not_negative(fmt::format("an extent of tensor '{}'", graph_.tensors()[i].name),
                           extent);
      }
    }
  }

  /// Counts need values of all symbols; those that a file names have none.
  [[nodiscard]] static bool is_countable(Expr expression) {
    return std::ranges::all_of(symbols_of(expression),
                               [](Expr symbol) { return is_workload_symbol(symbol->symbol); });
  }

  void check_not_negative(const std::string& what, Expr expression) {
    if (!is_countable(expression)) {
      return;
    }
    for (const Bindings& sample : kSamples) {
      const Result<Count> counted = count(expression, sample);
      if (counted && *counted < 0) {
        error("negative-count", fmt::format("{} is {} at a batch of {}, {} new tokens and a "
                                            "context of {}",
                                            what, to_string(*counted), *sample.find("batch"),
                                            *sample.find("q_len"), *sample.find("context")));
        return;
      }
    }
  }

  void check_weight_is_large_enough(const Op& op, const OperandUse& use) {
    const Tensor& tensor = graph_.tensor(use.tensor);
    if (tensor.role != Role::kWeight || tensor.buffer) {
      return;
    }
    const Expr touched = graph_.instantiate(op, use.def->touched);
    if (!is_countable(touched)) {
      return;
    }
    const Result<Count> held = count(graph_.elements(tensor), {});
    const Result<Count> read = count(touched, kSamples[0]);
    if (held && read && *read > *held) {
      error("weight-shape", fmt::format("op '{}' reads {} elements of '{}', which has {}", op.name,
                                        to_string(*read), tensor.name, to_string(*held)));
    }
  }

  /// The first op that writes each tensor, if one does.
  [[nodiscard]] std::vector<std::optional<std::size_t>> first_writers() const {
    std::vector<std::optional<std::size_t>> writers(graph_.tensors().size());
    for (std::size_t i = graph_.ops().size(); i-- > 0;) {
      for (const OperandUse& use : uses_of(graph_.ops()[i])) {
        writers[index(use.tensor)] = use.writes() ? i : writers[index(use.tensor)];
      }
    }
    return writers;
  }

  /// An activation that some op writes must be written before it is read, unless a repeated block
  /// hands it on to its next repetition.
  void check_order() {
    const std::vector<std::optional<std::size_t>> writers = first_writers();
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      place(locations_.ops, i);
      for (const OperandUse& use : uses_of(graph_.ops()[i])) {
        const std::size_t writer = writers[index(use.tensor)].value_or(0);
        const bool handed_on = repeats(i) && repeats(writer);
        if (!use.writes() && writer > i && !handed_on &&
            graph_.tensor(use.tensor).role == Role::kActivation) {
          error("read-before-write",
                fmt::format("op '{}' reads '{}' before op '{}' writes it", graph_.ops()[i].name,
                            graph_.tensor(use.tensor).name, graph_.ops()[writer].name));
        }
      }
    }
  }

  [[nodiscard]] bool repeats(std::size_t op) const {
    return graph_.block(graph_.ops()[op].block).count > 1;
  }

  const Graph& graph_;
  const GraphLocations& locations_;
  Diagnostics diagnostics_;
  Location here_;
};

}  // namespace

Diagnostics verify(const Graph& graph, const GraphLocations& locations) {
  return Verifier(graph, locations).run();
}

}  // namespace mansard::ir
