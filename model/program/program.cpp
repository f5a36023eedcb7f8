#include "model/program/program.hpp"

#include <fmt/format.h>

#include "model/program/lower.hpp"

namespace mansard::model {
namespace {

using ir::ExprKind;

std::size_t size_of(const std::vector<Slot>& slots) {
  return slots.empty() ? 0 : slots.back().offset + slots.back().count;
}

void print(const ProgramNode& node, fmt::memory_buffer& out) {
  fmt::format_to(fmt::appender(out), "{} {} {} {} {} {} {:a}\n", static_cast<int>(node.kind),
                 static_cast<int>(node.level), node.loop, node.a, node.b, node.c, node.constant);
}

}  // namespace

Program::Program(std::span<const ir::Expr> roots, const Symbols& symbols) {
  lower(roots, *this);
  place(symbols, *this);
}

std::size_t Program::fixed_size() const {
  return size_of(fixed_slots);
}
std::size_t Program::row_size() const {
  return size_of(row_slots);
}

std::vector<NodeId> Program::operands(const ProgramNode& node) const {
  switch (node.kind) {
    case ExprKind::kConstant:
    case ExprKind::kSymbol:
      return {};
    case ExprKind::kCall: {
      const auto first = arguments.begin() + node.b;
      return {first, first + static_cast<std::ptrdiff_t>(functions[node.a].parameters)};
    }
    case ExprKind::kReduce: {
      const ProgramLoop& loop = loops[node.a];
      return loop.payload == kNoNode ? std::vector{loop.key} : std::vector{loop.key, loop.payload};
    }
    default: {
      std::vector<NodeId> result{node.a};
      for (const NodeId operand : {node.b, node.c}) {
        if (operand != kNoNode) {
          result.push_back(operand);
        }
      }
      return result;
    }
  }
}

bool Program::is_within(LoopId loop, LoopId outer) const {
  while (loop != outer && loop != kNoLoop) {
    loop = loops[loop].parent;
  }
  return loop == outer;
}

std::string Program::fingerprint() const {
  fmt::memory_buffer out;
  for (const ProgramNode& node : nodes) {
    if (node.level == Level::kFixed && node.kind != ExprKind::kConstant) {
      fmt::format_to(fmt::appender(out), "fixed {}\n", node.loop);
    } else {
      print(node, out);
    }
  }
  for (const ProgramFunction& function : functions) {
    fmt::format_to(fmt::appender(out), "function {} {}\n", function.parameters, function.result);
    for (const ProgramNode& node : function.nodes) {
      print(node, out);
    }
  }
  for (const ProgramLoop& loop : loops) {
    fmt::format_to(fmt::appender(out), "loop {} {} {} {} {} {}\n", static_cast<int>(loop.kind),
                   loop.rows, loop.key, loop.payload, loop.result, loop.parent);
  }
  for (const auto* list : {&arguments, &roots}) {
    fmt::format_to(fmt::appender(out), "list {}\n", fmt::join(*list, " "));
  }
  for (const auto* slots : {&fixed_slots, &row_slots}) {
    for (const Slot& slot : *slots) {
      fmt::format_to(fmt::appender(out), "slot {} {} {}\n", slot.node, slot.offset, slot.count);
    }
  }
  return fmt::to_string(out);
}

}  // namespace mansard::model
