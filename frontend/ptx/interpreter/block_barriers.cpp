#include <optional>

#include <fmt/format.h>

#include "frontend/ptx/interpreter/block_impl.hpp"
#include "frontend/ptx/special_registers.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {

void Block::release_barriers() {
  for (unsigned i = 0; i < kBarriers; ++i) {
    std::uint64_t live = 0;
    std::uint64_t waiting = 0;
    for (const Warp& warp : warps_) {
      live += warp.live != 0 ? kLanes : 0;
      waiting += warp.live != 0 && warp.waiting == static_cast<int>(i) ? kLanes : 0;
    }
    Barrier& barrier = barriers_[i];
    const std::uint64_t expected = barrier.expected == 0 ? live : barrier.expected;
    if (waiting > 0 && barrier.arrived + waiting >= expected) {
      finish_barrier(i);
    }
  }
}

void Block::finish_barrier(unsigned number) {
  Reduction& reduction = reductions_[number];
  for (Warp& warp : warps_) {
    if (warp.waiting == static_cast<int>(number)) {
      warp.waiting = -1;
      give_reduction(warp, reduction);
    }
  }
  reduction = {};
  barriers_[number] = {};
}

bool Block::barrier(Warp& warp, const Step& step, Mask mask) {
  const Form& form = *step.instruction->form;
  if (form.has("warp")) {
    return true;  // Lanes of a path run together already.
  }
  const bool reduces = form.has("red");
  const std::span<const Operand> given = operands(step).subspan(reduces ? 1 : 0);
  const unsigned lane = first_lane(mask);
  const std::uint64_t number = read(warp, given[0], lane, Type::kU32);
  if (number >= kBarriers) {
    return fail("ptx-bounds", fmt::format("there is no barrier {}", number), step.instruction);
  }
  if (mask != warp.live) {
    ++tally_.counts.divergent_barriers;
  }
  const std::size_t plain = reduces ? 2 : 1;
  Barrier& barrier = barriers_[number];
  if (given.size() > plain) {
    barrier.expected = read(warp, given[1], lane, Type::kU32);
  }
  if (form.has("arrive")) {
    barrier.arrived += kLanes;
    return true;
  }
  if (reduces) {
    Reduction& reduction = reductions_[number];
    reduction.step = &step;
    each_lane(mask, [&](unsigned each) {
      const bool holds = read(warp, given.back(), each, Type::kPred) != 0;
      reduction.count += holds ? 1 : 0;
      reduction.all = reduction.all && holds;
      reduction.any = reduction.any || holds;
    });
  }
  warp.waiting = static_cast<int>(number);
  return true;
}

void Block::give_reduction(Warp& warp, const Reduction& reduction) {
  if (reduction.step == nullptr) {
    return;
  }
  const Form& form = *reduction.step->instruction->form;
  const std::uint64_t result = form.has("popc")  ? reduction.count
                               : form.has("and") ? (reduction.all ? 1U : 0U)
                                                 : (reduction.any ? 1U : 0U);
  each_lane(warp.paths.back().mask,
            [&](unsigned lane) { write(warp, operands(*reduction.step)[0], lane, result); });
}

/// An mbarrier in shared memory, in a form of our own: bits 0-19 arrivals still expected, 20-39
/// arrivals of a phase, 63 the phase.
bool Block::memory_barrier(Warp& warp, const Step& step, Mask mask) {
  const Form& form = *step.instruction->form;
  const std::span<const Operand> given = operands(step);
  const auto address_at = static_cast<std::size_t>(
      std::find_if(given.begin(), given.end(),
                   [](const Operand& each) { return each.kind == OperandKind::kAddress; }) -
      given.begin());
  if (address_at == given.size() || form.has("expect_tx") || form.has("complete_tx")) {
    return fail("ptx-interpreter", fmt::format("'{}' is not interpreted", printable(text_of(step))),
                step.instruction);
  }
  Lanes where = addresses(warp, given[address_at], mask);
  const Space space = settle_space(step, given[address_at], mask, where);
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    std::byte* memory = find(warp, space, where[lane], 8, lane);
    if (memory == nullptr) {
      return out_of_bounds(step, space, where[lane], 8);
    }
    const bool has_count = given.size() > address_at + 1;
    const std::uint64_t argument =
        has_count ? read(warp, given[address_at + 1], lane, Type::kB64) : 1;
    const std::uint64_t result = update_barrier(form, memory, argument);
    if (address_at > 0) {
      write(warp, given[0], lane, result);
    }
  }
  return true;
}

std::uint64_t Block::update_barrier(const Form& form, std::byte* memory, std::uint64_t argument) {
  constexpr std::uint64_t kCount = (1U << 20) - 1;
  constexpr unsigned kPhase = 63;
  std::uint64_t state = load_bits(memory, 8);
  const std::uint64_t before = state;
  if (form.has("init")) {
    state = (argument & kCount) | ((argument & kCount) << 20);
  } else if (form.has("arrive") || form.has("arrive_drop")) {
    if (form.has("arrive_drop")) {
      state -= argument << 20;
    }
    state = (state & ~kCount) | (((state & kCount) - argument) & kCount);
    if ((state & kCount) == 0) {
      state ^= std::uint64_t{1} << kPhase;
      state |= (state >> 20) & kCount;
    }
  } else if (form.has("test_wait") || form.has("try_wait")) {
    const std::uint64_t phase = form.has("parity") ? argument & 1 : argument >> kPhase;
    return (state >> kPhase) != phase ? 1 : 0;
  }
  store_bits(memory, state, 8);
  return before;
}
}  // namespace mansard::frontend::ptx
