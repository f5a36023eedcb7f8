#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/expr.hpp"

/// Expressions lowered for evaluation at many points: plain data, which the interpreter beside it
/// runs and LLVM (model/compile) compiles. Nothing here depends on LLVM.
///
/// The symbols of a program are of three levels: *fixed* for its life, the same along a *row* of
/// points, or different at each *point*. A node is of the greatest level among what it depends on,
/// and is computed once for each change of that level, not more: a sweep of the bandwidth at each
/// of many batches computes per batch what does not depend on the bandwidth.
///
/// A reduction over a table is a *loop* over its rows, its functions inlined where they are called.
/// What depends on the row and on a lower level only is computed once per row of the table and kept
/// in an array.
namespace mansard::model {

enum class Level : std::uint8_t { kFixed, kRow, kPoint };

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};
using LoopId = std::uint32_t;
inline constexpr LoopId kNoLoop = ~LoopId{0};

/// A node: an operation of ir::ExprKind on earlier nodes, which means what ir/expr_semantics.hpp
/// says.
///
///   kConstant  `constant`
///   kSymbol    `a` indexes `Program::symbols`; of a loop's column, of a function's parameters
///   kCall      `a` indexes `functions`, `b` the first of its arguments in `arguments`
///   kReduce    `a` indexes `loops`
struct ProgramNode {
  ir::ExprKind kind = ir::ExprKind::kConstant;
  Level level = Level::kFixed;
  LoopId loop = kNoLoop;  ///< The innermost loop whose row it depends on.
  NodeId a = kNoNode;
  NodeId b = kNoNode;
  NodeId c = kNoNode;
  double constant = 0;
};

/// A closed function that is kept whole: pow, exp2, log2. Its nodes refer to each other only; its
/// kSymbol nodes are its parameters.
struct ProgramFunction {
  std::string name;
  std::size_t parameters = 0;
  std::vector<ProgramNode> nodes;
  std::vector<NodeId> arguments;
  NodeId result = kNoNode;
};

/// A reduction over the rows of a table; its kSymbol nodes of this loop are the columns.
struct ProgramLoop {
  ir::Reduction kind = ir::Reduction::kMin;
  std::size_t rows = 0;
  NodeId key = kNoNode;
  NodeId payload = kNoNode;  ///< kAtMin only.
  NodeId result = kNoNode;   ///< The kReduce node.
  LoopId parent = kNoLoop;
  std::size_t depth = 1;
  std::size_t columns = 0;
  std::vector<double> table;  ///< Row-major.
};

/// A value that crosses levels: computed at its node's level, read by nodes of a later one. Of a
/// node in a loop it is an array with an element for each row.
struct Slot {
  NodeId node = kNoNode;
  std::size_t offset = 0;  ///< In doubles, in the buffer of its level.
  std::size_t count = 1;
};

class Program {
 public:
  /// Which symbols differ along a row's points and from row to row; all others are fixed.
  struct Symbols {
    std::vector<std::string> row;
    std::vector<std::string> point;
  };
  Program(std::span<const ir::Expr> roots, const Symbols& symbols);

  std::vector<ProgramNode> nodes;  ///< Operands before their users.
  std::vector<NodeId> arguments;
  std::vector<ProgramFunction> functions;
  std::vector<ProgramLoop> loops;
  std::vector<NodeId> roots;
  std::vector<std::string> fixed_symbols;  ///< Those that are read, sorted.
  std::vector<std::string> row_symbols;
  std::vector<std::string> point_symbols;
  std::vector<Slot> fixed_slots;  ///< What levels above kFixed read.
  std::vector<Slot> row_slots;    ///< What points read of the row.

  [[nodiscard]] std::size_t fixed_size() const;  ///< Doubles of the buffer of `fixed_slots`.
  [[nodiscard]] std::size_t row_size() const;
  /// Operands of any node, arguments and a loop's roots among them.
  [[nodiscard]] std::vector<NodeId> operands(const ProgramNode& node) const;
  /// Whether `loop` is `outer` or inside of it.
  [[nodiscard]] bool is_within(LoopId loop, LoopId outer) const;
  /// Text that two programs share only if the same machine code serves both: what is fixed is left
  /// out.
  [[nodiscard]] std::string fingerprint() const;
};

}  // namespace mansard::model
