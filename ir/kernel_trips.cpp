#include <algorithm>

#include "ir/kernel_symbolic.hpp"
#include "ir/kernel_terms.hpp"

namespace mansard::ir {
namespace {

constexpr int kMostConditions = 40;  ///< Nested ands and ors of one branch.
constexpr double kForever = 0x1p40;  ///< Iterations of a loop that another exit ends.

Comparison opposite(Comparison comparison) {
  switch (comparison) {
    case Comparison::kLess:
      return Comparison::kGreaterEqual;
    case Comparison::kLessEqual:
      return Comparison::kGreater;
    case Comparison::kGreater:
      return Comparison::kLessEqual;
    case Comparison::kGreaterEqual:
      return Comparison::kLess;
    case Comparison::kEqual:
      return Comparison::kNotEqual;
    case Comparison::kNotEqual:
      return Comparison::kEqual;
  }
  return comparison;
}

/// Of b compared to a what it is of a compared to b.
Comparison swapped(Comparison comparison) {
  switch (comparison) {
    case Comparison::kLess:
      return Comparison::kGreater;
    case Comparison::kLessEqual:
      return Comparison::kGreaterEqual;
    case Comparison::kGreater:
      return Comparison::kLess;
    case Comparison::kGreaterEqual:
      return Comparison::kLessEqual;
    default:
      return comparison;
  }
}

bool dominates(const std::vector<std::uint32_t>& dominator, std::uint32_t a, std::uint32_t b) {
  while (b != a && b != kNothing) {
    b = dominator[b];
  }
  return b == a;
}

}  // namespace

/// The least over the ways out of the iteration that takes it. Each must be asked in every
/// iteration.
Expr Symbolic::count_trips(std::uint32_t loop) {
  const KernelLoop& at = flow_.loops[loop];
  const Expr one = pool_->constant(1);
  Expr least;
  for (const std::uint32_t b : at.blocks) {
    const KernelBlock& block = kernel_.blocks[b];
    for (const std::uint32_t to : flow_.successors[b]) {
      if (flow_.inside(loop, to) || (to != kNothing && kernel_.blocks[to].cold)) {
        continue;
      }
      const std::vector<std::uint32_t>& from = definitions_.predecessors(at.header);
      const bool always = std::all_of(from.begin(), from.end(), [&](std::uint32_t latch) {
        return !flow_.inside(loop, latch) || dominates(flow_.dominator, b, latch);
      });
      if (flow_.loop_of[b] != loop || !always || block.predicate == kNothing ||
          !block.targets.empty()) {
        return {};
      }
      const bool taken_stays = flow_.inside(loop, block.taken);
      const Expr passes = condition_passes(loop, definitions_.after(block.predicate, b),
                                           taken_stays != block.predicate_negated, 0);
      if (!passes) {
        return {};
      }
      least = least ? min(least, plus(passes, one)) : plus(passes, one);
    }
  }
  return least;
}

/// How often in a row a predicate of the loop is `goes_on_if`.
Expr Symbolic::condition_passes(std::uint32_t loop, const Definition& given, bool goes_on_if,
                                int depth) {
  const Definition condition = definitions_.settled(given);
  if (condition.kind == Definition::Kind::kInstruction && depth < kMostConditions) {
    const std::uint32_t index = condition.at;
    const KernelInstruction& each = kernel_.instructions[index];
    const bool inside = flow_.inside(loop, definitions_.block_of(index));
    if (each.guard == kNothing && inside) {
      const bool opposite_written =
          each.op == KernelOp::kCompare && condition.reg == each.destination2;
      const bool wanted = goes_on_if != opposite_written;
      switch (each.op) {
        case KernelOp::kAlways:
          return pool_->constant(0);
        case KernelOp::kNot:
          return each.operands[0].kind == KernelOperand::Kind::kRegister
                     ? condition_passes(loop, definitions_.before(each.operands[0].id, index),
                                        !goes_on_if, depth + 1)
                     : Expr();
        case KernelOp::kAnd:
        case KernelOp::kPredicateAnd:
        case KernelOp::kOr: {
          const bool all = (each.op == KernelOp::kOr) != goes_on_if;
          return both(loop, index, each.operands[0], each.operands[1], goes_on_if, all, depth);
        }
        case KernelOp::kCompare: {
          const Expr passes = compare_passes(loop, index, wanted);
          const KernelOperand& with = each.operands[2];
          if (with.kind != KernelOperand::Kind::kRegister || opposite_written) {
            return with.kind == KernelOperand::Kind::kNone ? passes : Expr();
          }
          const Expr other = condition_passes(loop, definitions_.before(with.id, index),
                                              goes_on_if != with.negated, depth + 1);
          if (!passes || !other) {
            return {};
          }
          return each.combine_or != goes_on_if ? min(passes, other) : max(passes, other);
        }
        default:
          break;
      }
    }
  }
  const Maybe value = seen_from(condition, flow_.loops[loop].header);
  if (!value || depends(*value, loop)) {
    return {};
  }
  const Expr holds = folded(*value);
  return goes_on_if ? holds * kForever : (1 - holds) * kForever;
}

Expr Symbolic::both(std::uint32_t loop, std::uint32_t at, const KernelOperand& a,
                    const KernelOperand& b, bool goes_on_if, bool all, int depth) {
  Expr result;
  for (const KernelOperand* each : {&a, &b}) {
    if (each->kind != KernelOperand::Kind::kRegister) {
      return {};
    }
    const Expr passes = condition_passes(loop, definitions_.before(each->id, at),
                                         goes_on_if != each->negated, depth + 1);
    if (!passes) {
      return {};
    }
    result = !result ? passes : all ? min(result, passes) : max(result, passes);
  }
  return result;
}

Expr Symbolic::compare_passes(std::uint32_t loop, std::uint32_t index, bool goes_on_if) {
  const KernelInstruction& each = kernel_.instructions[index];
  const Comparison comparison = goes_on_if ? each.comparison : opposite(each.comparison);
  const Maybe a = operand(each.operands[0], index);
  const Maybe b = operand(each.operands[1], index);
  const Maybe gap = sum(b, a, -1);
  if (!gap) {
    return {};
  }
  Linear first = *gap;
  const auto moving = first.terms.find(loop);
  if (moving == first.terms.end()) {
    if (depends(first, loop)) {
      return geometric_passes(loop, *a, *b, comparison);
    }
    return holds(comparison, folded(*a), folded(*b)) * kForever;
  }
  const Expr change = moving->second;
  first.terms.erase(moving);
  if (depends(first, loop) || depends(change, loop)) {
    return {};
  }
  assume("integers do not overflow in the comparison that ends " + loop_name(loop));
  return linear_passes(loop, folded(first), change, comparison);
}

/// How often a compares to b, where b - a is first + change * k at check k.
Expr Symbolic::linear_passes(std::uint32_t loop, Expr first, Expr change, Comparison comparison) {
  if (comparison == Comparison::kEqual) {
    return holds(Comparison::kEqual, first, pool_->constant(0));
  }
  if (comparison == Comparison::kNotEqual) {
    const bool up = change.is_constant() && change.constant() > 0;
    return quotient(up ? negative(first) : first, up ? change : negative(change), false);
  }
  // Goes on while the gap is positive (or not negative), closing by `step` each time.
  const bool below = comparison == Comparison::kLess || comparison == Comparison::kLessEqual;
  const bool or_equal =
      comparison == Comparison::kLessEqual || comparison == Comparison::kGreaterEqual;
  const Expr gap = below ? first : negative(first);
  const Expr step = below ? negative(change) : change;
  if (!step.is_constant()) {
    assume("the step of " + loop_name(loop) + " is positive");
  } else if (step.constant() <= 0) {
    return {};
  }
  return max(
      or_equal ? plus(quotient(gap, step, false), pool_->constant(1)) : quotient(gap, step, true),
      0);
}

/// How often a number that doubles or halves compares to one that stays.
Expr Symbolic::geometric_passes(std::uint32_t loop, const Linear& a, const Linear& b,
                                Comparison comparison) {
  const auto moves = [&](const Linear& value) {
    const auto found =
        value.terms.empty() ? geometrics_.find(&value.rest.node()) : geometrics_.end();
    return found != geometrics_.end() && found->second.loop == loop ? &found->second : nullptr;
  };
  const Geometric* moving = moves(a);
  const bool first = moving != nullptr;
  moving = first ? moving : moves(b);
  const Linear& still = first ? b : a;
  if (moving == nullptr || depends(still, loop)) {
    return {};
  }
  Expr limit = folded(still);
  Comparison relation = first ? comparison : swapped(comparison);
  const bool zero = limit.is_constant() && limit.constant() == 0;
  if (relation == Comparison::kNotEqual && zero && !moving->up) {
    relation = Comparison::kGreater;
  }
  const double shift = moving->shift;
  const double scale = static_cast<double>(std::int64_t{1} << std::min(moving->extra, 48U));
  assume("integers do not overflow in the comparison that ends " + loop_name(loop));
  if (!moving->up && (relation == Comparison::kGreater || relation == Comparison::kGreaterEqual)) {
    // start >> (shift k + extra) >= limit
    limit = relation == Comparison::kGreater ? plus(limit, pool_->constant(1)) : limit;
    const Expr ratio = floor_div(moving->start, scale * limit);
    return select(less(ratio, 1), pool_->constant(0),
                  quotient(exponent2(max(ratio, 1)), pool_->constant(shift), false) + 1);
  }
  if (moving->up && (relation == Comparison::kLess || relation == Comparison::kLessEqual)) {
    // start << (shift k + extra) < limit
    limit = relation == Comparison::kLessEqual ? plus(limit, pool_->constant(1)) : limit;
    const Expr ratio = ceil_div(limit, scale * moving->start);
    return select(less(ratio, 2), pool_->constant(0),
                  quotient(exponent2(max(minus(ratio, pool_->constant(1)), 1)) + 1,
                           pool_->constant(shift), true));
  }
  return {};
}

}  // namespace mansard::ir
