#include "ir/kernel_symbolic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/kernel_terms.hpp"

namespace mansard::ir {
namespace {

/// Nested registers and joins; what lies deeper is taken as unknown.
constexpr int kMostDepth = 400;
/// Values found for one kernel, after which the rest is unknown; a large kernel takes a tenth.
constexpr std::int64_t kMostSteps = 400'000;
constexpr std::size_t kMostProbes = 60;
/// Variables from here on are probes, by depth; below lie loops.
constexpr std::uint32_t kFirstProbe = 0x80000000U;

/// s if the number is 2^s with s > 0, else 0.
unsigned power_of_two(double number) {
  int exponent = 0;
  return number >= 2 && std::frexp(number, &exponent) == 0.5 ? static_cast<unsigned>(exponent - 1)
                                                             : 0;
}

}  // namespace

Symbolic::Symbolic(const Kernel& kernel, const KernelFlow& flow)
    : kernel_(kernel),
      flow_(flow),
      pool_(std::make_shared<ExprPool>()),
      definitions_(kernel, flow) {}

/// What instruction `at` reads in a register.
Symbolic::Maybe Symbolic::reg(std::uint32_t id, std::uint32_t at) {
  return seen_from(definitions_.before(id, at), definitions_.block_of(at));
}

/// A definition as `block` sees it: the loops around it that `block` is not in have ended.
Symbolic::Maybe Symbolic::seen_from(const Definition& given, std::uint32_t block) {
  const Definition definition = definitions_.settled(given);
  Maybe value = evaluate(definition);
  for (std::uint32_t loop = flow_.loop_of[definitions_.block_of(definition)];
       value && loop != kNothing && !flow_.inside(loop, block); loop = flow_.loops[loop].parent) {
    value = left(*value, loop);
  }
  return value;
}

/// The value in the last iteration of a loop.
Symbolic::Maybe Symbolic::left(const Linear& value, std::uint32_t loop) {
  if (!depends(value, loop)) {
    return value;
  }
  const Expr counted = trips(loop);
  const Expr last =
      minus(counted ? counted : pool_->symbol("trip_" + loop_name(loop)), pool_->constant(1));
  const Expr moving = variable(loop);
  const auto at_last = [&](Expr e) {
    return depends(e, loop) ? substitute(e, *pool_,
                                         [&](const ExprNode& node) {
                                           return &node == &moving.node() ? last : Expr();
                                         })
                            : e;
  };
  Linear result{.rest = at_last(value.rest), .terms = {}};
  for (const auto& [key, coefficient] : value.terms) {
    if (key == loop) {
      result.rest = plus(result.rest, coefficient * last);
    } else {
      result.terms[key] = at_last(coefficient);
    }
  }
  return result;
}

Symbolic::Maybe Symbolic::evaluate(const Definition& definition) {
  const auto probe = std::find(probes_.begin(), probes_.end(), definition);
  if (probe != probes_.end()) {
    const auto depth = static_cast<std::uint32_t>(probe - probes_.begin());
    touched_ |= std::uint64_t{1} << depth;
    return Linear{.rest = pool_->constant(0), .terms = {{kFirstProbe + depth, pool_->constant(1)}}};
  }
  if (const auto known = known_.find(definition); known != known_.end()) {
    touched_ |= known->second.probes;
    return known->second.value;
  }
  if (depth_ > kMostDepth || ++steps_ > kMostSteps || !active_.insert(definition).second) {
    touched_ = ~std::uint64_t{0};  // true only of this way of asking
    return std::nullopt;
  }
  const std::uint64_t outer = std::exchange(touched_, 0);
  ++depth_;
  Maybe value = compute(definition);
  --depth_;
  active_.erase(definition);
  known_[definition] = {value, touched_};
  const auto innermost = static_cast<std::size_t>(std::bit_width(touched_));
  if (innermost > 0 && !found_under_.empty()) {
    found_under_[std::min(innermost, found_under_.size()) - 1].push_back(definition);
  }
  touched_ |= outer;
  return value;
}

Symbolic::Maybe Symbolic::compute(const Definition& definition) {
  switch (definition.kind) {
    case Definition::Kind::kInstruction:
      return instruction(definition);
    case Definition::Kind::kPhi: {
      const std::uint32_t loop = headed_by(definition.at);
      return loop == kNothing ? merged(definition.at, definition.reg)
                              : recurrence(definition, loop);
    }
    case Definition::Kind::kUndefined:
      break;
  }
  return std::nullopt;
}

/// The loop whose header `block` is.
std::uint32_t Symbolic::headed_by(std::uint32_t block) const {
  const std::uint32_t loop = flow_.loop_of[block];
  return loop != kNothing && flow_.loops[loop].header == block ? loop : kNothing;
}

/// A register of a header, solved for: what an iteration makes of it says how it steps.
Symbolic::Maybe Symbolic::recurrence(const Definition& phi, std::uint32_t loop) {
  if (probes_.size() >= kMostProbes) {
    return std::nullopt;
  }
  const Maybe start = entered_with(loop, phi.reg);
  if (!start) {
    return std::nullopt;
  }
  const auto depth = static_cast<std::uint32_t>(probes_.size());
  probes_.push_back(phi);
  found_under_.emplace_back();
  const std::set<Definition> outer =
      std::exchange(active_, {});  // may be asked again, of the probe
  const Maybe next = after_iteration(loop, phi.reg);
  active_ = outer;
  for (const Definition& each : found_under_.back()) {
    known_.erase(each);
  }
  found_under_.pop_back();
  probes_.pop_back();
  touched_ &= ~(std::uint64_t{1} << depth);
  return next ? stepped(loop, *start, *next, kFirstProbe + depth) : std::nullopt;
}

Symbolic::Maybe Symbolic::stepped(std::uint32_t loop, const Linear& start, const Linear& next,
                                  std::uint32_t probe) {
  Linear step = next;
  const auto itself = step.terms.find(probe);
  if (itself == step.terms.end()) {
    const ExprNode& node = next.rest.node();
    const unsigned down = node.kind == ExprKind::kFloorDiv && node.operands[1].is_constant()
                              ? power_of_two(node.operands[1].constant())
                              : 0;
    const bool halves = next.terms.empty() && down > 0 && node.operands[0] == variable(probe);
    return halves && !depends(start, loop)
               ? geometric({.loop = loop, .start = folded(start), .shift = down})
               : std::nullopt;
  }
  const Expr factor = itself->second;
  step.terms.erase(itself);
  if (!factor.is_constant() || depends(step, probe) || depends(step, loop)) {
    return std::nullopt;
  }
  if (const unsigned up = power_of_two(factor.constant()); up > 0) {
    const bool nothing = step.terms.empty() && step.rest.is_constant() && step.rest.constant() == 0;
    return nothing && !depends(start, loop)
               ? geometric({.loop = loop, .start = folded(start), .shift = up, .up = true})
               : std::nullopt;
  }
  if (factor.constant() != 1) {
    return std::nullopt;
  }
  const Expr by = folded(step);
  if (by.is_constant() && by.constant() == 0) {
    return start;
  }
  Linear value = start;
  value.terms[loop] = by;
  return value;
}

Symbolic::Maybe Symbolic::geometric(const Geometric& moving) {
  const Expr doublings =
      static_cast<double>(moving.shift) * variable(moving.loop) + static_cast<double>(moving.extra);
  const Expr scale = scale2(pool_->constant(1), doublings);
  const Expr value = moving.up ? moving.start * scale : floor_div(moving.start, scale);
  geometrics_[&value.node()] = moving;
  return Linear{.rest = value, .terms = {}};
}

/// What a register holds when a loop is entered.
Symbolic::Maybe Symbolic::entered_with(std::uint32_t loop, std::uint32_t id) {
  const std::uint32_t header = flow_.loops[loop].header;
  std::vector<std::uint32_t> from;
  for (const std::uint32_t each : definitions_.predecessors(header)) {
    if (!flow_.inside(loop, each)) {
      from.push_back(each);
    }
  }
  if (from.size() == 1) {
    return seen_from(definitions_.after(id, from[0]), from[0]);
  }
  const std::uint32_t fork = flow_.dominator[header];
  Join join{.block = header, .reg = id, .within = flow_.loops[loop].parent, .arrivals = {}};
  return fork == kNothing ? std::nullopt : ways_from(join, fork).value;
}

/// What a register holds when the next iteration begins.
Symbolic::Maybe Symbolic::after_iteration(std::uint32_t loop, std::uint32_t id) {
  const std::uint32_t header = flow_.loops[loop].header;
  std::vector<std::uint32_t> latches;
  for (const std::uint32_t each : definitions_.predecessors(header)) {
    if (flow_.inside(loop, each)) {
      latches.push_back(each);
    }
  }
  if (latches.size() == 1) {
    return seen_from(definitions_.after(id, latches[0]), header);
  }
  Join join{.block = header, .reg = id, .within = loop, .arrivals = {}};
  return branch(join, header).value;
}

/// A register where ways meet: what the branches before it choose.
Symbolic::Maybe Symbolic::merged(std::uint32_t block, std::uint32_t id) {
  const std::uint32_t fork = flow_.dominator[block];
  if (fork == kNothing) {
    return std::nullopt;
  }
  Join join{.block = block, .reg = id, .within = kNothing, .arrivals = {}};
  const std::uint32_t around = flow_.loop_of[fork];
  if (around != kNothing && !flow_.inside(around, block)) {
    return past_loop(join, around).value;
  }
  return branch(join, fork).value;
}

Symbolic::Arrival Symbolic::arrive(Join& join, std::uint32_t from, std::uint32_t to) {
  if (to == join.block) {
    return {.value = seen_from(definitions_.after(join.reg, from), join.block)};
  }
  const bool outside = to == kNothing || !flow_.inside(join.within, to);
  return outside || kernel_.blocks[to].cold ? Arrival{.dead = true} : ways_from(join, to);
}

Symbolic::Arrival Symbolic::ways_from(Join& join, std::uint32_t block) {
  const auto [place, fresh] = join.arrivals.try_emplace(block, Arrival{.dead = true});
  if (!fresh) {
    return place->second;  // of a way back: dead
  }
  if (++depth_ > kMostDepth) {
    --depth_;
    touched_ = ~std::uint64_t{0};
    return {};
  }
  const std::uint32_t loop = headed_by(block);
  const bool passes = loop != kNothing && !flow_.inside(loop, join.block);
  Arrival found = passes ? past_loop(join, loop) : branch(join, block);
  --depth_;
  join.arrivals[block] = found;
  return found;
}

Symbolic::Arrival Symbolic::branch(Join& join, std::uint32_t block) {
  const KernelBlock& at = kernel_.blocks[block];
  if (!at.targets.empty()) {
    return {};
  }
  Arrival taken = arrive(join, block, at.taken);
  if (at.predicate == kNothing) {
    return taken;
  }
  Arrival next = arrive(join, block, at.next);
  if (taken.dead || next.dead) {
    return taken.dead ? next : taken;
  }
  if (taken.value == next.value) {
    return taken;
  }
  const Maybe condition = seen_from(definitions_.after(at.predicate, block), block);
  return {.value = at.predicate_negated ? choose(condition, next.value, taken.value)
                                        : choose(condition, taken.value, next.value)};
}

/// On from where a loop is left: known if all ways out bring the same.
Symbolic::Arrival Symbolic::past_loop(Join& join, std::uint32_t loop) {
  Arrival found{.dead = true};
  for (const std::uint32_t from : flow_.loops[loop].blocks) {
    for (const std::uint32_t to : flow_.successors[from]) {
      if (flow_.inside(loop, to)) {
        continue;
      }
      const Arrival each = arrive(join, from, to);
      if (each.dead) {
        continue;
      }
      if (!found.dead && each.value != found.value) {
        return {};
      }
      found = each;
    }
  }
  return found;
}

/// The symbol of a variable.
Expr Symbolic::variable(std::uint32_t key) {
  return key < kFirstProbe ? pool_->symbol("iteration_" + loop_name(key))
                           : pool_->symbol("probe_" + std::to_string(key - kFirstProbe));
}

bool Symbolic::depends(Expr expression, std::uint32_t key) {
  if (expression.is_constant()) {
    return false;
  }
  const auto [place, fresh] = depends_.try_emplace({&expression.node(), key}, false);
  if (fresh) {
    const std::vector<Expr> symbols = symbols_of(expression);
    place->second = std::find(symbols.begin(), symbols.end(), variable(key)) != symbols.end();
  }
  return place->second;
}

bool Symbolic::depends(const Linear& value, std::uint32_t key) {
  return value.terms.contains(key) || depends(value.rest, key) ||
         std::any_of(value.terms.begin(), value.terms.end(),
                     [&](const auto& term) { return depends(term.second, key); });
}

Expr Symbolic::folded(const Linear& value) {
  Expr sum = value.rest;
  for (const auto& [key, coefficient] : value.terms) {
    sum = plus(sum, coefficient * variable(key));
  }
  return sum;
}

Expr Symbolic::trips(std::uint32_t loop) {
  if (const auto known = trips_.find(loop); known != trips_.end()) {
    return known->second;
  }
  if (!counting_.insert(loop).second) {
    touched_ = ~std::uint64_t{0};
    return {};
  }
  const std::uint64_t outer = std::exchange(touched_, 0);
  const Expr found = count_trips(loop);
  counting_.erase(loop);
  if (touched_ == 0 || probes_.empty()) {
    trips_[loop] = found;
  }
  touched_ |= outer;
  return found;
}

}  // namespace mansard::ir
