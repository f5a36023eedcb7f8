#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "ir/typed.hpp"
#include "support/quantity.hpp"

/// What each op of a graph asks of a machine, as expressions over the workload.
namespace mansard::model {

template <typename Q>
using Typed = ir::Typed<Q>;

/// One operand's share of an op's traffic. Expected values; `least` is what no implementation can
/// avoid (they differ for experts only). Read-write operands count twice.
struct OperandDemand {
  const ir::OperandDef* def = nullptr;
  ir::TensorId tensor{};
  Typed<Bytes> bytes;
  Typed<Bytes> least;
  Typed<Bytes> main;        ///< The part of `bytes` that must cross device memory.
  Typed<Bytes> main_least;  ///< The part of `least` that must.
};

/// Demand of one execution of one op.
struct Demand {
  ir::OpId op{};
  Typed<Flops> flops;         ///< Contractions.
  Typed<Flops> vector_flops;  ///< Elementwise arithmetic.
  ir::Expr special_ops;       ///< exp, rsqrt, tanh; a plain number.
  Typed<Bytes> bytes;
  Typed<Bytes> bytes_least;
  Typed<Bytes> main_bytes;
  Typed<Bytes> main_least;
  Typed<Bytes> link_bytes;  ///< What this device must send to its peers.
  std::vector<OperandDemand> operands;
};

struct DemandOptions {
  /// Tensors that come from outside the graph or leave it cross device memory. False for one op
  /// measured alone, whose inputs a neighbour has just written.
  bool boundary_crosses = true;
  /// Weights, caches and state cross device memory whatever their size. False for an op repeated
  /// alone: up to a cache full of each operand may stay from one run to the next, and `least`
  /// leaves it out.
  bool weights_cross = true;
};

/// The demand of every op, in the order of the graph. Weights, KV cache, state and the graph's
/// inputs and outputs cross device memory; other activations do when they are larger than the
/// last-level cache, whose capacity is `last_level` (byte).
[[nodiscard]] std::vector<Demand> demands(const ir::Graph& graph, ir::Expr last_level,
                                          const DemandOptions& options = {});

}  // namespace mansard::model
