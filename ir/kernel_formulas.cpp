#include "ir/kernel_formulas.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace mansard::ir {
namespace {

/// rest + the sum of coefficients times loop variables (by register).
struct Linear {
  Expr rest;
  std::map<std::uint32_t, Expr> terms;
};
using Maybe = std::optional<Linear>;

/// A register that steps in a loop, where, and by how much.
struct Variable {
  Expr step;
  std::uint32_t writer = 0;
};
using Kind = KernelOperand::Kind;

constexpr std::array<std::string_view, 12> kSpecials = {
    "tid.x",   "tid.y",   "tid.z",   "ntid.x",   "ntid.y",   "ntid.z",
    "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z"};

class Formulas {
 public:
  Formulas(const Kernel& kernel, const KernelFlow& flow)
      : kernel_(kernel),
        flow_(flow),
        pool_(std::make_shared<ExprPool>()),
        writers_(kernel.registers.size()),
        block_of_(kernel.instructions.size()) {
    for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
      for (std::uint32_t i = kernel.blocks[b].first;
           i < kernel.blocks[b].first + kernel.blocks[b].count; ++i) {
        block_of_[i] = b;
        for (const std::uint32_t to :
             {kernel.instructions[i].destination, kernel.instructions[i].destination2}) {
          if (to != kNothing) {
            writers_[to].push_back(i);
          }
        }
      }
    }
  }

  KernelFormulas run() {
    KernelFormulas result{.pool = pool_};
    trips_.resize(flow_.loops.size());
    for (std::uint32_t loop = 0; loop < flow_.loops.size(); ++loop) {
      trips_[loop] = trips_of(loop);
      if (!trips_[loop]) {
        result.unknowns.push_back("trip_" + loop_name(loop));
      }
    }
    regions(result);
    result.assumptions.assign(assumptions_.begin(), assumptions_.end());
    return result;
  }

 private:
  Linear constant(double value) { return {.rest = pool_->constant(value)}; }

  /// The value that instruction `at` reads.
  Maybe operand(const KernelOperand& operand, std::uint32_t at) {
    switch (operand.kind) {
      case Kind::kRegister:
        return plus(reg(operand.id, at), operand.value);
      case Kind::kImmediate:
        return constant(static_cast<double>(operand.value));
      case Kind::kSpecial:
        return special(static_cast<SpecialValue>(operand.id));
      case Kind::kParameter: {
        const KernelParameter& parameter = kernel_.parameters[operand.id];
        return Linear{
            .rest = pool_->symbol(parameter.alias.empty() ? parameter.name : parameter.alias)};
      }
      case Kind::kNone:
        break;
    }
    return std::nullopt;
  }

  Maybe plus(Maybe value, std::int64_t offset) {
    if (value && offset != 0) {
      value->rest = value->rest + static_cast<double>(offset);
    }
    return value;
  }

  Maybe special(SpecialValue value) {
    const auto index = static_cast<std::size_t>(value);
    if (index < kSpecials.size()) {
      return Linear{.rest = pool_->symbol(kSpecials[index])};
    }
    if (value == SpecialValue::kLane) {
      return Linear{.rest = mod(pool_->symbol("tid.x"), 32)};
    }
    if (value == SpecialValue::kOne || value == SpecialValue::kZero) {
      return constant(value == SpecialValue::kOne ? 1 : 0);
    }
    return std::nullopt;
  }

  /// The value of a register where instruction `at` reads it.
  Maybe reg(std::uint32_t id, std::uint32_t at) {
    const auto variable = variables_.find(id);
    if (variable != variables_.end()) {
      Linear value{.rest = pool_->constant(0), .terms = {{id, pool_->constant(1)}}};
      if (variable->second.step && variable->second.writer < at) {
        value.rest = variable->second.step;  // read after the step
      }
      return value;
    }
    const bool once = writers_[id].size() == 1;
    const auto known = once ? memo_.find(id) : memo_.end();
    if (known != memo_.end()) {
      return known->second;
    }
    if (!active_.insert(id).second || active_.size() > 300) {
      return std::nullopt;
    }
    Maybe value = once ? instruction(writers_[id][0]) : merged(id, at);
    active_.erase(id);
    if (once && variables_.empty() && active_.empty()) {
      memo_[id] = value;
    }
    return value;
  }

  /// A register of several writers: a variable of a loop around, or what the nearest writer above
  /// left.
  Maybe merged(std::uint32_t id, std::uint32_t at) {
    for (std::uint32_t around = flow_.loop_of[block_of_[at]]; around != kNothing;
         around = flow_.loops[around].parent) {
      const std::optional<std::uint32_t> writer = writer_inside(id, around);
      if (!writer) {
        continue;
      }
      const Maybe start = start_of(id, around);
      const Expr step = step_of(id, around);
      if (!start || !step) {
        return std::nullopt;
      }
      Linear value = *start;
      value.rest = value.rest + step * pool_->symbol("iteration_" + loop_name(around));
      return value;
    }
    return above(id, at);
  }

  /// The value that the last writer before instruction `at` leaves; of a variable of a loop, its
  /// value when that ends.
  Maybe above(std::uint32_t id, std::uint32_t at) {
    std::uint32_t nearest = kNothing;
    for (const std::uint32_t i : writers_[id]) {
      nearest = i < at && (nearest == kNothing || i > nearest) ? i : nearest;
    }
    if (nearest == kNothing) {
      return std::nullopt;
    }
    std::uint32_t loop = kNothing;
    for (std::uint32_t each = flow_.loop_of[block_of_[nearest]]; each != kNothing;
         each = flow_.loops[each].parent) {
      loop = flow_.inside(each, block_of_[at]) ? loop : each;
    }
    if (loop == kNothing) {
      return instruction(nearest);
    }
    const Maybe start = start_of(id, loop);
    const Expr step = step_of(id, loop);
    if (!start || !step || loop >= trips_.size() || !trips_[loop]) {
      return std::nullopt;
    }
    Linear value = *start;
    value.rest = value.rest + step * trips_[loop];
    return value;
  }

  [[nodiscard]] std::optional<std::uint32_t> writer_inside(std::uint32_t id,
                                                           std::uint32_t loop) const {
    for (const std::uint32_t i : writers_[id]) {
      if (flow_.inside(loop, block_of_[i])) {
        return i;
      }
    }
    return std::nullopt;
  }

  Maybe instruction(std::uint32_t index) {
    const KernelInstruction& each = kernel_.instructions[index];
    if (each.guard != kNothing) {
      return std::nullopt;
    }
    const auto a = [&] { return operand(each.operands[0], index); };
    const auto b = [&] { return operand(each.operands[1], index); };
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
      case KernelOp::kNot:
        return each.bits > 1 ? sum(constant(-1), a(), -1) : std::nullopt;
      case KernelOp::kNeg:
        return sum(constant(0), a(), -1);
      case KernelOp::kMul:
      case KernelOp::kMulWide:
        return product(a(), b());
      case KernelOp::kMad:
      case KernelOp::kMadWide:
        return sum(product(a(), b()), operand(each.operands[2], index), 1);
      case KernelOp::kShl:
        return each.operands[1].kind == Kind::kImmediate && each.operands[1].value < 48
                   ? product(a(), constant(static_cast<double>(std::int64_t{1}
                                                               << each.operands[1].value)))
                   : std::nullopt;
      case KernelOp::kShr:
        return each.operands[1].kind == Kind::kImmediate && each.operands[1].value < 48
                   ? plain(
                         a(),
                         constant(static_cast<double>(std::int64_t{1} << each.operands[1].value)),
                         [](Expr x, Expr y) { return floor_div(x, y); })
                   : std::nullopt;
      case KernelOp::kAnd:
        return masked(a(), each.operands[1]);
      case KernelOp::kOr:
        return sum(a(), b(), 1);  // compilers write or for sums of disjoint bits
      case KernelOp::kDiv:
        return plain(a(), b(), [](Expr x, Expr y) { return floor_div(x, y); });
      case KernelOp::kRem:
        return plain(a(), b(), [](Expr x, Expr y) { return mod(x, y); });
      case KernelOp::kMin:
        return plain(a(), b(), [](Expr x, Expr y) { return min(x, y); });
      case KernelOp::kMax:
        return plain(a(), b(), [](Expr x, Expr y) { return max(x, y); });
      default:
        return std::nullopt;
    }
  }

  Maybe sum(const Maybe& a, const Maybe& b, double sign) {
    if (!a || !b) {
      return std::nullopt;
    }
    Linear r = *a;
    r.rest = sign > 0 ? r.rest + b->rest : r.rest - b->rest;
    for (const auto& [id, coefficient] : b->terms) {
      const Expr scaled = sign > 0 ? coefficient : negative(coefficient);
      const auto found = r.terms.find(id);
      if (found == r.terms.end()) {
        r.terms[id] = scaled;
      } else {
        found->second = found->second + scaled;
      }
    }
    return r;
  }

  static Maybe product(const Maybe& a, const Maybe& b) {
    if (!a || !b || (!a->terms.empty() && !b->terms.empty())) {
      return std::nullopt;
    }
    const Linear& varying = a->terms.empty() ? *b : *a;
    const Expr factor = a->terms.empty() ? a->rest : b->rest;
    Linear r{.rest = varying.rest * factor};
    for (const auto& [id, coefficient] : varying.terms) {
      r.terms[id] = coefficient * factor;
    }
    return r;
  }

  template <typename Operation>
  Maybe plain(const Maybe& a, const Maybe& b, Operation operation) {
    if (!a || !b || !a->terms.empty() || !b->terms.empty()) {
      return std::nullopt;
    }
    return Linear{.rest = operation(a->rest, b->rest)};
  }

  /// x & (2^k - 1) is a remainder, x & -2^k what it leaves.
  Maybe masked(const Maybe& a, const KernelOperand& mask) {
    if (!a || mask.kind != Kind::kImmediate || !a->terms.empty()) {
      return std::nullopt;
    }
    const std::int64_t m =
        mask.value > 0x7fffffff ? static_cast<std::int32_t>(mask.value) : mask.value;
    if (m >= 0 && ((m + 1) & m) == 0) {
      return Linear{.rest = mod(a->rest, static_cast<double>(m + 1))};
    }
    if (m < 0 && ((-m) & (-m - 1)) == 0) {
      return Linear{.rest = a->rest - mod(a->rest, static_cast<double>(-m))};
    }
    return std::nullopt;
  }

  /// What one iteration of `loop` adds to a register; absent if that is not a constant of the loop.
  Expr step_of(std::uint32_t id, std::uint32_t loop) {
    std::vector<std::uint32_t> inside;
    std::copy_if(writers_[id].begin(), writers_[id].end(), std::back_inserter(inside),
                 [&](std::uint32_t i) { return flow_.inside(loop, block_of_[i]); });
    if (inside.size() != 1 || flow_.loop_of[block_of_[inside[0]]] != loop) {
      return {};
    }
    const auto variables = std::exchange(variables_, {{id, Variable{}}});
    const auto active = std::exchange(active_, {});
    const Maybe next = depth_ < 40 ? (++depth_, instruction(inside[0])) : std::nullopt;
    depth_ -= depth_ > 0 ? 1 : 0;
    variables_ = variables;
    active_ = active;
    if (!next || next->terms.size() != 1 || !next->terms.contains(id) ||
        !next->terms.at(id).is_constant() || next->terms.at(id).constant() != 1) {
      return {};
    }
    return next->rest;
  }

  Expr trips_of(std::uint32_t loop) {
    Expr least;
    for (const std::uint32_t b : flow_.loops[loop].blocks) {
      const KernelBlock& block = kernel_.blocks[b];
      if (flow_.loop_of[b] != loop || block.predicate == kNothing) {
        continue;
      }
      const bool taken_stays = flow_.inside(loop, block.taken);
      if (taken_stays == flow_.inside(loop, block.next)) {
        continue;
      }
      const Expr passes = passes_of(loop, block.predicate, taken_stays != block.predicate_negated);
      if (!passes) {
        return {};
      }
      const Expr runs = 1 + passes;
      least = least ? min(least, runs) : runs;
    }
    return least;
  }

  /// How often the predicate lets the loop go on.
  Expr passes_of(std::uint32_t loop, std::uint32_t predicate, bool goes_on_if) {
    std::uint32_t compare = kNothing;
    for (const std::uint32_t i : writers_[predicate]) {
      if (flow_.inside(loop, block_of_[i])) {
        compare = i;
      }
    }
    if (compare == kNothing) {
      return {};
    }
    const KernelInstruction& each = kernel_.instructions[compare];
    if (each.op == KernelOp::kAlways) {
      return pool_->constant(0);
    }
    if (each.op != KernelOp::kCompare || each.operands[2].kind != Kind::kNone) {
      return {};
    }
    std::map<std::uint32_t, Variable> variables;
    for (const std::uint32_t r : flow_.loops[loop].carried) {
      if (const Expr step = step_of(r, loop)) {
        variables[r] = {.step = step, .writer = *writer_inside(r, loop)};
      }
    }
    variables_ = variables;
    const Maybe difference =
        sum(operand(each.operands[1], compare), operand(each.operands[0], compare), -1);
    variables_.clear();
    if (!difference) {
      return {};
    }
    Expr first = difference->rest;
    Expr change = pool_->constant(0);
    for (const auto& [id, coefficient] : difference->terms) {
      const Maybe start = start_of(id, loop);
      if (!start || !start->terms.empty()) {
        return {};
      }
      first = plus_product(first, coefficient, start->rest);
      change = plus_product(change, coefficient, variables[id].step);
    }
    return passes(loop, first, change, each.comparison, goes_on_if);
  }

  /// What a register holds when the loop is entered.
  Maybe start_of(std::uint32_t id, std::uint32_t loop) {
    std::uint32_t first = kNothing;
    for (const std::uint32_t b : flow_.loops[loop].blocks) {
      first = std::min(first, kernel_.blocks[b].first);
    }
    const auto variables = std::exchange(variables_, {});
    const auto active = std::exchange(active_, {});
    Maybe start;
    if (depth_ < 40) {
      ++depth_;
      const std::uint32_t parent = flow_.loops[loop].parent;
      start = parent != kNothing && writer_only_inside(id, parent, loop) ? merged_in(id, parent)
                                                                         : above(id, first);
      --depth_;
    }
    variables_ = variables;
    active_ = active;
    return start;
  }

  /// True if the register steps in `parent` and is not set again in it before `loop`.
  [[nodiscard]] bool writer_only_inside(std::uint32_t id, std::uint32_t parent,
                                        std::uint32_t loop) const {
    return std::none_of(writers_[id].begin(), writers_[id].end(), [&](std::uint32_t i) {
      return flow_.inside(parent, block_of_[i]) && !flow_.inside(loop, block_of_[i]);
    });
  }
  Maybe merged_in(std::uint32_t id, std::uint32_t parent) {
    return above(id, kernel_.blocks[flow_.loops[parent].header].first);
  }

  /// b - a is first + change * k at check k; it goes on while (a compares to b) is `goes_on_if`.
  Expr passes(std::uint32_t loop, Expr first, Expr change, Comparison comparison, bool goes_on_if) {
    if (change.is_constant() && change.constant() == 0) {
      return {};
    }
    const bool less = comparison == Comparison::kLess || comparison == Comparison::kLessEqual;
    const bool greater =
        comparison == Comparison::kGreater || comparison == Comparison::kGreaterEqual;
    const bool equal = comparison == Comparison::kEqual || comparison == Comparison::kNotEqual;
    assumptions_.insert("integers do not overflow in the comparison that ends " + loop_name(loop));
    if (equal) {
      const bool while_different = (comparison == Comparison::kNotEqual) == goes_on_if;
      return while_different ? quotient(first, change) : Expr();
    }
    // Make it "goes on while gap > 0 (or >= 0)", with the gap closing by `step` each time.
    bool grows = (less && goes_on_if) || (greater && !goes_on_if);
    bool or_equal =
        goes_on_if ? comparison == Comparison::kLessEqual || comparison == Comparison::kGreaterEqual
                   : comparison == Comparison::kLess || comparison == Comparison::kGreater;
    const Expr gap = grows ? first : negative(first);
    const Expr step = grows ? negative(change) : change;
    if (step.is_constant()) {
      if (step.constant() <= 0) {
        return {};
      }
    } else {
      assumptions_.insert("the step of " + loop_name(loop) + " is positive");
    }
    const bool one = step.is_constant() && step.constant() == 1;
    const Expr whole = or_equal ? (one ? gap : floor_div(gap, step)) + 1
                       : one    ? gap
                                : ceil_div(gap, step);
    return max(whole, 0);
  }

  static Expr plus_product(Expr sum, Expr coefficient, Expr value) {
    const bool minus = coefficient.is_constant() && coefficient.constant() == -1;
    return minus ? (sum.is_constant() && sum.constant() == 0 ? negative(value) : sum - value)
                 : sum + coefficient * value;
  }

  /// How often `change` goes into a gap that it closes exactly.
  static Expr quotient(Expr first, Expr change) {
    const bool up = change.is_constant() && change.constant() > 0;
    const Expr gap = up ? negative(first) : first;
    const Expr step = up ? change : negative(change);
    return step.is_constant() && step.constant() == 1 ? gap : floor_div(gap, step);
  }

  /// -e, without signs that cancel.
  static Expr negative(Expr e) {
    if (e.is_constant()) {
      return e.pool().constant(-e.constant());
    }
    if (e->kind == ExprKind::kMul && e->operands[0].is_constant()) {
      return -e->operands[0].constant() * e->operands[1];
    }
    if (e->kind == ExprKind::kSub) {
      return e->operands[1] - e->operands[0];
    }
    return -1.0 * e;
  }

  Expr runs_of(std::uint32_t loop) {
    Expr runs = pool_->constant(1);
    for (std::uint32_t each = loop; each != kNothing; each = flow_.loops[each].parent) {
      const Expr trips = trips_[each] ? trips_[each] : pool_->symbol("trip_" + loop_name(each));
      runs = trips * runs;
    }
    return runs;
  }

  void regions(KernelFormulas& result) {
    std::map<std::uint32_t, KernelRegion> by_loop;
    const auto region = [&](std::uint32_t loop) -> KernelRegion& {
      KernelRegion& each = by_loop[loop + 1];  // outside of loops first
      each.loop = loop;
      return each;
    };
    region(kNothing);
    for (std::uint32_t loop = 0; loop < flow_.loops.size(); ++loop) {
      region(loop);
    }
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
      add(kernel_.instructions[i], region(flow_.loop_of[block_of_[i]]));
    }
    result.thread_instructions = pool_->constant(0);
    result.flops = pool_->constant(0);
    result.global_bytes = pool_->constant(0);
    for (auto& [key, each] : by_loop) {
      each.name = each.loop == kNothing ? "entry" : loop_name(each.loop);
      each.trips = each.loop == kNothing ? pool_->constant(1) : trips_[each.loop];
      each.runs = runs_of(each.loop);
      result.thread_instructions = result.thread_instructions + each.instructions * each.runs;
      result.flops = result.flops + (each.flops_fp32 + each.flops_fp64 + each.flops_fp16 +
                                     each.tensor_flops / 32) *
                                        each.runs;
      result.global_bytes =
          result.global_bytes + (each.global_load_bytes + each.global_store_bytes) * each.runs;
      result.regions.push_back(each);
    }
  }

  void add(const KernelInstruction& each, KernelRegion& region) const {
    const InstructionClass& kind = kernel_.classes[each.kind];
    region.instructions += kind.written;
    region.flops_fp32 += kind.flops_fp32;
    region.flops_fp64 += kind.flops_fp64;
    region.flops_fp16 += kind.flops_fp16;
    region.tensor_flops += kind.tensor_flops;
    if (each.access == kNothing) {
      return;
    }
    const KernelAccess& access = kernel_.accesses[each.access];
    const double bytes = access.shape == AccessShape::kFragment
                             ? access.bytes * access.rows * access.row_elements / 32.0
                             : access.bytes;
    if (access.space == MemorySpace::kShared) {
      region.shared_bytes += bytes;
    } else if (access.space == MemorySpace::kGlobal || access.space == MemorySpace::kGeneric) {
      (access.kind == AccessKind::kStore ? region.global_store_bytes : region.global_load_bytes) +=
          bytes;
    }
  }

  const Kernel& kernel_;
  const KernelFlow& flow_;
  std::shared_ptr<ExprPool> pool_;
  std::vector<std::vector<std::uint32_t>> writers_;
  std::vector<std::uint32_t> block_of_;
  std::map<std::uint32_t, Maybe> memo_;
  std::set<std::uint32_t> active_;
  std::map<std::uint32_t, Variable> variables_;  ///< Of the loop whose comparison is read.
  int depth_ = 0;
  std::vector<Expr> trips_;
  std::set<std::string> assumptions_;
};

}  // namespace

KernelFormulas formulas_of(const Kernel& kernel, const KernelFlow& flow) {
  return Formulas(kernel, flow).run();
}

}  // namespace mansard::ir
