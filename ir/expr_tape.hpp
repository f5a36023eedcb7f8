#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/expr.hpp"

/// Expressions flattened for interpretation. Internal to `ir`.
///
/// A tape computes on slots: first the constants, then the symbols, then one for each other node.
/// Functions are compiled once each, into blocks with their own slots; since no function calls
/// itself, these are static, as is the state of each reduction. Nodes of one level and kind form a
/// run, which an interpreter does in one loop.
namespace mansard::ir {

using Slot = std::uint32_t;

/// What a run of instructions does: an operation of `ExprKind` (same names), or control.
enum class TapeOp : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kCeilDiv,
  kMod,
  kMin,
  kMax,
  kFloor,
  kLess,
  kSelect,
  kScale2,
  kExponent2,
  kCopy,      ///< Operand a to slot b.
  kEnter,     ///< Goes to the block `count`, then on with the next run.
  kReturn,    ///< Ends a block.
  kFirstRow,  ///< Loads the first row of reduction `count`.
  kNextRow,   ///< Takes the key of a row; loads the next and goes back to the kEnter before, if
              ///< there is one.
  kLeastRow,  ///< Loads the row of least key into the columns of the payload.
};

/// Operands of one instruction; b and c only where the operation has them.
struct TapeInstruction {
  Slot a = 0;
  Slot b = 0;
  Slot c = 0;
};

/// Instructions [begin, begin + count), whose results go to slots from `result` on.
struct TapeRun {
  TapeOp op = TapeOp::kCopy;
  std::uint32_t begin = 0;
  std::uint32_t count = 0;  ///< Of control: the block or reduction.
  Slot result = 0;
};

/// A reduction over the rows of a table.
struct TapeReduction {
  Reduction kind = Reduction::kMin;
  const Table* table = nullptr;
  Slot key_columns = 0;      ///< The slots of the key's first parameters.
  Slot key = 0;              ///< Where the key's block leaves its result.
  Slot accumulated = 0;      ///< The least, greatest or sum so far; of kAtMin the least key.
  Slot payload_columns = 0;  ///< kAtMin only.
};

class Tape {
 public:
  explicit Tape(std::span<const Expr> roots);

  std::vector<Expr> symbols;    ///< Sorted by name; their slots follow the constants'.
  std::vector<Expr> constants;  ///< Slot i holds constants[i].
  std::vector<TapeInstruction> instructions;
  std::vector<TapeRun> runs;
  std::vector<std::uint32_t> blocks;  ///< The first run of each function's block.
  std::vector<TapeReduction> reductions;
  std::vector<Slot> roots;
  std::vector<Expr> origins;  ///< The node that each slot holds; absent for slots of no node.
  std::uint32_t once = 0;     ///< The main block's first run, up to `main` independent of symbols.
  std::uint32_t main = 0;

  [[nodiscard]] std::size_t slots() const { return origins.size(); }
  [[nodiscard]] Slot first_symbol() const { return static_cast<Slot>(constants.size()); }
};

}  // namespace mansard::ir
