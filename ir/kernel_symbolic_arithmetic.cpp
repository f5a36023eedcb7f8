#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "ir/kernel_symbolic.hpp"
#include "ir/kernel_terms.hpp"

namespace mansard::ir {
namespace {

using Kind = KernelOperand::Kind;

constexpr std::array<std::string_view, 12> kSpecials = {
    "tid.x",   "tid.y",   "tid.z",   "ntid.x",   "ntid.y",   "ntid.z",
    "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z"};
constexpr unsigned kWords = 64;       ///< Bits of the widest register.
constexpr int kBitsDepth = 12;        ///< Instructions that a question about bits looks through.
constexpr unsigned kThreadBits = 11;  ///< tid and ntid are at most 1024.

double two_to(std::int64_t exponent) {
  return static_cast<double>(std::int64_t{1} << exponent);
}

}  // namespace

/// The value that instruction `at` reads.
Symbolic::Maybe Symbolic::operand(const KernelOperand& operand, std::uint32_t at) {
  Maybe value;
  switch (operand.kind) {
    case Kind::kRegister:
      value = reg(operand.id, at);
      break;
    case Kind::kImmediate:
      return constant(static_cast<double>(operand.value));
    case Kind::kSpecial:
      return special(static_cast<SpecialValue>(operand.id));
    case Kind::kParameter: {
      const KernelParameter& parameter = kernel_.parameters[operand.id];
      return parameter.is_float
                 ? std::nullopt
                 : Maybe(Linear{.rest = pool_->symbol(parameter.alias.empty() ? parameter.name
                                                                              : parameter.alias),
                                .terms = {}});
    }
    case Kind::kNone:
      return std::nullopt;
  }
  if (value && operand.negated) {
    return sum(constant(1), value, -1);
  }
  return operand.value == 0 ? value : sum(value, constant(static_cast<double>(operand.value)), 1);
}

Symbolic::Maybe Symbolic::special(SpecialValue value) {
  const auto index = static_cast<std::size_t>(value);
  if (index < kSpecials.size()) {
    return Linear{.rest = pool_->symbol(kSpecials[index]), .terms = {}};
  }
  switch (value) {
    case SpecialValue::kLane:
      return Linear{.rest = mod(pool_->symbol("tid.x"), 32), .terms = {}};
    case SpecialValue::kWarp:
      return Linear{.rest = floor_div(pool_->symbol("tid.x"), 32), .terms = {}};
    case SpecialValue::kOne:
      return constant(1);
    case SpecialValue::kZero:
      return constant(0);
    default:
      return std::nullopt;
  }
}

/// What an instruction leaves in the register of `definition`.
Symbolic::Maybe Symbolic::instruction(const Definition& definition) {
  const std::uint32_t index = definition.at;
  const KernelInstruction& each = kernel_.instructions[index];
  Maybe value = arithmetic(each, index);
  if (value && each.op == KernelOp::kCompare && definition.reg == each.destination2 &&
      each.destination2 != each.destination) {
    value = sum(constant(1), value, -1);
  }
  if (each.guard == kNothing) {
    return value;
  }
  const Maybe before = reg(definition.reg, index);
  const Maybe guard = reg(each.guard, index);
  return each.guard_negated ? choose(guard, before, value) : choose(guard, value, before);
}

Symbolic::Maybe Symbolic::arithmetic(const KernelInstruction& each, std::uint32_t index) {
  const auto a = [&] { return operand(each.operands[0], index); };
  const auto b = [&] { return operand(each.operands[1], index); };
  const auto c = [&] { return operand(each.operands[2], index); };
  const bool by_constant = each.operands[1].kind == Kind::kImmediate &&
                           each.operands[1].value >= 0 && each.operands[1].value < 48;
  switch (each.op) {
    case KernelOp::kMove:
    case KernelOp::kConvert:
    case KernelOp::kToGeneric:
    case KernelOp::kFromGeneric:
      return a();
    case KernelOp::kAdd:
      return sum(a(), b(), 1);
    case KernelOp::kSub:
      return sum(a(), b(), -1);
    case KernelOp::kNeg:
      return sum(constant(0), a(), -1);
    case KernelOp::kMul:
    case KernelOp::kMulWide:
      return product(a(), b());
    case KernelOp::kMad:
    case KernelOp::kMadWide:
      return sum(product(a(), b()), c(), 1);
    case KernelOp::kShl:
      return by_constant ? shifted_left(a(), each.operands[1].value) : std::nullopt;
    case KernelOp::kShr:
      return by_constant ? shifted_right(a(), each.operands[1].value, each.bits) : std::nullopt;
    case KernelOp::kDiv:
      return plain(a(), b(), [](Expr x, Expr y) { return quotient(x, y, false); });
    case KernelOp::kRem:
      return plain(a(), b(), [](Expr x, Expr y) { return mod(x, y); });
    case KernelOp::kMin:
      return plain(a(), b(), [](Expr x, Expr y) { return min(x, y); });
    case KernelOp::kMax:
      return plain(a(), b(), [](Expr x, Expr y) { return max(x, y); });
    case KernelOp::kAbs:
      return plain(a(), constant(0), [](Expr x, Expr zero) { return max(x, zero - x); });
    case KernelOp::kSelect:
      return choose(c(), a(), b());
    case KernelOp::kCompare:
      return compared(each, index);
    case KernelOp::kAlways:
      return constant(1);
    default:
      return logic(each, index);
  }
}

Symbolic::Maybe Symbolic::logic(const KernelInstruction& each, std::uint32_t index) {
  const KernelOperand& left = each.operands[0];
  const KernelOperand& right = each.operands[1];
  const auto a = [&] { return operand(left, index); };
  const auto b = [&] { return operand(right, index); };
  switch (each.op) {
    case KernelOp::kAnd:
    case KernelOp::kPredicateAnd:
      if (each.bits == 1) {
        return plain(a(), b(), [](Expr x, Expr y) { return x * y; });
      }
      return right.kind == Kind::kImmediate  ? masked(a(), right.value, each.bits)
             : left.kind == Kind::kImmediate ? masked(b(), left.value, each.bits)
                                             : std::nullopt;
    case KernelOp::kOr: {
      if (each.bits == 1) {
        return plain(a(), b(), [](Expr x, Expr y) { return max(x, y); });
      }
      // Compilers write or for sums of bits that do not meet.
      const bool apart = zero_bits(left, index, 0) >= width(right, index, 0) ||
                         zero_bits(right, index, 0) >= width(left, index, 0);
      return apart ? sum(a(), b(), 1) : std::nullopt;
    }
    case KernelOp::kXor:
      return each.bits == 1 ? plain(a(), b(), [](Expr x, Expr y) { return mod(x + y, 2); })
                            : std::nullopt;
    case KernelOp::kNot:
      return sum(constant(each.bits == 1 ? 1 : -1), a(), -1);
    case KernelOp::kExtract: {
      const KernelOperand& length = each.operands[2];
      const bool fixed = right.kind == Kind::kImmediate && length.kind == Kind::kImmediate &&
                         !each.is_signed && right.value + length.value < 48;
      return fixed
                 ? plain(a(), constant(two_to(right.value)),
                         [&](Expr x, Expr y) { return mod(floor_div(x, y), two_to(length.value)); })
                 : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

Symbolic::Maybe Symbolic::compared(const KernelInstruction& each, std::uint32_t index) {
  const Maybe a = operand(each.operands[0], index);
  const Maybe b = operand(each.operands[1], index);
  Maybe result = plain(a, b, [&](Expr x, Expr y) { return holds(each.comparison, x, y); });
  if (each.operands[2].kind == Kind::kNone) {
    return result;
  }
  const Maybe with = operand(each.operands[2], index);
  return plain(result, with, [&](Expr x, Expr y) { return each.combine_or ? max(x, y) : x * y; });
}

/// 1 if the comparison holds, else 0.
Expr Symbolic::holds(Comparison comparison, Expr a, Expr b) {
  switch (comparison) {
    case Comparison::kLess:
      return less(a, b);
    case Comparison::kGreater:
      return less(b, a);
    case Comparison::kLessEqual:
      return 1 - less(b, a);
    case Comparison::kGreaterEqual:
      return 1 - less(a, b);
    case Comparison::kEqual:
      return (1 - less(a, b)) * (1 - less(b, a));
    case Comparison::kNotEqual:
      return max(less(a, b), less(b, a));
  }
  return {};
}

Symbolic::Maybe Symbolic::shifted_left(const Maybe& a, std::int64_t by) {
  const auto moving = a && a->terms.empty() ? geometrics_.find(&a->rest.node()) : geometrics_.end();
  if (moving != geometrics_.end() && moving->second.up) {
    Geometric further = moving->second;
    further.extra += static_cast<std::uint32_t>(by);
    return geometric(further);
  }
  return product(a, constant(two_to(by)));
}

Symbolic::Maybe Symbolic::shifted_right(const Maybe& a, std::int64_t by, unsigned bits) {
  if (by == 0 || !a) {
    return a;
  }
  if (by == static_cast<std::int64_t>(bits) - 1) {
    assume("integers that are divided by powers of two are not negative");
    return constant(0);  // the sign
  }
  const auto moving = a->terms.empty() ? geometrics_.find(&a->rest.node()) : geometrics_.end();
  if (moving != geometrics_.end() && !moving->second.up) {
    Geometric further = moving->second;
    further.extra += static_cast<std::uint32_t>(by);
    return geometric(further);
  }
  return plain(a, constant(two_to(by)), [](Expr x, Expr y) { return quotient(x, y, false); });
}

/// And with a run of ones from bit `low` up to below `high`: a difference of remainders.
Symbolic::Maybe Symbolic::masked(const Maybe& a, std::int64_t mask, unsigned bits) {
  const auto all = bits >= kWords ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t ones = static_cast<std::uint64_t>(mask) & all;
  if (!a || ones == 0) {
    return a ? constant(0) : a;
  }
  const auto low = static_cast<unsigned>(std::countr_zero(ones));
  const auto high = low + static_cast<unsigned>(std::countr_one(ones >> low));
  if (high < kWords && (ones >> high) != 0) {
    return std::nullopt;
  }
  const Expr x = folded(*a);
  if (high + 1 < bits) {
    if (high >= 48) {
      return std::nullopt;
    }
    const Expr whole = mod(x, two_to(high));
    return Linear{.rest = low == 0 ? whole : whole - mod(x, two_to(low)), .terms = {}};
  }
  if (high + 1 == bits) {
    assume("integers that are divided by powers of two are not negative");
  }
  if (low == 0) {
    return a;
  }
  return low < 48 ? sum(a, Linear{.rest = mod(x, two_to(low)), .terms = {}}, -1) : std::nullopt;
}

/// Low bits of an operand that are zero for sure.
unsigned Symbolic::zero_bits(const KernelOperand& operand, std::uint32_t at, int depth) {
  if (operand.kind == Kind::kImmediate) {
    return operand.value == 0
               ? kWords
               : static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(operand.value)));
  }
  if (operand.kind != Kind::kRegister || operand.value != 0 || depth > kBitsDepth) {
    return 0;
  }
  const Definition definition = definitions_.before(operand.id, at);
  if (definition.kind != Definition::Kind::kInstruction) {
    return 0;
  }
  const KernelInstruction& each = kernel_.instructions[definition.at];
  const auto of = [&](unsigned n) { return zero_bits(each.operands[n], definition.at, depth + 1); };
  switch (each.guard == kNothing ? each.op : KernelOp::kOpaque) {
    case KernelOp::kMove:
    case KernelOp::kConvert:
      return of(0);
    case KernelOp::kAdd:
    case KernelOp::kSub:
    case KernelOp::kOr:
      return std::min(of(0), of(1));
    case KernelOp::kAnd:
      return std::max(of(0), of(1));
    case KernelOp::kMul:
    case KernelOp::kMulWide:
      return std::min(kWords, of(0) + of(1));
    case KernelOp::kShl:
      return each.operands[1].kind == Kind::kImmediate
                 ? std::min(kWords, of(0) + static_cast<unsigned>(each.operands[1].value & 63))
                 : 0;
    default:
      return 0;
  }
}

/// Bits that hold an operand for sure, from the lowest.
unsigned Symbolic::width(const KernelOperand& operand, std::uint32_t at, int depth) {
  if (operand.kind == Kind::kImmediate) {
    return operand.value < 0
               ? kWords
               : static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(operand.value)));
  }
  if (operand.kind == Kind::kSpecial) {
    const auto value = static_cast<SpecialValue>(operand.id);
    return value <= SpecialValue::kBlockDimZ ? kThreadBits
           : value == SpecialValue::kLane    ? 5
                                             : kWords;
  }
  if (operand.kind != Kind::kRegister || operand.value != 0 || depth > kBitsDepth) {
    return kWords;
  }
  const Definition definition = definitions_.before(operand.id, at);
  if (definition.kind != Definition::Kind::kInstruction) {
    return kWords;
  }
  const KernelInstruction& each = kernel_.instructions[definition.at];
  const auto of = [&](unsigned n) { return width(each.operands[n], definition.at, depth + 1); };
  const bool by_constant = each.operands[1].kind == Kind::kImmediate;
  const auto by = static_cast<unsigned>(each.operands[1].value & 63);
  switch (each.guard == kNothing ? each.op : KernelOp::kOpaque) {
    case KernelOp::kMove:
    case KernelOp::kConvert:
      return of(0);
    case KernelOp::kAdd:
      return std::min(kWords, std::max(of(0), of(1)) + 1);
    case KernelOp::kOr:
      return std::max(of(0), of(1));
    case KernelOp::kAnd:
      return std::min(of(0), of(1));
    case KernelOp::kMul:
    case KernelOp::kMulWide:
      return std::min(kWords, of(0) + of(1));
    case KernelOp::kRem:
      return each.is_signed ? kWords : of(1);
    case KernelOp::kShl:
      return by_constant ? std::min(kWords, of(0) + by) : kWords;
    case KernelOp::kShr: {
      const unsigned before = std::min(of(0), static_cast<unsigned>(each.bits));
      return by_constant && !each.is_signed ? before - std::min(before, by) : kWords;
    }
    default:
      return kWords;
  }
}

Symbolic::Maybe Symbolic::choose(const Maybe& condition, const Maybe& x, const Maybe& y) {
  if (x && y && *x == *y) {
    return x;
  }
  if (!condition || !x || !y) {
    return std::nullopt;
  }
  const Expr way = folded(*condition);
  if (way.is_constant()) {
    return way.constant() != 0 ? x : y;
  }
  if (x->terms == y->terms) {
    return Linear{.rest = select(way, x->rest, y->rest), .terms = x->terms};
  }
  return Linear{.rest = select(way, folded(*x), folded(*y)), .terms = {}};
}

Symbolic::Maybe Symbolic::sum(const Maybe& a, const Maybe& b, double sign) {
  if (!a || !b) {
    return std::nullopt;
  }
  Linear result = *a;
  result.rest = sign > 0 ? plus(result.rest, b->rest) : minus(result.rest, b->rest);
  for (const auto& [key, coefficient] : b->terms) {
    const Expr scaled = sign > 0 ? coefficient : negative(coefficient);
    const auto [place, fresh] = result.terms.try_emplace(key, scaled);
    if (!fresh) {
      place->second = plus(place->second, scaled);
    }
    if (place->second.is_constant() && place->second.constant() == 0) {
      result.terms.erase(place);
    }
  }
  return result;
}

Symbolic::Maybe Symbolic::product(const Maybe& a, const Maybe& b) {
  if (!a || !b) {
    return std::nullopt;
  }
  if (!a->terms.empty() && !b->terms.empty()) {
    return Linear{.rest = folded(*a) * folded(*b), .terms = {}};
  }
  const Linear& varying = a->terms.empty() ? *b : *a;
  const Expr factor = a->terms.empty() ? a->rest : b->rest;
  Linear result{.rest = varying.rest * factor, .terms = {}};
  for (const auto& [key, coefficient] : varying.terms) {
    result.terms[key] = coefficient * factor;
  }
  return result;
}

template <typename Operation>
Symbolic::Maybe Symbolic::plain(const Maybe& a, const Maybe& b, Operation operation) {
  if (!a || !b) {
    return std::nullopt;
  }
  return Linear{.rest = operation(folded(*a), folded(*b)), .terms = {}};
}

}  // namespace mansard::ir
