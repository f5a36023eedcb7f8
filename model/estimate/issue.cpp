#include "model/estimate/issue.hpp"

#include <fmt/format.h>

#include "model/estimate/pieces.hpp"

namespace mansard::model {
namespace {

/// A kernel takes at least this share of its time in a graph.
constexpr double kLeastShare = 0.5;

ir::Expr launch_parameter(const OpContext& context, std::string_view name) {
  return context.parameters.get(
      "launch", fmt::format("{}.{}", context.section(), context.op.def->name), name, kSecond);
}

void add_gap(const OpContext& context, OpEstimate& op) {
  const Typed<Seconds> gap(op.launches * launch_parameter(context, "node"));
  op.time = op.time + gap;
  op.terms.push_back({"gap", gap, {}});
}

void wait_for_host(const OpContext& context, OpEstimate& op) {
  const Typed<Seconds> host = host_time(context, op.calls);
  op.time = max(op.time, host);
  op.terms.push_back({"host", host, {}});
}

void leave_out_gap(const OpContext& context, OpEstimate& op) {
  const Typed<Seconds> gap(op.launches * launch_parameter(context, "gap"));
  op.time = max(op.time - gap, kLeastShare * op.time);
}

}  // namespace

Typed<Seconds> host_time(const OpContext& context, ir::Expr calls) {
  switch (context.options.mode) {
    case Mode::kStream:
      return Typed<Seconds>(calls * launch_parameter(context, "stream"));
    case Mode::kEager:
      return Typed<Seconds>(calls * launch_parameter(context, "eager"));
    case Mode::kGraph:
    case Mode::kKernel:
      break;
  }
  return estimators::no_time(context);
}

OpEstimate issued(const OpContext& context, OpEstimate op) {
  if (context.options.mode == Mode::kKernel) {
    leave_out_gap(context, op);
  } else if (context.options.chained) {
    add_gap(context, op);
  } else if (context.options.mode != Mode::kGraph) {
    wait_for_host(context, op);
  }
  return op;
}

}  // namespace mansard::model
