#include <optional>

#include <fmt/format.h>

#include "frontend/ptx/interpreter/block_impl.hpp"
#include "frontend/ptx/special_registers.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

constexpr std::uint64_t kQuantum = 4096;  ///< Instructions of a warp before the next one runs.

}  // namespace

bool Block::run() {
  start();
  while (true) {
    bool moved = false;
    bool alive = false;
    for (Warp& warp : warps_) {
      alive = alive || warp.live != 0;
      if (warp.live != 0 && warp.waiting < 0) {
        moved = true;
        if (!run_warp(warp)) {
          return false;
        }
      }
    }
    if (!alive) {
      return true;
    }
    release_barriers();
    const bool stuck = std::all_of(warps_.begin(), warps_.end(), [](const Warp& warp) {
      return warp.live == 0 || warp.waiting >= 0;
    });
    if (!moved && stuck) {
      return fail("ptx-deadlock", "every warp waits at a barrier that others never reach", nullptr);
    }
  }
}

void Block::start() {
  const std::uint64_t threads = in_.launch.block.count();
  shared_.assign(in_.layout.shared_bytes + in_.launch.dynamic_shared, std::byte{});
  warps_.resize((threads + kLanes - 1) / kLanes);
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    Warp& warp = warps_[i];
    const std::uint64_t here = std::min<std::uint64_t>(kLanes, threads - i * kLanes);
    warp.number = static_cast<unsigned>(i);
    warp.lanes = here == kLanes ? ~Mask{0} : (Mask{1} << here) - 1;
    warp.live = warp.lanes;
    warp.paths = {{warp.lanes, 0, end()}};
    warp.registers.assign(function_.registers.size(), Lanes{});
    warp.local.assign(in_.layout.local_bytes * kLanes, std::byte{});
  }
}

std::uint32_t Block::end() const {
  return static_cast<std::uint32_t>(in_.program.steps.size());
}

bool Block::fail(std::string id, std::string message, const Instruction* at) {
  stop_ = {std::move(id), std::move(message), at};
  return false;
}

bool Block::run_warp(Warp& warp) {
  for (std::uint64_t i = 0; i < kQuantum && warp.live != 0 && warp.waiting < 0; ++i) {
    settle(warp);
    if (warp.live == 0) {
      break;
    }
    if (tally_.budget == 0) {
      return fail("ptx-limit", "more warp instructions than the limit allows",
                  in_.program.steps[warp.paths.back().pc].instruction);
    }
    --tally_.budget;
    if (!step(warp)) {
      return false;
    }
  }
  return true;
}

/// Drops paths that have come to where they join others, and ends lanes that ran off the end.
void Block::settle(Warp& warp) {
  while (!warp.paths.empty()) {
    const Path& top = warp.paths.back();
    if (top.mask == 0 || (top.pc == top.until && warp.paths.size() > 1)) {
      warp.paths.pop_back();
    } else if (top.pc >= end()) {
      leave(warp, top.mask);
    } else {
      return;
    }
  }
  warp.live = 0;
}

void Block::leave(Warp& warp, Mask lanes) {
  warp.live &= ~lanes;
  for (Path& path : warp.paths) {
    path.mask &= ~lanes;
  }
}

Mask Block::guarded(const Warp& warp, const Instruction& instruction, Mask mask) const {
  if (!instruction.guard) {
    return mask;
  }
  const Lanes& predicate = warp.registers[index(instruction.guard.predicate)];
  Mask held = 0;
  each_lane(mask, [&](unsigned lane) {
    if ((predicate[lane] != 0) != instruction.guard.negated) {
      held |= Mask{1} << lane;
    }
  });
  return held;
}

InstructionCounts& Block::counts_of(const Step& step) {
  return tally_.counts.instructions[static_cast<std::size_t>(&step - in_.program.steps.data())];
}

bool Block::step(Warp& warp) {
  Path& path = warp.paths.back();
  const Step& step = in_.program.steps[path.pc];
  const Mask mask = guarded(warp, *step.instruction, path.mask);
  InstructionCounts& counts = counts_of(step);
  const auto threads = static_cast<std::uint64_t>(std::popcount(mask));
  ++counts.warps;
  counts.threads += threads;
  counts.active_warps += mask != 0 ? 1 : 0;
  ++tally_.counts.warp_instructions;
  tally_.counts.thread_instructions += threads;
  if (step.action == Action::kBranch || step.action == Action::kIndexedBranch) {
    return branch(warp, step, mask);
  }
  ++path.pc;
  if (mask == 0) {
    return true;
  }
  if (step.action == Action::kExit) {
    leave(warp, mask);
    return true;
  }
  return execute(warp, step, mask);
}

bool Block::execute(Warp& warp, const Step& step, Mask mask) {
  switch (step.action) {
    case Action::kCompute:
      return compute(warp, step, mask);
    case Action::kMove:
      return move(warp, step, mask);
    case Action::kCompare:
      return compare_lanes(warp, step, mask);
    case Action::kConvertAddress:
      return convert_address(warp, step, mask);
    case Action::kIsSpace:
      return is_space(warp, step, mask);
    case Action::kLoad:
    case Action::kStore:
      return load_or_store(warp, step, mask);
    case Action::kAtomic:
      return atomic(warp, step, mask);
    case Action::kCopy:
      return copy(warp, step, mask);
    case Action::kMatrixLoad:
    case Action::kMatrixStore:
      return move_matrix(warp, step, mask);
    case Action::kMatrixProduct:
      return multiply(warp, step, mask);
    case Action::kTile:
      return tile(warp, step, mask);
    default:
      return communicate(warp, step, mask);
  }
}

bool Block::communicate(Warp& warp, const Step& step, Mask mask) {
  switch (step.action) {
    case Action::kShuffle:
      return shuffle(warp, step, mask);
    case Action::kVote:
      return vote(warp, step, mask);
    case Action::kMatch:
      return match(warp, step, mask);
    case Action::kReduce:
      return reduce(warp, step, mask);
    case Action::kActiveMask:
      each_lane(mask, [&](unsigned lane) { write(warp, operands(step)[0], lane, mask); });
      return true;
    case Action::kElect:
      return elect(warp, step, mask);
    case Action::kBarrier:
      return barrier(warp, step, mask);
    case Action::kMemoryBarrier:
      return memory_barrier(warp, step, mask);
    case Action::kNothing:
      return true;
    default:
      return fail("ptx-interpreter",
                  fmt::format("'{}' is not interpreted", printable(text_of(step))),
                  step.instruction);
  }
}

std::string_view Block::text_of(const Step& step) const {
  const Instruction& instruction = *step.instruction;
  return std::string_view(in_.module.source->text)
      .substr(instruction.position, instruction.end - instruction.position);
}

bool Block::branch(Warp& warp, const Step& step, Mask mask) {
  // Lanes by where they go; those that do not branch go on.
  std::vector<Path> ways;
  const std::uint32_t next = warp.paths.back().pc + 1;
  const Mask rest = warp.paths.back().mask & ~mask;
  if (rest != 0) {
    ways.push_back({rest, next, step.reconvergence});
  }
  bool in_range = true;
  each_lane(mask, [&](unsigned lane) {
    const std::uint32_t target = target_of(warp, step, lane, in_range);
    const auto same =
        std::find_if(ways.begin(), ways.end(), [&](const Path& way) { return way.pc == target; });
    if (same != ways.end()) {
      same->mask |= Mask{1} << lane;
    } else {
      ways.push_back({Mask{1} << lane, target, step.reconvergence});
    }
  });
  if (!in_range) {
    return fail("ptx-bounds", "index of a branch beyond its targets", step.instruction);
  }
  InstructionCounts& counts = counts_of(step);
  counts.taken += mask != 0 ? 1 : 0;
  counts.passed += rest != 0 ? 1 : 0;
  if (ways.size() == 1) {
    warp.paths.back().pc = ways.front().pc;
    return true;
  }
  ++counts.divergent;
  ++tally_.counts.divergent_branches;
  warp.paths.back().pc = step.reconvergence;
  warp.paths.insert(warp.paths.end(), ways.begin(), ways.end());
  return true;
}

std::uint32_t Block::target_of(const Warp& warp, const Step& step, unsigned lane,
                               bool& in_range) const {
  const std::span<const Operand> given = operands(step);
  if (step.action == Action::kBranch) {
    return static_cast<std::uint32_t>(function_.label(given[0].as<LabelId>()).target);
  }
  const Targets& targets = function_.targets[given[1].id];
  const std::uint64_t chosen = read(warp, given[0], lane, Type::kU32);
  if (chosen >= targets.targets.size()) {
    in_range = false;
    return end();
  }
  return static_cast<std::uint32_t>(function_.label(targets.targets[chosen].as<LabelId>()).target);
}
bool run_block(const BlockInput& input, Tally& tally, Stop& stop) {
  return Block(input, tally, stop).run();
}

}  // namespace mansard::frontend::ptx
