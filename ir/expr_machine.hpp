#pragma once

#include <cstdint>
#include <span>

#include "ir/expr_tape.hpp"

/// The interpreter of tapes, over doubles (ir/expr_eval.cpp) and over exact integers
/// (ir/expr_count.cpp). Internal to `ir`.
namespace mansard::ir {

/// Runs blocks of a tape. `Arithmetic` gives `Value`, `apply<op>(slot, a, b, c)` for each operation
/// and `from(double)`. `control` holds a row and a best row for each reduction, then the return
/// stack: `control_size` in all.
template <typename Arithmetic>
class TapeMachine {
 public:
  using Value = typename Arithmetic::Value;

  TapeMachine(const Tape& tape, Arithmetic& arithmetic, std::span<Value> slots,
              std::span<std::uint32_t> control)
      : tape_(tape), arithmetic_(arithmetic), slots_(slots.data()), control_(control) {}

  [[nodiscard]] static std::size_t control_size(const Tape& tape) {
    return 2 * tape.reductions.size() + tape.blocks.size();
  }

  /// Runs from run `next` to the end of its block.
  void run(std::uint32_t next) {
    const std::size_t bottom = 2 * tape_.reductions.size();
    std::size_t top = bottom;
    for (;; ++next) {
      const TapeRun& run = tape_.runs[next];
      switch (run.op) {
        case TapeOp::kEnter:
          control_[top++] = next;
          next = tape_.blocks[run.count] - 1;
          break;
        case TapeOp::kReturn:
          if (top == bottom) {
            return;
          }
          next = control_[--top];
          break;
        case TapeOp::kNextRow:
          next -= take_row(run.count) ? 2 : 0;
          break;
        default:
          step(run);
      }
    }
  }

 private:
  void step(const TapeRun& run) {
    switch (run.op) {
      case TapeOp::kFirstRow:
        return load_first_row(run.count);
      case TapeOp::kLeastRow:
        return load_least_row(run.count);
      case TapeOp::kCopy:
        return copy(run);
      default:
        return operate(run);
    }
  }

  void operate(const TapeRun& run) {
    switch (run.op) {
      case TapeOp::kAdd:
        return each<TapeOp::kAdd>(run);
      case TapeOp::kSub:
        return each<TapeOp::kSub>(run);
      case TapeOp::kMul:
        return each<TapeOp::kMul>(run);
      case TapeOp::kDiv:
        return each<TapeOp::kDiv>(run);
      case TapeOp::kFloorDiv:
        return each<TapeOp::kFloorDiv>(run);
      case TapeOp::kCeilDiv:
        return each<TapeOp::kCeilDiv>(run);
      case TapeOp::kMod:
        return each<TapeOp::kMod>(run);
      case TapeOp::kMin:
        return each<TapeOp::kMin>(run);
      case TapeOp::kMax:
        return each<TapeOp::kMax>(run);
      case TapeOp::kFloor:
        return each<TapeOp::kFloor>(run);
      case TapeOp::kLess:
        return each<TapeOp::kLess>(run);
      case TapeOp::kSelect:
        return each<TapeOp::kSelect>(run);
      case TapeOp::kScale2:
        return each<TapeOp::kScale2>(run);
      default:
        return each<TapeOp::kExponent2>(run);
    }
  }

  template <TapeOp op>
  void each(const TapeRun& run) {
    const TapeInstruction* instruction = &tape_.instructions[run.begin];
    const Slot end = run.result + run.count;
    for (Slot result = run.result; result != end; ++result, ++instruction) {
      slots_[result] = arithmetic_.template apply<op>(
          result, slots_[instruction->a], slots_[instruction->b], slots_[instruction->c]);
    }
  }

  void copy(const TapeRun& run) {
    for (std::uint32_t i = run.begin; i != run.begin + run.count; ++i) {
      slots_[tape_.instructions[i].b] = slots_[tape_.instructions[i].a];
    }
  }

  std::uint32_t& row(std::size_t reduction) { return control_[2 * reduction]; }
  std::uint32_t& least_row(std::size_t reduction) { return control_[2 * reduction + 1]; }

  void load_row(const TapeReduction& reduction, std::uint32_t row, Slot columns) {
    for (const double value : reduction.table->row(row)) {
      slots_[columns++] = arithmetic_.from(value);
    }
  }

  void load_first_row(std::uint32_t index) {
    row(index) = 0;
    least_row(index) = 0;
    load_row(tape_.reductions[index], 0, tape_.reductions[index].key_columns);
  }

  void load_least_row(std::uint32_t index) {
    const TapeReduction& reduction = tape_.reductions[index];
    load_row(reduction, least_row(index), reduction.payload_columns);
  }

  /// Takes the key of the present row in; whether another row was loaded.
  bool take_row(std::uint32_t index) {
    const TapeReduction& reduction = tape_.reductions[index];
    const std::uint32_t taken = row(index)++;
    accumulate(reduction, taken, least_row(index));
    const bool more = taken + 1 < reduction.table->rows();
    if (more) {
      load_row(reduction, taken + 1, reduction.key_columns);
    }
    return more;
  }

  void accumulate(const TapeReduction& reduction, std::uint32_t row, std::uint32_t& least_row) {
    const Slot slot = reduction.accumulated;
    const Value key = slots_[reduction.key];
    Value& sum = slots_[slot];
    if (row == 0) {
      sum = key;
      return;
    }
    switch (reduction.kind) {
      case Reduction::kMin:
        sum = arithmetic_.template apply<TapeOp::kMin>(slot, sum, key, key);
        return;
      case Reduction::kMax:
        sum = arithmetic_.template apply<TapeOp::kMax>(slot, sum, key, key);
        return;
      case Reduction::kSum:
        sum = arithmetic_.template apply<TapeOp::kAdd>(slot, sum, key, key);
        return;
      case Reduction::kAtMin:
        if (arithmetic_.is_less(key, sum)) {
          sum = key;
          least_row = row;
        }
    }
  }

  const Tape& tape_;
  Arithmetic& arithmetic_;
  Value* slots_;
  std::span<std::uint32_t> control_;
};

}  // namespace mansard::ir
