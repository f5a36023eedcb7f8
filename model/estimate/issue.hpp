#pragma once

#include "model/estimate/context.hpp"

/// How the mode of issue changes a kernel's time.
namespace mansard::model {

/// The time of an op that alone in a graph takes `op.time`:
///
///   graph   in a chain of ops, + launches * node: a kernel that depends on another one starts
///   later than one that repeats
///           (parameter launch.node; H200 0.94 us, fitted on decode steps of three models,
///           2026-11-30)
///   stream  alone, max(time, calls * launch.stream): the host issues kernels no faster
///   eager   alone, max(time, calls * launch.eager); in a chain as graph, and the totals take the
///   maximum over the step kernel  time - launches * launch.gap, but at least half of it: a
///   profiler's time leaves out the gap between kernels
[[nodiscard]] OpEstimate issued(const OpContext& context, OpEstimate op);

/// Time in which the host makes `calls` of this op's class; no time in a graph.
[[nodiscard]] Typed<Seconds> host_time(const OpContext& context, ir::Expr calls);

}  // namespace mansard::model
