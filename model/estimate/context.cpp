#include "model/estimate/context.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>

#include "model/estimate/estimators.hpp"
#include "model/estimate/issue.hpp"

namespace mansard::model {
namespace {

struct Estimator {
  std::string_view kind;
  std::string_view section;
  OpEstimate (*function)(const OpContext&);
};

constexpr std::array kEstimators{
#define ESTIMATOR(kind, function) Estimator{#kind, #function, estimators::function},
#include "model/estimate/estimators.def"
#undef ESTIMATOR
};
constexpr Estimator kRows{"", "rows", estimators::rows};

const Estimator& estimator_of(std::string_view kind) {
  for (const Estimator& estimator : kEstimators) {
    if (estimator.kind == kind) {
      return estimator;
    }
  }
  return kRows;
}

/// Elementwise functions that do next to nothing but move data.
constexpr std::array<std::string_view, 14> kStreams{"add",  "addu", "copy", "div",  "divu",
                                                    "fill", "mul",  "mulu", "pow",  "powu",
                                                    "relu", "sub",  "sum",  "triad"};

/// What kernels do with int4 weights does not change with how many share a scale.
std::string_view kernel_format(std::string_view weights) {
  return weights.starts_with("int4_") ? "int4_wo" : weights;
}

bool is_stream(std::string_view function) {
  return std::ranges::find(kStreams, function) != kStreams.end();
}

}  // namespace

ir::Expr OpContext::dim(std::string_view name) const {
  if (const auto bound = op.dims.find(name); bound != op.dims.end()) {
    return bound->second;
  }
  const auto def = std::ranges::find(op.def->dims, name, &ir::DimDef::name);
  assert(def != op.def->dims.end() && def->otherwise);
  return pool().constant(*def->otherwise);
}

const ir::Dtype& OpContext::dtype(std::string_view operand) const {
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (op.operands[i] && op.def->operands[i].name == operand) {
      return *graph.tensor(*op.operands[i]).dtype;
    }
  }
  assert(false && "the op has that operand");
  return *graph.tensor(*op.operands.front()).dtype;
}

const OperandDemand* OpContext::operand(std::string_view name) const {
  for (const OperandDemand& candidate : demand.operands) {
    if (candidate.def->name == name) {
      return &candidate;
    }
  }
  return nullptr;
}

std::string_view OpContext::attribute(std::string_view name) const {
  const auto found = op.attributes.find(name);
  return found == op.attributes.end() ? std::string_view() : std::string_view(found->second);
}

ir::Expr OpContext::parameter(std::string_view name, const Dimension& dimension) const {
  return parameters.get(section(), variant(), name, dimension);
}

ir::Expr OpContext::parameter_of(std::string_view variant, std::string_view name,
                                 const Dimension& dimension) const {
  return parameters.get(section(), variant, name, dimension);
}

std::string_view OpContext::section() const {
  return estimator_of(op.def->name).section;
}

std::string_view OpContext::arithmetic() const {
  if (!rate) {
    return {};
  }
  const std::string_view field = rate->field;
  return field.substr(field.find('.') + 1);
}

std::string OpContext::variant() const {
  if (const std::string_view function = attribute("function"); is_stream(function)) {
    return fmt::format("stream.{}", function);
  }
  for (const std::string_view name : {"function", "norm"}) {
    if (const std::string_view value = attribute(name); !value.empty()) {
      return std::string(value);
    }
  }
  if (!rate) {
    return std::string(op.def->name);
  }
  std::string result(arithmetic());
  if (operand("w") != nullptr && dtype("w").name != result) {
    result += fmt::format(".{}", kernel_format(dtype("w").name));
  }
  return result;
}

OpEstimate estimate(const OpContext& context) {
  OpEstimate result = estimator_of(context.op.def->name).function(context);
  if (!result.below) {
    result.below = context.parameter("interval.low");
    result.above = context.parameter("interval.high");
  }
  if (!result.calls) {
    result.calls = result.launches;
  }
  return issued(context, std::move(result));
}

}  // namespace mansard::model
