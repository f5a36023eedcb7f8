#include "ir/expr_eval.hpp"

#include <algorithm>
#include <cassert>

#include "ir/expr_machine.hpp"
#include "ir/expr_semantics.hpp"
#include "ir/expr_tape.hpp"

namespace mansard::ir {

namespace {

/// Doubles, as ir/expr_semantics.hpp defines.
struct DoubleArithmetic {
  using Value = double;

  static double from(double value) { return value; }
  static bool is_less(double a, double b) { return a < b; }

  template <TapeOp op>
  static double apply(Slot, double a, double b, double c) {
    if constexpr (op == TapeOp::kAdd) {
      return a + b;
    } else if constexpr (op == TapeOp::kSub) {
      return a - b;
    } else if constexpr (op == TapeOp::kMul) {
      return a * b;
    } else if constexpr (op == TapeOp::kDiv) {
      return a / b;
    } else if constexpr (op == TapeOp::kMin) {
      return semantics::min(a, b);
    } else if constexpr (op == TapeOp::kMax) {
      return semantics::max(a, b);
    } else if constexpr (op == TapeOp::kFloor) {
      return semantics::floor(a);
    } else if constexpr (op == TapeOp::kLess) {
      return semantics::less(a, b);
    } else if constexpr (op == TapeOp::kSelect) {
      return semantics::select(a, b, c);
    } else if constexpr (op == TapeOp::kScale2) {
      return semantics::scale2(a, b);
    } else if constexpr (op == TapeOp::kExponent2) {
      return semantics::exponent2(a);
    } else {
      return divide_integers<op>(a, b);
    }
  }

  template <TapeOp op>
  static double divide_integers(double a, double b) {
    assert(semantics::is_dimension_sized(a) && semantics::is_dimension_sized(b));
    if constexpr (op == TapeOp::kFloorDiv) {
      return semantics::floor_div(a, b);
    } else if constexpr (op == TapeOp::kCeilDiv) {
      return semantics::ceil_div(a, b);
    } else {
      static_assert(op == TapeOp::kMod);
      return semantics::mod(a, b);
    }
  }
};

using Machine = TapeMachine<DoubleArithmetic>;

void run_block(const Tape& tape, std::span<double> slots, std::span<std::uint32_t> control,
               std::uint32_t first_run) {
  DoubleArithmetic arithmetic;
  Machine(tape, arithmetic, slots, control).run(first_run);
}

}  // namespace

Bindings::Bindings(std::initializer_list<std::pair<std::string_view, double>> values) {
  for (const auto& [name, value] : values) {
    set(name, value);
  }
}

void Bindings::set(std::string_view name, double value) {
  values_.insert_or_assign(std::string(name), value);
}

const double* Bindings::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

double value(Expr expression, const Bindings& bindings) {
  double result = 0;
  Evaluator({&expression, 1}).evaluate(bindings, {&result, 1});
  return result;
}

Evaluator::Evaluator(std::span<const Expr> roots)
    : tape_(std::make_shared<const Tape>(roots)),
      slots_(tape_->slots()),
      control_(Machine::control_size(*tape_)) {
  std::ranges::transform(tape_->constants, slots_.begin(), [](Expr e) { return e.constant(); });
  run_block(*tape_, slots_, control_, tape_->once);
}

std::span<const Expr> Evaluator::symbols() const {
  return tape_->symbols;
}

void Evaluator::evaluate(std::span<const double> symbol_values, std::span<double> out) {
  assert(symbol_values.size() == symbols().size());
  std::ranges::copy(symbol_values, slots_.begin() + tape_->first_symbol());
  run(out);
}

void Evaluator::evaluate(const Bindings& bindings, std::span<double> out) {
  Slot slot = tape_->first_symbol();
  for (const Expr symbol : symbols()) {
    const double* bound = bindings.find(symbol->symbol);
    assert(bound != nullptr && "every symbol is bound");
    slots_[slot++] = *bound;
  }
  run(out);
}

void Evaluator::run(std::span<double> out) {
  assert(out.size() == tape_->roots.size());
  run_block(*tape_, slots_, control_, tape_->main);
  std::ranges::transform(tape_->roots, out.begin(), [this](Slot slot) { return slots_[slot]; });
}

}  // namespace mansard::ir
