#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/core.h>

#include "ir/expr_eval.hpp"
#include "ir/expr_exact.hpp"
#include "ir/expr_machine.hpp"
#include "ir/expr_rules.hpp"
#include "ir/expr_tape.hpp"
#include "ir/expr_text.hpp"

namespace mansard::ir {

namespace {

/// An exact number, or the error that came of computing it. Errors are values, so that one in a
/// branch that `select` does not take, or in a term times zero, does no harm.
struct Counted {
  Exact number;
  std::uint32_t error = 0;  ///< 0: none. Else the place of its diagnostic, from 1.
};

/// Why something has no exact count; what a diagnostic says of it is only written for the one that
/// is reported.
struct Failure {
  std::string_view id;
  std::string_view why;
  Expr where;  ///< Absent: of `value`.
  double value = 0;
};

Diagnostic describe(const Failure& failure) {
  const std::string where =
      failure.where ? excerpt(failure.where) : fmt::format("{}", failure.value);
  return {std::string(failure.id), fmt::format("{}: {}", failure.why, where), {}, {}};
}

struct ExactArithmetic {
  using Value = Counted;

  const Tape* tape;
  std::vector<Failure> failures;

  Counted fail(const Failure& failure) {
    failures.push_back(failure);
    return {{}, static_cast<std::uint32_t>(failures.size())};
  }

  Counted fail(Slot slot, std::string_view id, std::string_view why) {
    return fail({id, why, tape->origins[slot]});
  }

  Counted overflow(Slot slot) {
    return fail(slot, "count-overflow", "the exact count is past 128 bits");
  }

  template <typename T>
  Counted checked(Slot slot, const std::optional<T>& result) {
    return result ? Counted{*result, 0} : overflow(slot);
  }

  Counted from(double value) {
    const auto exact = exact_from(value);
    return exact ? Counted{*exact, 0}
                 : fail({"count-overflow", "a number that does not fit 128 bits", {}, value});
  }

  static bool is_less(const Counted& a, const Counted& b) {
    return a.error == 0 && b.error == 0 && exact_less(a.number, b.number).value_or(false);
  }

  template <TapeOp op>
  Counted apply(Slot slot, const Counted& a, const Counted& b, const Counted& c) {
    if constexpr (op == TapeOp::kSelect) {
      const Counted& taken = a.number.mantissa != 0 ? b : c;
      return a.error != 0 ? a : taken;
    } else if constexpr (op == TapeOp::kFloor || op == TapeOp::kExponent2) {
      return a.error != 0 ? a : unary<op>(slot, a.number);
    } else if constexpr (op == TapeOp::kMul) {
      return multiply(slot, a, b);
    } else {
      return binary<op>(slot, a, b);
    }
  }

  template <TapeOp op>
  Counted unary(Slot slot, const Exact& a) {
    if constexpr (op == TapeOp::kFloor) {
      return divide<TapeOp::kFloorDiv>(slot, a, {1, 0});
    } else {
      return exponent(slot, a);
    }
  }

  template <TapeOp op>
  Counted binary(Slot slot, const Counted& a, const Counted& b) {
    const Counted& failed = a.error != 0 ? a : b;
    return failed.error != 0 ? failed : combine<op>(slot, a.number, b.number);
  }

  Counted multiply(Slot slot, const Counted& a, const Counted& b) {
    const bool a_is_zero = a.error == 0 && a.number.mantissa == 0;
    const bool b_is_zero = b.error == 0 && b.number.mantissa == 0;
    if (a_is_zero || b_is_zero) {
      return {};
    }
    const Counted& failed = a.error != 0 ? a : b;
    return failed.error != 0 ? failed : checked(slot, exact_mul(a.number, b.number));
  }

  Counted exponent(Slot slot, const Exact& a) {
    if (a.mantissa <= 0) {
      return fail(slot, "count-inexact", "exponent2 of a number that is not positive");
    }
    return {{exact_exponent(a), 0}, 0};
  }

  template <TapeOp op>
  Counted combine(Slot slot, const Exact& a, const Exact& b) {
    if constexpr (op == TapeOp::kAdd) {
      return checked(slot, exact_add(a, b));
    } else if constexpr (op == TapeOp::kSub) {
      return checked(slot, exact_sub(a, b));
    } else if constexpr (op == TapeOp::kScale2) {
      return scale(slot, a, b);
    } else if constexpr (op == TapeOp::kMin || op == TapeOp::kMax || op == TapeOp::kLess) {
      return compare<op>(slot, a, b);
    } else {
      return divide<op>(slot, a, b);
    }
  }

  template <TapeOp op>
  Counted compare(Slot slot, const Exact& a, const Exact& b) {
    const auto is_less = exact_less(a, b);
    if (!is_less) {
      return overflow(slot);
    }
    if constexpr (op == TapeOp::kLess) {
      return {{*is_less ? 1 : 0, 0}, 0};
    } else {
      return {*is_less == (op == TapeOp::kMin) ? a : b, 0};
    }
  }

  Counted scale(Slot slot, const Exact& a, const Exact& n) {
    if (n.shift != 0) {
      return fail(slot, "count-inexact", "an exponent that is not whole");
    }
    const Int128 limit = 1100;
    return checked(slot, exact_scale(a, static_cast<int>(std::clamp(n.mantissa, -limit, limit))));
  }

  template <TapeOp op>
  Counted divide(Slot slot, const Exact& a, const Exact& b) {
    if (b.mantissa == 0) {
      return fail(slot, "count-division", "division by zero");
    }
    const auto division = exact_divide(a, b);
    if (!division) {
      return overflow(slot);
    }
    const bool is_whole = division->remainder.mantissa == 0;
    if constexpr (op == TapeOp::kMod) {
      return {division->remainder, 0};
    } else if constexpr (op == TapeOp::kCeilDiv) {
      return checked(slot, exact_add({division->quotient, 0}, {is_whole ? 0 : 1, 0}));
    } else if constexpr (op == TapeOp::kFloorDiv) {
      return {{division->quotient, 0}, 0};
    } else {
      return is_whole ? Counted{{division->quotient, 0}, 0}
                      : fail(slot, "count-division", "a quotient that is not whole");
    }
  }
};

/// exp2, log2 and pow approximate, so an expression over them has no exact count.
const Function* inexact_function(const Tape& tape) {
  for (const Expr origin : tape.origins) {
    if (origin && origin->kind == ExprKind::kCall && is_math(*origin->function)) {
      return origin->function;
    }
  }
  return nullptr;
}

Counted bind(ExactArithmetic& arithmetic, Expr symbol, const Bindings& bindings) {
  const double* value = bindings.find(symbol->symbol);
  assert(value != nullptr && "every symbol is bound");
  const Counted bound = arithmetic.from(*value);
  if (bound.error == 0 && bound.number.shift != 0) {
    return arithmetic.fail({"count-fraction", "a symbol that is bound to a fraction", symbol});
  }
  return bound;
}

}  // namespace

std::string to_string(Count count) {
  std::array<char, 40> digits{};
  auto* const end = digits.data() + digits.size();
  char* at = end;
  const bool is_negative = count < 0;
  auto rest = static_cast<unsigned __int128>(count);
  rest = is_negative ? -rest : rest;
  do {
    *--at = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  return (is_negative ? "-" : "") + std::string(at, end);
}

Result<Count> count(Expr expression, const Bindings& bindings) {
  const Tape tape({&expression, 1});
  if (const Function* function = inexact_function(tape)) {
    return failure("count-inexact", fmt::format("{} has no exact count", function->name()));
  }
  ExactArithmetic arithmetic{&tape, {}};
  std::vector<Counted> slots(tape.slots());
  std::vector<std::uint32_t> control(TapeMachine<ExactArithmetic>::control_size(tape));
  for (std::size_t i = 0; i < tape.constants.size(); ++i) {
    slots[i] = arithmetic.from(tape.constants[i].constant());
  }
  for (std::size_t i = 0; i < tape.symbols.size(); ++i) {
    slots[tape.first_symbol() + i] = bind(arithmetic, tape.symbols[i], bindings);
  }
  TapeMachine machine(tape, arithmetic, std::span(slots), std::span(control));
  machine.run(tape.once);
  machine.run(tape.main);
  const Counted& result = slots[tape.roots[0]];
  if (result.error != 0) {
    return failure(Diagnostics{describe(arithmetic.failures[result.error - 1])});
  }
  if (result.number.shift != 0) {
    return failure("count-fraction",
                   fmt::format("the count of {} is not whole", excerpt(expression)));
  }
  return result.number.mantissa;
}

}  // namespace mansard::ir
