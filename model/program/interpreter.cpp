#include "model/program/interpreter.hpp"

#include <algorithm>

#include "ir/expr_semantics.hpp"

namespace mansard::model {
namespace {

using ir::ExprKind;
namespace semantics = ir::semantics;

double apply(ExprKind kind, double a, double b, double c) {
  switch (kind) {
    case ExprKind::kAdd:
      return a + b;
    case ExprKind::kSub:
      return a - b;
    case ExprKind::kMul:
      return a * b;
    case ExprKind::kDiv:
      return a / b;
    case ExprKind::kFloorDiv:
      return semantics::floor_div(a, b);
    case ExprKind::kCeilDiv:
      return semantics::ceil_div(a, b);
    case ExprKind::kMod:
      return semantics::mod(a, b);
    case ExprKind::kMin:
      return semantics::min(a, b);
    case ExprKind::kMax:
      return semantics::max(a, b);
    case ExprKind::kFloor:
      return semantics::floor(a);
    case ExprKind::kLess:
      return semantics::less(a, b);
    case ExprKind::kSelect:
      return semantics::select(a, b, c);
    case ExprKind::kScale2:
      return semantics::scale2(a, b);
    default:
      return semantics::exponent2(a);
  }
}

double value_of(std::span<const double> values, NodeId id) {
  return id == kNoNode ? 0 : values[id];
}

}  // namespace

ProgramInterpreter::ProgramInterpreter(const Program& program)
    : program_(&program),
      values_(program.nodes.size()),
      least_payload_(program.loops.size()),
      arrays_(program.nodes.size()),
      members_(program.loops.size()) {
  for (NodeId id = 0; id < program.nodes.size(); ++id) {
    const LoopId loop = program.nodes[id].loop;
    (loop == kNoLoop ? outside_ : members_[loop]).push_back(id);
  }
  for (const auto* slots : {&program.fixed_slots, &program.row_slots}) {
    for (const Slot& slot : *slots) {
      if (program.nodes[slot.node].loop != kNoLoop) {
        arrays_[slot.node].resize(slot.count);
      }
    }
  }
}

void ProgramInterpreter::set_fixed(std::span<const double> values) {
  run(Level::kFixed, values);
}

void ProgramInterpreter::set_row(std::span<const double> values) {
  run(Level::kRow, values);
}

void ProgramInterpreter::evaluate(std::span<const double> values, std::span<double> out) {
  run(Level::kPoint, values);
  std::ranges::transform(program_->roots, out.begin(), [this](NodeId id) { return values_[id]; });
}

std::vector<double> ProgramInterpreter::fixed_buffer() const {
  std::vector<double> buffer(program_->fixed_size());
  for (const Slot& slot : program_->fixed_slots) {
    if (arrays_[slot.node].empty()) {
      buffer[slot.offset] = values_[slot.node];
    } else {
      std::ranges::copy(arrays_[slot.node],
                        buffer.begin() + static_cast<std::ptrdiff_t>(slot.offset));
    }
  }
  return buffer;
}

void ProgramInterpreter::run(Level level, std::span<const double> symbols) {
  symbols_ = symbols;
  for (const NodeId id : outside_) {
    if (program_->nodes[id].level == level) {
      compute(id);
    }
  }
  fill_arrays(level);
}

void ProgramInterpreter::compute(NodeId id) {
  const ProgramNode& node = program_->nodes[id];
  switch (node.kind) {
    case ExprKind::kConstant:
      values_[id] = node.constant;
      return;
    case ExprKind::kSymbol:
      values_[id] = symbols_[node.a];
      return;
    case ExprKind::kCall:
      values_[id] = call(node);
      return;
    case ExprKind::kReduce:
      return run_loop(node.a, node.level);
    default:
      values_[id] =
          apply(node.kind, values_[node.a], value_of(values_, node.b), value_of(values_, node.c));
  }
}

double ProgramInterpreter::call(const ProgramNode& call) const {
  const ProgramFunction& function = program_->functions[call.a];
  std::vector<double> values(function.nodes.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ProgramNode& node = function.nodes[i];
    if (node.kind == ExprKind::kConstant) {
      values[i] = node.constant;
    } else if (node.kind == ExprKind::kSymbol) {
      values[i] = values_[program_->arguments[call.b + node.a]];
    } else {
      values[i] =
          apply(node.kind, values[node.a], value_of(values, node.b), value_of(values, node.c));
    }
  }
  return values[function.result];
}

void ProgramInterpreter::run_loop(LoopId id, Level level) {
  const ProgramLoop& loop = program_->loops[id];
  for (std::size_t row = 0; row < loop.rows; ++row) {
    compute_members(id, row, level);
    take_row(loop, row);
  }
  if (loop.kind == ir::Reduction::kAtMin) {
    values_[loop.result] = least_payload_[id];
  }
}

void ProgramInterpreter::take_row(const ProgramLoop& loop, std::size_t row) {
  const double key = values_[loop.key];
  double& sum = values_[loop.result];
  const bool first = row == 0;
  switch (loop.kind) {
    case ir::Reduction::kMin:
      sum = first ? key : semantics::min(sum, key);
      return;
    case ir::Reduction::kMax:
      sum = first ? key : semantics::max(sum, key);
      return;
    case ir::Reduction::kSum:
      sum = first ? key : sum + key;
      return;
    case ir::Reduction::kAtMin:
      if (first || key < sum) {
        sum = key;
        least_payload_[program_->nodes[loop.result].a] = values_[loop.payload];
      }
  }
}

void ProgramInterpreter::compute_members(LoopId loop, std::size_t row, Level level) {
  for (const NodeId id : members_[loop]) {
    const ProgramNode& node = program_->nodes[id];
    if (node.level < level) {
      values_[id] = arrays_[id].empty() ? 0 : arrays_[id][row];
    } else if (node.kind == ExprKind::kSymbol) {
      const ProgramLoop& of = program_->loops[loop];
      values_[id] = of.table[row * of.columns + node.a];
    } else if (node.level == level) {
      compute(id);
    }
  }
}

bool ProgramInterpreter::has_arrays(LoopId loop, Level level) const {
  return std::ranges::any_of(members_[loop], [&](NodeId id) {
    return program_->nodes[id].level == level && !arrays_[id].empty();
  });
}

void ProgramInterpreter::fill_arrays(Level level) {
  for (LoopId loop = 0; loop < program_->loops.size(); ++loop) {
    if (!has_arrays(loop, level)) {
      continue;
    }
    for (std::size_t row = 0; row < program_->loops[loop].rows; ++row) {
      compute_members(loop, row, level);
      for (const NodeId id : members_[loop]) {
        if (program_->nodes[id].level == level && !arrays_[id].empty()) {
          arrays_[id][row] = values_[id];
        }
      }
    }
  }
}

}  // namespace mansard::model
