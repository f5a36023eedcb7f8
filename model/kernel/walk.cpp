#include "model/kernel/walk.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mansard::model::kernel {
namespace {

using ir::kNothing;

constexpr unsigned kLongestPeriod = 8;
constexpr std::uint32_t kNoSlot = 0xffffffffU;

std::uint8_t lanes_of(Mask mask) {
  return static_cast<std::uint8_t>(std::popcount(mask));
}

}  // namespace

Walk::Walk(const ir::Kernel& kernel, const ir::KernelFlow& flow, const Launch& launch,
           PatternTable& patterns, Findings& findings)
    : kernel_(kernel),
      flow_(flow),
      launch_(launch),
      patterns_(patterns),
      findings_(findings),
      slots_(kernel.registers.size(), kNoSlot) {
  std::uint32_t count = 0;
  for (std::size_t r = 0; r < slots_.size(); ++r) {
    if (flow.tracked[r]) {
      slots_[r] = count++;
    }
  }
  registers_.resize(count);
}

void Walk::run(std::array<std::int64_t, 3> origin, unsigned warp, Domain& domain, Log& log) {
  origin_ = origin;
  warp_ = warp;
  domain_ = domain;
  log_ = &log;
  exited_ = 0;
  std::fill(registers_.begin(), registers_.end(), Value{});
  opaque_of_.fill(0);
  dim_used_.fill(false);
  data_exit_.clear();
  const std::int64_t left = launch_.threads() - std::int64_t{warp} * kLanes;
  warp_mask_ = left >= kLanes ? ~Mask{0} : (Mask{1} << static_cast<unsigned>(left)) - 1;
  concern_ = warp_mask_;
  for (unsigned axis = 0; axis < 3; ++axis) {
    tid_[axis] = {.known = ~Mask{0}};
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    std::int64_t thread = std::int64_t{warp} * kLanes + lane;
    for (unsigned axis = 0; axis < 3; ++axis) {
      tid_[axis].base[lane] = thread % launch_.block[axis];
      thread /= launch_.block[axis];
    }
  }
  Parked parked;
  go(0, warp_mask_, kNothing, kNothing, parked);
  domain = domain_;
}

void Walk::go(std::uint32_t block, Mask mask, std::uint32_t loop, std::uint32_t stop,
              Parked& parked) {
  bool first = true;
  while (mask != 0) {
    if (block == kNothing) {
      exited_ |= mask;
      return;
    }
    const bool again = loop != kNothing && block == flow_.loops[loop].header && !first;
    if (block == stop || again || !flow_.inside(loop, block)) {
      parked[block] |= mask;
      return;
    }
    if (steps_ > budget_) {
      findings_.exhausted = true;
      return;
    }
    const bool at_header = first && loop != kNothing && block == flow_.loops[loop].header;
    first = false;
    const std::uint32_t inner = flow_.loop_of[block];
    if (inner != loop && inner != kNothing && flow_.loops[inner].header == block && !at_header) {
      Parked after;
      go_loop(inner, mask, after);
      if (after.size() == 1) {
        block = after.begin()->first;
        mask = after.begin()->second;
        continue;
      }
      std::uint32_t meet = flow_.post_dominator[block];
      while (meet != kNothing && flow_.inside(inner, meet)) {
        meet = flow_.post_dominator[meet];
      }
      Parked out;
      for (const auto& [target, lanes] : after) {
        go(target, lanes, loop, meet, out);
      }
      block = meet;
      mask = 0;
      for (const auto& [target, lanes] : out) {
        if (target == meet) {
          mask = lanes;
        } else {
          parked[target] |= lanes;
        }
      }
      continue;
    }
    execute(block, mask);
    branch(block, mask, loop, parked);
  }
}

void Walk::branch(std::uint32_t& block, Mask& mask, std::uint32_t loop, Parked& parked) {
  const ir::KernelBlock& at = kernel_.blocks[block];
  if (!at.targets.empty()) {
    both_ways(block, mask, loop, parked, at.targets);
    return;
  }
  if (at.predicate == kNothing) {
    block = at.taken;
    return;
  }
  const Value& predicate = reg(at.predicate);
  Mask taken = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    taken |= (predicate.at(lane) != 0) != at.predicate_negated ? Mask{1} << lane : 0;
  }
  if ((mask & ~predicate.known) != 0) {
    blame(predicate.causes, block);
    const std::vector<std::uint32_t> ways{at.taken, at.next};
    if (!data_exit(block, ways)) {
      both_ways(block, mask, loop, parked, ways);
    }
    return;
  }
  const Mask others = mask & ~taken;
  taken &= mask;
  if (others == 0 || taken == 0) {
    block = others == 0 ? at.taken : at.next;
    return;
  }
  findings_.divergent[block] += 1;
  const std::uint32_t meet = flow_.post_dominator[block];
  Parked out;
  go(at.taken, taken, loop, meet, out);
  go(at.next, others, loop, meet, out);
  mask = 0;
  for (const auto& [target, lanes] : out) {
    if (target == meet) {
      mask = lanes;
    } else {
      parked[target] |= lanes;
    }
  }
  block = meet;
}

bool Walk::data_exit(std::uint32_t& block, const std::vector<std::uint32_t>& ways) {
  const std::uint32_t loop = flow_.loop_of[block];
  if (loop == kNothing) {
    return false;
  }
  const bool first_stays = flow_.inside(loop, ways[0]);
  const bool second_stays = flow_.inside(loop, ways[1]);
  if (first_stays == second_stays) {
    return false;
  }
  const std::uint32_t leaves = first_stays ? ways[1] : ways[0];
  const bool cold = leaves != kNothing && kernel_.blocks[leaves].cold;
  block = first_stays ? ways[0] : ways[1];
  if (!cold) {
    findings_.unknown_loops.insert(loop);
    data_exit_[loop] = leaves;
  }
  return true;
}

void Walk::both_ways(std::uint32_t& block, Mask& mask, std::uint32_t loop, Parked& parked,
                     const std::vector<std::uint32_t>& ways) {
  findings_.data_branches.insert(block);
  const std::uint32_t meet = flow_.post_dominator[block];
  const State before = registers_;
  std::optional<State> merged;
  Parked out;
  for (const std::uint32_t way : ways) {
    if (way != kNothing && kernel_.blocks[way].cold) {
      continue;
    }
    registers_ = before;
    go(way, mask, loop, meet, out);
    if (!merged) {
      merged = registers_;
      continue;
    }
    for (std::size_t r = 0; r < registers_.size(); ++r) {
      Value& a = (*merged)[r];
      const Value& b = registers_[r];
      Mask same = a.coef == b.coef ? a.known & b.known : 0;
      for (unsigned lane = 0; lane < kLanes && same != 0; ++lane) {
        same &= a.at(lane) == b.at(lane) ? ~Mask{0} : ~(Mask{1} << lane);
      }
      if (same != (a.known & b.known) || a.known != b.known) {
        a.causes |= kData;
      }
      a.known = same;
    }
  }
  if (merged) {
    registers_ = *std::move(merged);
  }
  mask = 0;
  for (const auto& [target, lanes] : out) {
    if (target == meet) {
      mask = lanes;
    } else {
      parked[target] |= lanes;
    }
  }
  block = meet;
}

void Walk::blame(Causes causes, std::uint32_t block) {
  for (std::uint32_t p = 0; p < kernel_.parameters.size() && p < 62; ++p) {
    if ((causes >> p & 1U) != 0) {
      findings_.unbound.insert(p);
    }
  }
  if ((causes & ~kData) == 0) {
    findings_.data_branches.insert(block);
  }
}

/// One iteration of the lanes `live`. False if the loop is done with.
bool Walk::iterate(std::uint32_t loop, Mask& live, Parked& after) {
  const ir::KernelLoop& at = flow_.loops[loop];
  const Marks from = marks();
  data_exit_.erase(loop);
  Parked parked;
  go(at.header, live, loop, kNothing, parked);
  const auto exit = data_exit_.find(loop);
  const bool by_data = exit != data_exit_.end();
  if (by_data) {
    const auto trips = launch_.trips.find(loop);
    const Trips given = trips == launch_.trips.end() ? Trips() : trips->second;
    scale(from, given.count, given.active);
    for (const std::uint32_t r : at.modified) {
      reg(r) = Value::unknown(kData);
    }
    if (exit->second != kNothing) {
      after[exit->second] |= live;
    }
    data_exit_.erase(exit);
  }
  live = 0;
  for (const auto& [target, lanes] : parked) {
    if (target != at.header) {
      after[target] |= lanes;
    } else if (!by_data) {
      live = lanes;
    }
  }
  return live != 0 && steps_ <= budget_;
}

void Walk::go_loop(std::uint32_t loop, Mask mask, Parked& after) {
  const ir::KernelLoop& at = flow_.loops[loop];
  Mask live = mask;
  std::vector<State> history{save(at.carried)};
  std::int64_t fails = 0;
  std::int64_t next_try = 0;
  for (std::int64_t iteration = 0; iterate(loop, live, after); ++iteration) {
    history.push_back(save(at.carried));
    if (history.size() > 2 * kLongestPeriod + 1) {
      history.erase(history.begin());
    }
    if (iteration < next_try) {
      continue;
    }
    if (try_leaps(loop, live, history, fails == 0) > 1) {
      history.assign(1, save(at.carried));
      fails = 0;
    } else {
      ++fails;
      next_try =
          iteration + (std::int64_t{1} << std::min<std::int64_t>(fails > 12 ? fails - 12 : 0, 10));
    }
  }
}

std::optional<std::vector<std::int64_t>> Walk::difference(const State& from, const State& to,
                                                          Mask live) const {
  std::vector<std::int64_t> delta(from.size());
  for (std::size_t r = 0; r < from.size(); ++r) {
    const Value& a = from[r];
    const Value& b = to[r];
    const Mask known = a.known & live;
    if (known != (b.known & live)) {
      return std::nullopt;
    }
    if (known == 0) {
      continue;
    }
    const auto first = static_cast<unsigned>(std::countr_zero(known));
    delta[r] = b.at(first) - a.at(first);
    for (Mask rest = known; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (b.at(lane) - a.at(lane) != delta[r]) {
        return std::nullopt;
      }
    }
    for (unsigned d = 0; d < kDims; ++d) {
      if (domain_.varies(d) && a.coef[d] != b.coef[d]) {
        return std::nullopt;
      }
    }
  }
  return delta;
}

/// Leaps over as many iterations as share one path; the number of them, or 0.
std::int64_t Walk::try_leaps(std::uint32_t loop, Mask live, const std::vector<State>& history,
                             bool eager) {
  const State& now = history.back();
  for (unsigned period = 1; period <= kLongestPeriod && period < history.size(); ++period) {
    const State& before = history[history.size() - 1 - period];
    const auto delta = difference(before, now, live);
    if (!delta) {
      continue;
    }
    if (!(eager && period == 1)) {
      if (history.size() <= 2 * period ||
          difference(history[history.size() - 1 - 2 * period], before, live) != delta) {
        continue;
      }
    }
    if (const std::int64_t count = leap(loop, live, *delta, period); count > 1) {
      return count;
    }
  }
  return 0;
}

bool Walk::repeats(std::uint32_t loop, Mask live, unsigned period) {
  const std::uint32_t header = flow_.loops[loop].header;
  for (unsigned i = 0; i < period; ++i) {
    Parked parked;
    go(header, live, loop, kNothing, parked);
    if (data_exit_.contains(loop) || parked.size() != 1 || parked.begin()->first != header ||
        parked.begin()->second != live || steps_ > budget_) {
      return false;
    }
  }
  return true;
}

bool Walk::induction_holds(std::uint32_t loop, Mask live, const State& start,
                           const std::vector<std::int64_t>& delta, unsigned dim) const {
  const std::vector<std::uint32_t>& carried = flow_.loops[loop].carried;
  for (std::size_t r = 0; r < carried.size(); ++r) {
    const Value& now = reg(carried[r]);
    const Mask known = start[r].known & live;
    if ((now.known & live) != known) {
      return false;
    }
    for (Mask rest = known; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (now.at(lane) != start[r].at(lane) + delta[r]) {
        return false;
      }
    }
    for (unsigned d = 0; d < kDims && known != 0; ++d) {
      const std::int64_t expected = d == dim ? delta[r] : start[r].coef[d];
      if (domain_.varies(d) && now.coef[d] != expected) {
        return false;
      }
    }
  }
  return true;
}

std::int64_t Walk::leap(std::uint32_t loop, Mask live, const std::vector<std::int64_t>& delta,
                        unsigned period) {
  unsigned dim = kBlockDims;
  while (dim < kFirstOpaque && dim_used_[dim]) {
    ++dim;
  }
  if (dim == kFirstOpaque) {
    return 0;
  }
  const ir::KernelLoop& at = flow_.loops[loop];
  const State saved = save(at.modified);
  const State start = save(at.carried);
  const Domain domain = domain_;
  const Marks from = marks();
  const Mask concern = std::exchange(concern_, live);
  dim_used_[dim] = true;
  domain_.extent[dim] = kUnbounded;
  for (std::size_t r = 0; r < at.carried.size(); ++r) {
    reg(at.carried[r]).coef[dim] = delta[r];
  }
  const bool holds = repeats(loop, live, period) && induction_holds(loop, live, start, delta, dim);
  std::int64_t count = domain_.extent[dim];
  dim_used_[dim] = false;
  concern_ = concern;
  data_exit_.erase(loop);
  if (!holds || count < 2) {
    truncate(from);
    restore(at.modified, saved);
    domain_ = domain;
    return 0;
  }
  if (count == kUnbounded) {
    findings_.endless = true;
    budget_ = 0;
  }
  close(from, dim, count);
  land(loop, live, saved, start, delta, count, dim);
  domain_.extent[dim] = 1;
  return count;
}

/// The registers after `count` steps; lanes that have left the loop keep what they had.
void Walk::land(std::uint32_t loop, Mask live, const State& saved, const State& start,
                const std::vector<std::int64_t>& delta, std::int64_t count, unsigned dim) {
  const ir::KernelLoop& at = flow_.loops[loop];
  for (std::size_t r = 0; r < at.carried.size(); ++r) {
    Value value = start[r];
    const unsigned lanes = value.uniform ? 1 : kLanes;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      value.base[lane] += count * delta[r];
    }
    reg(at.carried[r]) = value;
  }
  for (std::size_t r = 0; r < at.modified.size(); ++r) {
    Value value = reg(at.modified[r]);
    value.coef[dim] = 0;
    reg(at.modified[r]) = saved[r];
    merge(reg(at.modified[r]), value, live);
  }
}

void Walk::truncate(const Marks& from) {
  log_->runs.resize(from.runs);
  log_->accesses.resize(from.accesses);
}

void Walk::close(const Marks& from, unsigned dim, std::int64_t count) {
  for (std::size_t i = from.runs; i < log_->runs.size(); ++i) {
    log_->runs[i].weight *= static_cast<double>(count);
  }
  for (std::size_t i = from.accesses; i < log_->accesses.size(); ++i) {
    AccessEvent& each = log_->accesses[i];
    if (each.coef[dim] == 0) {
      each.weight *= static_cast<double>(count);
    } else {
      each.strides.push_back({each.coef[dim], count});
      each.coef[dim] = 0;
    }
  }
}

void Walk::scale(const Marks& from, double factor, double active) {
  for (std::size_t i = from.runs; i < log_->runs.size(); ++i) {
    log_->runs[i].weight *= factor;
    log_->runs[i].active *= active;
  }
  for (std::size_t i = from.accesses; i < log_->accesses.size(); ++i) {
    log_->accesses[i].weight *= factor;
    log_->accesses[i].active *= active;
  }
}

Walk::State Walk::save(const std::vector<std::uint32_t>& registers) const {
  State values;
  values.reserve(registers.size());
  for (const std::uint32_t r : registers) {
    values.push_back(reg(r));
  }
  return values;
}

void Walk::restore(const std::vector<std::uint32_t>& registers, const State& values) {
  for (std::size_t i = 0; i < registers.size(); ++i) {
    reg(registers[i]) = values[i];
  }
}

void Walk::execute(std::uint32_t block, Mask mask) {
  const ir::KernelBlock& at = kernel_.blocks[block];
  log_->runs.push_back({.id = block, .lanes = lanes_of(mask)});
  ++steps_;
  for (std::uint32_t i = at.first; i < at.first + at.count; ++i) {
    if (kernel_.instructions[i].barrier && (mask | exited_) != warp_mask_) {
      findings_.divergent_barriers.insert(i);
    }
    if (flow_.step[i]) {
      ++steps_;
      step(i, mask);
    }
  }
}

}  // namespace mansard::model::kernel
