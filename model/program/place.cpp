#include <algorithm>
#include <set>

#include "model/program/lower.hpp"

namespace mansard::model {
namespace {

using ir::ExprKind;

/// Levels, loops and slots of a lowered program.
class Placing {
 public:
  explicit Placing(Program& program) : program_(program), loops_of_(program.nodes.size()) {}

  void place(const Program::Symbols& symbols) {
    sort_symbols(symbols);
    for (NodeId id = 0; id < program_.nodes.size(); ++id) {
      place_node(id);
    }
    lay_out(Level::kFixed, program_.fixed_slots);
    lay_out(Level::kRow, program_.row_slots);
  }

 private:
  using Loops = std::set<LoopId>;

  /// Each symbol to its level's list, and its nodes to its place there.
  void sort_symbols(const Program::Symbols& symbols) {
    const std::vector<std::string> all = std::move(program_.fixed_symbols);
    program_.fixed_symbols.clear();
    program_.row_symbols = symbols.row;
    program_.point_symbols = symbols.point;
    std::vector<std::string> sorted = all;
    std::ranges::sort(sorted);
    for (const std::string& name : sorted) {
      if (index_in(symbols.row, name) == kNoNode && index_in(symbols.point, name) == kNoNode) {
        program_.fixed_symbols.push_back(name);
      }
    }
    for (ProgramNode& node : program_.nodes) {
      if (node.kind == ExprKind::kSymbol && node.loop == kNoLoop) {
        place_symbol(node, all[node.a]);
      }
    }
  }

  void place_symbol(ProgramNode& node, const std::string& name) const {
    for (const auto& [names, level] : {std::pair(&program_.point_symbols, Level::kPoint),
                                       std::pair(&program_.row_symbols, Level::kRow),
                                       std::pair(&program_.fixed_symbols, Level::kFixed)}) {
      if (const NodeId at = index_in(*names, name); at != kNoNode) {
        node.level = level;
        node.a = at;
        return;
      }
    }
  }

  static NodeId index_in(const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? kNoNode : static_cast<NodeId>(found - names.begin());
  }

  void place_node(NodeId id) {
    ProgramNode& node = program_.nodes[id];
    if (node.kind == ExprKind::kSymbol) {
      if (node.loop != kNoLoop) {
        loops_of_[id] = {node.loop};
      }
      return;
    }
    Loops& loops = loops_of_[id];
    for (const NodeId operand : program_.operands(node)) {
      node.level = std::max(node.level, program_.nodes[operand].level);
      loops.insert(loops_of_[operand].begin(), loops_of_[operand].end());
    }
    if (node.kind == ExprKind::kReduce) {
      loops.erase(node.a);
      place_loop(program_.loops[node.a], loops);
    }
    node.loop = innermost(loops);
    // Arrays are of one loop only: what depends on rows of two is computed where it is used.
    node.level = loops.size() > 1 ? Level::kPoint : node.level;
  }

  void place_loop(ProgramLoop& loop, const Loops& around) const {
    loop.parent = innermost(around);
    loop.depth = loop.parent == kNoLoop ? 1 : program_.loops[loop.parent].depth + 1;
  }

  /// Loops are numbered as they are opened, outer ones first.
  static LoopId innermost(const Loops& loops) { return loops.empty() ? kNoLoop : *loops.rbegin(); }

  /// Slots for what is of `level` and read by a later one.
  void lay_out(Level level, std::vector<Slot>& slots) const {
    std::set<NodeId> crossing;
    for (const ProgramNode& node : program_.nodes) {
      for (const NodeId operand : program_.operands(node)) {
        if (crosses(operand, level) && node.level > level) {
          crossing.insert(operand);
        }
      }
    }
    for (const NodeId root : program_.roots) {
      if (crosses(root, level)) {
        crossing.insert(root);
      }
    }
    std::size_t offset = 0;
    for (const NodeId node : crossing) {
      const LoopId loop = program_.nodes[node].loop;
      const std::size_t count = loop == kNoLoop ? 1 : program_.loops[loop].rows;
      slots.push_back({node, offset, count});
      offset += count;
    }
  }

  /// Whether a node is of `level` and has to be handed on; symbols of a row and constants are at
  /// hand everywhere.
  [[nodiscard]] bool crosses(NodeId id, Level level) const {
    const ProgramNode& node = program_.nodes[id];
    const bool at_hand = node.kind == ExprKind::kConstant ||
                         (node.kind == ExprKind::kSymbol && level == Level::kRow);
    return node.level == level && !at_hand;
  }

  Program& program_;
  std::vector<Loops> loops_of_;
};

}  // namespace

void place(const Program::Symbols& symbols, Program& program) {
  Placing(program).place(symbols);
}

}  // namespace mansard::model
