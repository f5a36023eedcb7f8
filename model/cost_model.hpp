#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "ir/expr_eval.hpp"
#include "ir/graph.hpp"
#include "model/calibration.hpp"
#include "model/capacities.hpp"
#include "model/demand.hpp"
#include "support/result.hpp"

/// A graph on a machine: every cost as an expression over workload symbols, machine paths and
/// calibration parameters.
///
///     auto cost = build_cost_model(graph, machine, calibration, {});
///     double seconds = ir::value(cost->estimate.expr(), cost->bindings_with({{"batch", 16},
///     ...}));
namespace mansard::model {

/// How kernels are issued; kKernel is a profiler's time of the kernel alone.
enum class Mode { kGraph, kStream, kEager, kKernel };
enum class Regime { kSustained, kBurst };  ///< Clocks under the power cap, or at their greatest.

struct CostOptions {
  Mode mode = Mode::kGraph;
  Regime regime = Regime::kSustained;
  std::string
      implementation;  ///< "" takes each op class's usual one ("cublaslt", "cudnn", "nccl").
  /// The ops run one after another as a step, each waiting for the one before. False for one op
  /// repeated alone, as single ops are measured.
  bool chained = true;
  DemandOptions demand;
};

/// The demand that a term of the bound divides by a capacity.
enum class Demanded { kMainBytes, kCacheBytes, kWork, kLinkBytes };

/// A named piece of a time: what takes it ("hbm", "l2", "matrix.bf16", "vector.fp32", "nvlink",
/// "launch") and how long.
struct Term {
  std::string resource;
  Typed<Seconds> time;
  std::string metric;  ///< The Nsight Compute metric that shows this resource's use.
  Demanded demanded = Demanded::kWork;  ///< Of terms of the bound.
};

/// One op on the machine, per execution.
struct OpCost {
  Demand demand;
  std::optional<Rate>
      rate;  ///< Of the contractions: field "matrix.bf16"; absent if there are none.
  std::vector<Term> bound_terms;  ///< The bound is the greatest of them.
  Typed<Seconds> bound;
  std::vector<Term> estimate_terms;  ///< How the estimate is made up, for a person to read.
  Typed<Seconds> estimate;           ///< bound <= low <= estimate <= high, by construction.
  Typed<Seconds> low;
  Typed<Seconds> high;
  ir::Expr launches;     ///< Kernels this op is run as.
  Typed<Seconds> host;   ///< Time of the host to issue them; none in a graph.
  Typed<Joules> joules;  ///< Absent where the machine or its calibration has no energy data.
  Typed<Joules> dynamic_joules;  ///< The part above idling; absent likewise.
};

/// A step's time and energy as functions of sums over its ops, each times its count: symbols
/// "sum.estimates" and "sum.host" (second), "sum.joules" and "sum.dynamic" (joule).
struct StepOfSums {
  Typed<Seconds> time;
  Typed<Joules> energy;  ///< Absent if any op's is.
};

struct CostModel {
  std::shared_ptr<const ir::Graph> graph;
  std::vector<OpCost> ops;  ///< In the order of the graph; totals count each `count(op)` times.
  Typed<Seconds> bound;
  Typed<Seconds> estimate;
  Typed<Seconds> low;
  Typed<Seconds> high;
  Typed<Joules> joules;         ///< Absent if any op's are.
  StepOfSums of_sums;           ///< What `estimate` and `joules` are of a chain of ops.
  ir::Bindings machine_values;  ///< Of machine paths and calibration parameters.
  std::vector<std::string> assumptions;

  [[nodiscard]] double count(const OpCost& op) const;
  /// The machine's and calibration's values with workload symbols added.
  [[nodiscard]] ir::Bindings bindings(const ir::Bindings& workload) const;
};

/// Errors: a figure that the model needs and the machine does not know, by name; a dtype that no
/// engine can compute.
[[nodiscard]] Result<CostModel> build_cost_model(const ir::Graph& graph,
                                                 const hardware::Machine& machine,
                                                 const Calibration& calibration,
                                                 const CostOptions& options);

}  // namespace mansard::model
