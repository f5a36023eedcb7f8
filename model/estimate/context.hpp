#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"
#include "model/calibration.hpp"
#include "model/capacities.hpp"
#include "model/cost_model.hpp"
#include "model/demand.hpp"

/// What an estimator sees and what it returns. `model/estimate/estimators.def` lists the
/// estimators: one file an op class.
namespace mansard::model {

struct OpContext {
  const ir::Graph& graph;
  const ir::Op& op;
  const Demand& demand;
  const Capacities& capacities;
  Parameters& parameters;
  const CostOptions& options;
  std::optional<Rate> rate;    ///< Of the contractions.
  Typed<BytesPerSecond> main;  ///< Device memory.

  [[nodiscard]] ir::ExprPool& pool() const { return graph.pool(); }
  /// The op's dimension of that name ("m", "n", "k"), or the value of one that may be left unbound.
  [[nodiscard]] ir::Expr dim(std::string_view name) const;
  /// The type of the operand called `name`.
  [[nodiscard]] const ir::Dtype& dtype(std::string_view operand) const;
  /// The demand of the operand called `name`; nullptr if the op has none.
  [[nodiscard]] const OperandDemand* operand(std::string_view name) const;
  /// A fact that changes no count, "" if the op does not state it: "function", "norm".
  [[nodiscard]] std::string_view attribute(std::string_view name) const;

  /// A calibration parameter of this op's class, of its usual variant.
  [[nodiscard]] ir::Expr parameter(std::string_view name,
                                   const Dimension& dimension = kNumber) const;
  /// One of another variant: "decode.bf16".
  [[nodiscard]] ir::Expr parameter_of(std::string_view variant, std::string_view name,
                                      const Dimension& dimension = kNumber) const;
  [[nodiscard]] std::string_view section() const;  ///< "matmul", "attention", "rows", "collective".
  /// The type that contractions compute in, "bf16"; where the weights have another one, that behind
  /// it: "fp8.fp8_block". Otherwise the collective, or what a row-wise kernel computes:
  /// "all_reduce", "rmsnorm"; plain streams share a group: "stream.copy".
  [[nodiscard]] std::string variant() const;
  /// The type that contractions compute in; "" if there are none.
  [[nodiscard]] std::string_view arithmetic() const;
};

/// An op's time as its pieces: `time` is the expression, `terms` the pieces a person reads.
struct OpEstimate {
  Typed<Seconds> time;  ///< As one of many equal kernels in a CUDA graph: their gap is in it.
  std::vector<Term> terms;
  ir::Expr launches;    ///< Kernels.
  ir::Expr calls;       ///< Calls of the host that issue them; absent: as many as kernels.
  Typed<Seconds> busy;  ///< The part of `time` that keeps the processors busy; absent: none.
  ir::Expr below;       ///< The interval is [estimate / below, estimate * above]; absent: by
  ir::Expr above;       ///< `interval.low` and `interval.high` of the class.
};

/// Whether a kernel's own time feels the power cap. In a chain the cap holds for the step as a
/// whole (model/totals.hpp).
[[nodiscard]] inline bool is_capped_alone(const CostOptions& options) {
  return options.regime == Regime::kSustained && !options.chained;
}

/// The estimate of an op as the options issue it.
[[nodiscard]] OpEstimate estimate(const OpContext& context);

}  // namespace mansard::model
