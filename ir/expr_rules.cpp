#include "ir/expr_rules.hpp"

#include <fmt/core.h>

#include "support/units.hpp"

namespace mansard::ir {

namespace {

using enum ExprKind;

std::optional<std::string> unlike(std::string_view verb, Expr a, Expr b) {
  if (a.dimension() == b.dimension()) {
    return std::nullopt;
  }
  return fmt::format("cannot {} {} and {}", verb, describe(a.dimension()), describe(b.dimension()));
}

std::optional<std::string> not_a_number(std::string_view what, Expr e) {
  if (e.dimension() == kNumber) {
    return std::nullopt;
  }
  return fmt::format("{} must be a plain number, not {}", what, describe(e.dimension()));
}

}  // namespace

std::size_t arity(ExprKind kind) {
  switch (kind) {
    case kConstant:
    case kSymbol:
    case kCall:
    case kReduce:
      return 0;
    case kFloor:
    case kExponent2:
      return 1;
    case kSelect:
      return 3;
    default:
      return 2;
  }
}

bool is_commutative(ExprKind kind) {
  return kind == kAdd || kind == kMul || kind == kMin || kind == kMax;
}

std::optional<std::string> misuse(ExprKind kind, std::span<const Expr> operands) {
  switch (kind) {
    case kAdd:
      return unlike("add", operands[0], operands[1]);
    case kSub:
      return unlike("subtract", operands[0], operands[1]);
    case kMin:
    case kMax:
    case kLess:
      return unlike("compare", operands[0], operands[1]);
    case kMod:
      return unlike("take the remainder of", operands[0], operands[1]);
    case kSelect: {
      auto condition = not_a_number("a condition", operands[0]);
      return condition ? condition : unlike("choose between", operands[1], operands[2]);
    }
    case kScale2:
      return not_a_number("an exponent", operands[1]);
    case kExponent2:
      return not_a_number("the operand of exponent2", operands[0]);
    default:
      return std::nullopt;
  }
}

Dimension dimension_of(ExprKind kind, std::span<const Expr> operands) {
  switch (kind) {
    case kMul:
      return operands[0].dimension() + operands[1].dimension();
    case kDiv:
    case kFloorDiv:
    case kCeilDiv:
      return operands[0].dimension() - operands[1].dimension();
    case kLess:
    case kExponent2:
      return kNumber;
    case kSelect:
      return operands[1].dimension();
    default:
      return operands[0].dimension();
  }
}

std::string_view function_name(ExprKind kind) {
  switch (kind) {
    case kFloorDiv:
      return "floor_div";
    case kCeilDiv:
      return "ceil_div";
    case kMod:
      return "mod";
    case kMin:
      return "min";
    case kMax:
      return "max";
    case kFloor:
      return "floor";
    case kLess:
      return "less";
    case kSelect:
      return "select";
    case kScale2:
      return "scale2";
    case kExponent2:
      return "exponent2";
    default:
      return "";
  }
}

bool is_math(const Function& function) {
  return function.name() == "exp2" || function.name() == "log2" || function.name() == "pow";
}

}  // namespace mansard::ir
