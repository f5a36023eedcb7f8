#include "frontend/ptx/interpreter/block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "frontend/ptx/interpreter/matrix.hpp"
#include "frontend/ptx/special_registers.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

constexpr unsigned kBarriers = 16;
constexpr std::uint64_t kQuantum = 4096;  ///< Instructions of a warp before the next one runs.
constexpr std::uint64_t kSectorBytes = 32;

struct Barrier {
  std::uint64_t arrived = 0;   ///< Threads, whole warps.
  std::uint64_t expected = 0;  ///< 0: all of the block that are left.
};

unsigned first_lane(Mask mask) {
  return static_cast<unsigned>(std::countr_zero(mask));
}

class Block {
 public:
  Block(const BlockInput& input, Tally& tally, Stop& stop)
      : in_(input), function_(*input.program.function), tally_(tally), stop_(stop) {}

  bool run() {
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
        return fail("ptx-deadlock", "every warp waits at a barrier that others never reach",
                    nullptr);
      }
    }
  }

 private:
  void start() {
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

  [[nodiscard]] std::uint32_t end() const {
    return static_cast<std::uint32_t>(in_.program.steps.size());
  }

  bool fail(std::string id, std::string message, const Instruction* at) {
    stop_ = {std::move(id), std::move(message), at};
    return false;
  }

  // Scheduling.

  bool run_warp(Warp& warp) {
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
  void settle(Warp& warp) {
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

  static void leave(Warp& warp, Mask lanes) {
    warp.live &= ~lanes;
    for (Path& path : warp.paths) {
      path.mask &= ~lanes;
    }
  }

  void release_barriers() {
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

  void finish_barrier(unsigned number) {
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

  // Values.

  [[nodiscard]] std::uint64_t read(const Warp& warp, const Operand& operand, unsigned lane,
                                   Type type) const {
    switch (operand.kind) {
      case OperandKind::kRegister: {
        const std::uint64_t bits =
            warp.registers[operand.id][lane] + static_cast<std::uint64_t>(operand.value);
        return operand.negated ? bits ^ 1U : bits;
      }
      case OperandKind::kSpecial:
        return special(warp, operand, lane);
      case OperandKind::kFloat32:
        return type == Type::kF64 ? std::bit_cast<std::uint64_t>(as_float(
                                        Type::kF32, static_cast<std::uint64_t>(operand.value)))
                                  : static_cast<std::uint64_t>(operand.value);
      case OperandKind::kFloat64:
        return type == Type::kF32 ? float_bits(Type::kF32, std::bit_cast<double>(operand.value),
                                               Rounding::kNearest, false)
                                  : static_cast<std::uint64_t>(operand.value);
      case OperandKind::kVariable:
        return in_.layout.address_of[operand.id] + static_cast<std::uint64_t>(operand.value);
      default:
        return static_cast<std::uint64_t>(operand.value);
    }
  }

  [[nodiscard]] std::uint64_t special(const Warp& warp, const Operand& operand,
                                      unsigned lane) const {
    const std::string_view name = special_register(operand.as<SpecialId>()).name;
    const std::uint64_t thread = std::uint64_t{warp.number} * kLanes + lane;
    if (name == "%tid") {
      return part(thread, in_.launch.block, operand.component);
    }
    if (name == "%ctaid" || name == "%clusterid") {
      return part(in_.number, in_.launch.grid, operand.component);
    }
    if (name == "%ntid") {
      return extent(in_.launch.block, operand.component);
    }
    if (name == "%nctaid" || name == "%nclusterid") {
      return extent(in_.launch.grid, operand.component);
    }
    if (name == "%cluster_nctaid") {
      return 1;
    }
    return scalar_special(name, warp, lane);
  }

  [[nodiscard]] std::uint64_t scalar_special(std::string_view name, const Warp& warp,
                                             unsigned lane) const {
    const Mask bit = Mask{1} << lane;
    if (name == "%laneid") {
      return lane;
    }
    if (name == "%warpid") {
      return warp.number;
    }
    if (name == "%nwarpid") {
      return warps_.size();
    }
    if (name == "%lanemask_eq") {
      return bit;
    }
    if (name == "%lanemask_lt") {
      return bit - 1;
    }
    if (name == "%lanemask_le") {
      return (bit - 1) | bit;
    }
    if (name == "%lanemask_gt") {
      return ~((bit - 1) | bit);
    }
    if (name == "%lanemask_ge") {
      return ~(bit - 1);
    }
    if (name == "%cluster_nctarank") {
      return 1;
    }
    if (name == "%dynamic_smem_size") {
      return in_.launch.dynamic_shared;
    }
    if (name == "%total_smem_size") {
      return shared_.size();
    }
    const bool is_clock = name.substr(0, 6) == "%clock" || name.substr(0, 12) == "%globaltimer";
    return is_clock ? tally_.counts.warp_instructions : 0;
  }

  static std::uint64_t part(std::uint64_t number, const Extent& whole, Component component) {
    switch (component) {
      case Component::kY:
        return number / whole.x % whole.y;
      case Component::kZ:
        return number / whole.x / whole.y;
      default:
        return component == Component::kX ? number % whole.x : 0;
    }
  }

  static std::uint64_t extent(const Extent& whole, Component component) {
    switch (component) {
      case Component::kY:
        return whole.y;
      case Component::kZ:
        return whole.z;
      default:
        return component == Component::kX ? whole.x : 1;
    }
  }

  void write(Warp& warp, const Operand& operand, unsigned lane, std::uint64_t bits) {
    if (operand.kind == OperandKind::kRegister) {
      const Register& reg = function_.registers[operand.id];
      warp.registers[operand.id][lane] = as_unsigned(reg.type, bits);
    }
  }

  /// A value loaded as `type` into a register that may be wider.
  void write_loaded(Warp& warp, const Operand& operand, unsigned lane, std::uint64_t bits,
                    Type type) {
    const bool extends = kind_of(type) == TypeKind::kSigned;
    write(warp, operand, lane, extends ? static_cast<std::uint64_t>(as_signed(type, bits)) : bits);
  }

  [[nodiscard]] std::span<const Operand> operands(const Step& step) const {
    return function_.operands_of(*step.instruction);
  }

  /// The single destination, or the first of a pair.
  [[nodiscard]] const Operand& destination(const Step& step) const {
    const Operand& first = operands(step)[0];
    return first.kind == OperandKind::kPair ? function_.children(first)[0] : first;
  }

  [[nodiscard]] const Operand* second_destination(const Step& step) const {
    const Operand& first = operands(step)[0];
    return first.kind == OperandKind::kPair ? &function_.children(first)[1] : nullptr;
  }

  /// The parts of `{a, b}`, or the one operand.
  [[nodiscard]] std::span<const Operand> parts(const Operand& operand) const {
    return operand.kind == OperandKind::kVector ? function_.children(operand)
                                                : std::span(&operand, 1);
  }

  template <typename Visit>
  static void each_lane(Mask mask, Visit&& visit) {
    for (; mask != 0; mask &= mask - 1) {
      visit(first_lane(mask));
    }
  }

  // One instruction.

  [[nodiscard]] Mask guarded(const Warp& warp, const Instruction& instruction, Mask mask) const {
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

  InstructionCounts& counts_of(const Step& step) {
    return tally_.counts.instructions[static_cast<std::size_t>(&step - in_.program.steps.data())];
  }

  bool step(Warp& warp) {
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

  bool execute(Warp& warp, const Step& step, Mask mask) {
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

  bool communicate(Warp& warp, const Step& step, Mask mask) {
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

  [[nodiscard]] std::string_view text_of(const Step& step) const {
    const Instruction& instruction = *step.instruction;
    return std::string_view(in_.module.source->text)
        .substr(instruction.position, instruction.end - instruction.position);
  }

  bool branch(Warp& warp, const Step& step, Mask mask) {
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

  [[nodiscard]] std::uint32_t target_of(const Warp& warp, const Step& step, unsigned lane,
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
    return static_cast<std::uint32_t>(
        function_.label(targets.targets[chosen].as<LabelId>()).target);
  }

  bool compute(Warp& warp, const Step& step, Mask mask) {
    const std::span<const Operand> given = operands(step);
    const Type type = step.alu.source;
    each_lane(mask, [&](unsigned lane) {
      Sources sources{};
      for (std::size_t i = 1; i < given.size() && i <= kMostSources; ++i) {
        sources[i - 1] = read(warp, given[i], lane, type);
      }
      bool carry = has(warp.carry, lane);
      write(warp, given[0], lane, step.evaluate(step.alu, sources, carry));
      warp.carry = carry ? warp.carry | (Mask{1} << lane) : warp.carry & ~(Mask{1} << lane);
    });
    return true;
  }

  bool move(Warp& warp, const Step& step, Mask mask) {
    const std::span<const Operand> given = operands(step);
    const std::span<const Operand> to = parts(given[0]);
    const std::span<const Operand> from = parts(given[1]);
    const unsigned width = bits_of(step.alu.type);
    each_lane(mask, [&](unsigned lane) {
      std::uint64_t bits = 0;
      const auto from_width = static_cast<unsigned>(width / from.size());
      for (std::size_t i = 0; i < from.size(); ++i) {
        const std::uint64_t piece = read(warp, from[i], lane, step.alu.type);
        const std::uint64_t low =
            from_width >= 64 ? piece : piece & ((std::uint64_t{1} << from_width) - 1);
        bits |= low << (i * from_width);
      }
      const auto to_width = static_cast<unsigned>(width / to.size());
      for (std::size_t i = 0; i < to.size(); ++i) {
        write(warp, to[i], lane, bits >> (i * to_width));
      }
    });
    return true;
  }

  bool compare_lanes(Warp& warp, const Step& step, Mask mask) {
    const std::span<const Operand> given = operands(step);
    const Form& form = *step.instruction->form;
    const Type type = element_of(step.alu.source);
    const bool is_packed = type != step.alu.source;
    const Operand* other = second_destination(step);
    each_lane(mask, [&](unsigned lane) {
      const std::uint64_t a = read(warp, given[1], lane, type);
      const std::uint64_t b = read(warp, given[2], lane, type);
      const bool low = compare(step.alu.compare, type, a, b, step.alu.flushes);
      const bool high =
          is_packed ? compare(step.alu.compare, type, a >> 16, b >> 16, step.alu.flushes) : !low;
      const bool third = given.size() > 3 && read(warp, given[3], lane, Type::kPred) != 0;
      const auto combine = [&](bool value) {
        return form.has("and")   ? value && third
               : form.has("or")  ? value || third
               : form.has("xor") ? value != third
                                 : value;
      };
      write(warp, destination(step), lane, combine(low) ? 1 : 0);
      if (other != nullptr) {
        write(warp, *other, lane, combine(high) ? 1 : 0);
      }
    });
    return true;
  }

  static std::uint64_t window_of(Space space) {
    switch (space) {
      case Space::kShared:
        return kSharedWindow;
      case Space::kLocal:
        return kLocalWindow;
      case Space::kParam:
        return kParamWindow;
      default:
        return 0;
    }
  }

  bool convert_address(Warp& warp, const Step& step, Mask mask) {
    const std::span<const Operand> given = operands(step);
    const Form& form = *step.instruction->form;
    const std::uint64_t window = window_of(form.space);
    const bool to_space = form.has("to");
    each_lane(mask, [&](unsigned lane) {
      const std::uint64_t address = read(warp, given[1], lane, form.type());
      write(warp, given[0], lane, to_space ? address - window : address + window);
    });
    return true;
  }

  bool is_space(Warp& warp, const Step& step, Mask mask) {
    const std::uint64_t window = window_of(step.instruction->form->space);
    each_lane(mask, [&](unsigned lane) {
      const std::uint64_t address = read(warp, operands(step)[1], lane, Type::kU64);
      write(warp, operands(step)[0], lane, (address & kWindowMask) == window ? 1 : 0);
    });
    return true;
  }

  // Memory.

  [[nodiscard]] Lanes addresses(const Warp& warp, const Operand& operand, Mask mask) const {
    Lanes result{};
    const std::span<const Operand> base = function_.children(operand);
    each_lane(mask, [&](unsigned lane) {
      const std::uint64_t offset = base.empty() ? 0 : read(warp, base[0], lane, Type::kU64);
      result[lane] = offset + static_cast<std::uint64_t>(operand.value);
    });
    return result;
  }

  /// The space that an access goes to: as the instruction says, of the variable it names, or by
  /// the window of a generic address, which is then taken off.
  [[nodiscard]] Space settle_space(const Step& step, const Operand& operand, Mask mask,
                                   Lanes& where) const {
    const Space said = step.instruction->form->space;
    if (said != Space::kGeneric) {
      return said;
    }
    const std::span<const Operand> base = function_.children(operand);
    if (!base.empty() && base[0].kind == OperandKind::kVariable) {
      return in_.module.variable(base[0].as<VariableId>()).space;
    }
    const std::uint64_t window = where[first_lane(mask)] & kWindowMask;
    each_lane(mask, [&](unsigned lane) { where[lane] -= window; });
    return window == kSharedWindow  ? Space::kShared
           : window == kLocalWindow ? Space::kLocal
           : window == kParamWindow ? Space::kParam
                                    : Space::kGlobal;
  }

  [[nodiscard]] std::byte* find(Warp& warp, Space space, std::uint64_t address, unsigned bytes,
                                unsigned lane) {
    const auto within = [&](std::span<std::byte> memory, std::uint64_t first,
                            std::uint64_t size) -> std::byte* {
      const bool inside = address <= size && size - address >= bytes;
      return inside ? memory.data() + first + address : nullptr;
    };
    switch (space) {
      case Space::kShared:
        return within(shared_, 0, shared_.size());
      case Space::kLocal:
        return within(warp.local, lane * in_.layout.local_bytes, in_.layout.local_bytes);
      case Space::kParam:
        return within(parameters_, 0, parameters_.size());
      default:
        return in_.memory.find(address, bytes);
    }
  }

  bool out_of_bounds(const Step& step, Space space, std::uint64_t address, unsigned bytes) {
    return fail("ptx-bounds",
                fmt::format("access to {} bytes of .{} at {:#x}, outside what there is", bytes,
                            name_of(space), address),
                step.instruction);
  }

  /// Checks and counts an access; false if a lane is out of bounds.
  bool touch(Warp& warp, const Step& step, Space space, const Lanes& where, Mask mask,
             unsigned bytes) {
    for (Mask rest = mask; rest != 0; rest &= rest - 1) {
      const unsigned lane = first_lane(rest);
      if (find(warp, space, where[lane], bytes, lane) == nullptr) {
        return out_of_bounds(step, space, where[lane], bytes);
      }
    }
    count_access(step, space, where, mask, bytes);
    return true;
  }

  void count_access(const Step& step, Space space, const Lanes& where, Mask mask, unsigned bytes) {
    InstructionCounts& counts = counts_of(step);
    AccessCounts access;
    access.requests = 1;
    access.bytes = std::uint64_t{bytes} * static_cast<unsigned>(std::popcount(mask));
    if (space == Space::kShared) {
      const Wavefronts wavefronts = count_wavefronts(where, mask, bytes);
      access.wavefronts = wavefronts.total;
      access.bank_conflicts = wavefronts.conflicts;
    } else if (space == Space::kLocal) {
      // Local memory interleaves the lanes word by word: lanes at one offset fill whole sectors.
      constexpr unsigned kWord = 4;
      access.sectors = (access.bytes + kSectorBytes - 1) / kSectorBytes;
      access.sectors = std::max<std::uint64_t>(access.sectors, bytes / kWord);
    } else if (space != Space::kParam) {
      access.sectors = count_sectors(where, mask, bytes);
      note_footprint(step, where, mask, bytes);
    }
    counts.requests += access.requests;
    counts.bytes += access.bytes;
    counts.sectors += access.sectors;
    counts.wavefronts += access.wavefronts;
    counts.bank_conflicts += access.bank_conflicts;
    if (AccessCounts* total = total_of(step, space)) {
      total->requests += access.requests;
      total->bytes += access.bytes;
      total->sectors += access.sectors;
      total->wavefronts += access.wavefronts;
      total->bank_conflicts += access.bank_conflicts;
    }
  }

  [[nodiscard]] static bool writes_memory(const Step& step) {
    return step.action == Action::kStore || step.action == Action::kAtomic ||
           step.action == Action::kMatrixStore ||
           (step.action == Action::kTile && step.instruction->has("store"));
  }

  AccessCounts* total_of(const Step& step, Space space) {
    Counts& counts = tally_.counts;
    const bool writes = writes_memory(step);
    if (space == Space::kShared) {
      return writes ? &counts.shared_store : &counts.shared_load;
    }
    if (space == Space::kLocal) {
      return writes ? &counts.local_store : &counts.local_load;
    }
    if (space == Space::kParam || space == Space::kConst) {
      return nullptr;
    }
    if (step.action == Action::kAtomic) {
      return &counts.global_atomic;
    }
    return writes ? &counts.global_store : &counts.global_load;
  }

  void note_footprint(const Step& step, const Lanes& where, Mask mask, unsigned bytes) {
    auto& sectors = writes_memory(step) ? tally_.footprint.written : tally_.footprint.read;
    std::uint64_t last = ~std::uint64_t{0};
    each_lane(mask, [&](unsigned lane) {
      const std::uint64_t final = (where[lane] + bytes - 1) / kSectorBytes;
      for (std::uint64_t sector = where[lane] / kSectorBytes; sector <= final; ++sector) {
        if (sector != last) {
          sectors.insert(sector);
          last = sector;
        }
      }
    });
  }

  static std::uint64_t load_bits(const std::byte* from, unsigned bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, std::min(bytes, 8U));
    return bits;
  }

  static void store_bits(std::byte* to, std::uint64_t bits, unsigned bytes) {
    std::memcpy(to, &bits, std::min(bytes, 8U));
  }

  bool load_or_store(Warp& warp, const Step& step, Mask mask) {
    const bool loads = step.action == Action::kLoad;
    const std::span<const Operand> given = operands(step);
    const Operand& address = given[loads ? 1 : 0];
    const std::span<const Operand> values = parts(given[loads ? 0 : 1]);
    const Type type = step.alu.source;
    const unsigned each = bytes_of(type);
    const auto bytes = static_cast<unsigned>(each * values.size());
    Lanes where = addresses(warp, address, mask);
    const Space space = settle_space(step, address, mask, where);
    if (!touch(warp, step, space, where, mask, bytes)) {
      return false;
    }
    each_lane(mask, [&](unsigned lane) {
      std::byte* memory = find(warp, space, where[lane], bytes, lane);
      for (const Operand& value : values) {
        if (loads) {
          write_loaded(warp, value, lane, load_bits(memory, each), type);
        } else {
          store_bits(memory, read(warp, value, lane, type), each);
        }
        memory += each;
      }
    });
    return true;
  }

  bool atomic(Warp& warp, const Step& step, Mask mask) {
    const Form& form = *step.instruction->form;
    const bool returns = form.opcode == "atom";
    const std::span<const Operand> given = operands(step).subspan(returns ? 1 : 0);
    const Type type = form.type();
    const unsigned bytes = bytes_of(type);
    Lanes where = addresses(warp, given[0], mask);
    const Space space = settle_space(step, given[0], mask, where);
    if (!touch(warp, step, space, where, mask, bytes)) {
      return false;
    }
    each_lane(mask, [&](unsigned lane) {
      std::byte* memory = find(warp, space, where[lane], bytes, lane);
      const std::uint64_t old = load_bits(memory, bytes);
      const std::uint64_t b = read(warp, given[1], lane, type);
      const std::uint64_t c = form.has("cas") ? read(warp, given[2], lane, type) : 0;
      store_bits(memory, atomic_result(form, old, b, c), bytes);
      if (returns) {
        write(warp, operands(step)[0], lane, old);
      }
    });
    return true;
  }

  /// cp.async, done at once: the program may not look before it has waited.
  bool copy(Warp& warp, const Step& step, Mask mask) {
    const std::span<const Operand> given = operands(step);
    const auto bytes = static_cast<unsigned>(given[2].value);
    const Lanes to = addresses(warp, given[0], mask);
    const Lanes from = addresses(warp, given[1], mask);
    Mask reading = 0;
    Lanes sizes{};
    each_lane(mask, [&](unsigned lane) {
      sizes[lane] = bytes;
      if (given.size() > 3) {
        const bool ignores = given[3].kind == OperandKind::kRegister &&
                             function_.registers[given[3].id].type == Type::kPred;
        const std::uint64_t value = read(warp, given[3], lane, Type::kU32);
        sizes[lane] = ignores ? (value != 0 ? 0 : bytes) : std::min<std::uint64_t>(value, bytes);
      }
      reading |= sizes[lane] != 0 ? Mask{1} << lane : 0;
    });
    if (reading != 0 && !touch(warp, step, Space::kGlobal, from, reading, bytes)) {
      return false;
    }
    for (Mask rest = mask; rest != 0; rest &= rest - 1) {
      const unsigned lane = first_lane(rest);
      std::byte* target = find(warp, Space::kShared, to[lane], bytes, lane);
      if (target == nullptr) {
        return out_of_bounds(step, Space::kShared, to[lane], bytes);
      }
      std::memset(target, 0, bytes);
      if (sizes[lane] != 0) {
        std::memcpy(target, in_.memory.find(from[lane], sizes[lane]), sizes[lane]);
      }
    }
    return true;
  }

  /// ldmatrix and stmatrix of 8x8 matrices of 16 bits: lanes 8i to 8i+7 give the rows of matrix i.
  bool move_matrix(Warp& warp, const Step& step, Mask mask) {
    constexpr unsigned kRow = 16;
    constexpr unsigned kRows = 8;
    const bool loads = step.action == Action::kMatrixLoad;
    const std::span<const Operand> given = operands(step);
    const std::span<const Operand> registers = parts(given[loads ? 0 : 1]);
    const Operand& address = given[loads ? 1 : 0];
    Lanes where = addresses(warp, address, mask);
    const Space space = settle_space(step, address, mask, where);
    const auto rows = static_cast<unsigned>(registers.size()) * kRows;
    const Mask pointing = rows >= kLanes ? ~Mask{0} : (Mask{1} << rows) - 1;
    if (mask != ~Mask{0}) {
      return fail("ptx-interpreter", "a matrix instruction needs all lanes of a warp",
                  step.instruction);
    }
    if (!touch(warp, step, space, where, pointing, kRow)) {
      return false;
    }
    const bool transposes = step.instruction->has("trans");
    for (unsigned matrix = 0; matrix < registers.size(); ++matrix) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        std::uint64_t bits = loads ? 0 : read(warp, registers[matrix], lane, Type::kB32);
        for (unsigned half = 0; half < 2; ++half) {
          const unsigned minor = lane % 4 * 2 + half;
          const unsigned row = matrix * kRows + (transposes ? minor : lane / 4);
          const unsigned column = transposes ? lane / 4 : minor;
          std::byte* memory = find(warp, space, where[row], kRow, row) + std::size_t{column} * 2;
          if (loads) {
            bits |= load_bits(memory, 2) << (16 * half);
          } else {
            store_bits(memory, bits >> (16 * half), 2);
          }
        }
        if (loads) {
          write(warp, registers[matrix], lane, bits);
        }
      }
    }
    return true;
  }

  void note_not_computed(const Step& step) { tally_.not_computed.emplace(text_of(step)); }

  [[nodiscard]] Fragment fragment(const Warp& warp, const Operand& operand) const {
    Fragment fragment;
    for (const Operand& part : parts(operand)) {
      Lanes& lanes = fragment.emplace_back();
      each_lane(~Mask{0}, [&](unsigned lane) { lanes[lane] = read(warp, part, lane, Type::kB32); });
    }
    return fragment;
  }

  /// A matrix product. Where it is not computed the accumulators come out as they went in.
  bool multiply(Warp& warp, const Step& step, Mask mask) {
    const std::span<const Operand> given = operands(step);
    const std::span<const Operand> to = parts(given[0]);
    const bool is_whole = mask == ~Mask{0} && step.action == Action::kMatrixProduct;
    Fragment result = fragment(warp, given[3]);
    std::optional<Fragment> product;
    if (is_whole) {
      product = multiply_matrices(*step.instruction->form, fragment(warp, given[1]),
                                  fragment(warp, given[2]), result);
    }
    if (product) {
      result = *std::move(product);
    } else {
      note_not_computed(step);
    }
    for (std::size_t i = 0; i < to.size() && i < result.size(); ++i) {
      each_lane(mask, [&](unsigned lane) { write(warp, to[i], lane, result[i][lane]); });
    }
    return true;
  }

  bool tile(Warp& warp, const Step& step, Mask mask) {
    const Form& form = *step.instruction->form;
    if (form.has("mma")) {
      return multiply(warp, step, mask);
    }
    note_not_computed(step);
    return tile_access(warp, step, mask);
  }

  /// A tile of wmma: each of its rows (or columns) is one run of bytes.
  bool tile_access(Warp& warp, const Step& step, Mask mask) {
    const Form& form = *step.instruction->form;
    const bool loads = form.has("load");
    const std::span<const Operand> given = operands(step);
    const Operand& address = given[loads ? 1 : 0];
    Lanes where = addresses(warp, address, mask);
    const Space space = settle_space(step, address, mask, where);
    unsigned m = 0;
    unsigned n = 0;
    unsigned k = 0;
    read_shape(form, m, n, k);
    const unsigned rows = form.has("b") ? k : m;
    const unsigned columns = form.has("a") ? k : n;
    const bool by_row = form.has("row");
    const unsigned runs = by_row ? rows : columns;
    const unsigned length = by_row ? columns : rows;
    const unsigned bytes = length * bits_of(form.type()) / 8;
    std::uint64_t stride = length;
    if (given.size() > 2) {
      stride = read(warp, given[2], first_lane(mask), Type::kU32);
    }
    const std::uint64_t base = where[first_lane(mask)];
    for (unsigned run = 0; run < runs && run < kLanes; ++run) {
      where[run] = base + run * stride * bits_of(form.type()) / 8;
    }
    const Mask pointing = runs >= kLanes ? ~Mask{0} : (Mask{1} << runs) - 1;
    if (bytes == 0 || bytes > 2 * kSectorBytes) {
      return fail("ptx-interpreter",
                  fmt::format("'{}' is not interpreted", printable(text_of(step))),
                  step.instruction);
    }
    if (!touch(warp, step, space, where, pointing, bytes)) {
      return false;
    }
    if (loads) {
      for (const Operand& value : parts(given[0])) {
        each_lane(mask, [&](unsigned lane) { write(warp, value, lane, 0); });
      }
    }
    return true;
  }

  static void read_shape(const Form& form, unsigned& m, unsigned& n, unsigned& k) {
    for (const std::string_view modifier : form.modifiers) {
      const std::size_t at_n = modifier.find('n');
      const std::size_t at_k = modifier.find('k');
      if (modifier.front() == 'm' && at_n != std::string_view::npos &&
          at_k != std::string_view::npos) {
        m = number(modifier.substr(1, at_n - 1));
        n = number(modifier.substr(at_n + 1, at_k - at_n - 1));
        k = number(modifier.substr(at_k + 1));
      }
    }
  }

  static unsigned number(std::string_view digits) {
    unsigned value = 0;
    for (const char c : digits) {
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    return value;
  }

  // Communication.

  bool shuffle(Warp& warp, const Step& step, Mask mask) {
    const std::span<const Operand> given = operands(step);
    const Form& form = *step.instruction->form;
    const Operand* predicate = second_destination(step);
    const Operand& to = destination(step);
    Lanes results{};
    Mask valid = 0;
    each_lane(mask, [&](unsigned lane) {
      const auto b = static_cast<unsigned>(read(warp, given[2], lane, Type::kU32) & 31);
      const auto c = static_cast<unsigned>(read(warp, given[3], lane, Type::kU32));
      const unsigned segment = (c >> 8) & 31;
      const unsigned clamp = c & 31;
      const unsigned last = (lane & segment) | (clamp & ~segment & 31);
      unsigned source = (lane & segment) | (b & ~segment & 31);
      bool holds = source <= last;
      if (form.has("up")) {
        holds = lane >= b && lane - b >= last;
        source = lane - b;
      } else if (form.has("down")) {
        holds = lane + b <= last;
        source = lane + b;
      } else if (form.has("bfly")) {
        holds = (lane ^ b) <= last;
        source = lane ^ b;
      }
      valid |= holds ? Mask{1} << lane : 0;
      results[lane] = read(warp, given[1], holds ? source : lane, Type::kB32);
    });
    each_lane(mask, [&](unsigned lane) {
      write(warp, to, lane, results[lane]);
      if (predicate != nullptr) {
        write(warp, *predicate, lane, has(valid, lane) ? 1 : 0);
      }
    });
    return true;
  }

  bool vote(Warp& warp, const Step& step, Mask mask) {
    const std::span<const Operand> given = operands(step);
    const Form& form = *step.instruction->form;
    Mask votes = 0;
    each_lane(mask, [&](unsigned lane) {
      votes |= read(warp, given[1], lane, Type::kPred) != 0 ? Mask{1} << lane : 0;
    });
    const bool all = votes == mask;
    const bool any = votes != 0;
    const std::uint64_t result = form.has("ballot") ? votes
                                 : form.has("all")  ? (all ? 1U : 0U)
                                 : form.has("any")  ? (any ? 1U : 0U)
                                                    : (all || !any ? 1U : 0U);
    each_lane(mask, [&](unsigned lane) { write(warp, given[0], lane, result); });
    return true;
  }

  bool match(Warp& warp, const Step& step, Mask mask) {
    const std::span<const Operand> given = operands(step);
    const Operand* predicate = second_destination(step);
    Lanes values{};
    each_lane(mask, [&](unsigned lane) { values[lane] = read(warp, given[1], lane, Type::kB64); });
    const bool needs_all = step.instruction->has("all");
    each_lane(mask, [&](unsigned lane) {
      Mask same = 0;
      each_lane(mask, [&](unsigned other) {
        same |= values[other] == values[lane] ? Mask{1} << other : 0;
      });
      const bool holds = same == mask;
      write(warp, destination(step), lane, needs_all && !holds ? 0 : same);
      if (predicate != nullptr) {
        write(warp, *predicate, lane, holds ? 1 : 0);
      }
    });
    return true;
  }

  bool reduce(Warp& warp, const Step& step, Mask mask) {
    const std::span<const Operand> given = operands(step);
    const Form& form = *step.instruction->form;
    bool is_first = true;
    std::uint64_t result = 0;
    each_lane(mask, [&](unsigned lane) {
      const std::uint64_t value = read(warp, given[1], lane, form.type());
      result = is_first ? value : atomic_result(form, result, value, 0);
      is_first = false;
    });
    each_lane(mask, [&](unsigned lane) { write(warp, given[0], lane, result); });
    return true;
  }

  bool elect(Warp& warp, const Step& step, Mask mask) {
    const unsigned leader = first_lane(mask);
    each_lane(mask, [&](unsigned lane) {
      write(warp, destination(step), lane, leader);
      write(warp, *second_destination(step), lane, lane == leader ? 1 : 0);
    });
    return true;
  }

  struct Reduction {
    const Step* step = nullptr;
    std::uint64_t count = 0;
    bool all = true;
    bool any = false;
  };

  bool barrier(Warp& warp, const Step& step, Mask mask) {
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

  void give_reduction(Warp& warp, const Reduction& reduction) {
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
  bool memory_barrier(Warp& warp, const Step& step, Mask mask) {
    const Form& form = *step.instruction->form;
    const std::span<const Operand> given = operands(step);
    const auto address_at = static_cast<std::size_t>(
        std::find_if(given.begin(), given.end(),
                     [](const Operand& each) { return each.kind == OperandKind::kAddress; }) -
        given.begin());
    if (address_at == given.size() || form.has("expect_tx") || form.has("complete_tx")) {
      return fail("ptx-interpreter",
                  fmt::format("'{}' is not interpreted", printable(text_of(step))),
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

  static std::uint64_t update_barrier(const Form& form, std::byte* memory, std::uint64_t argument) {
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

  const BlockInput& in_;
  const Function& function_;
  Tally& tally_;
  Stop& stop_;
  std::vector<Warp> warps_;
  std::vector<std::byte> shared_;
  std::vector<std::byte> parameters_ = in_.layout.parameters;
  std::array<Barrier, kBarriers> barriers_{};
  std::array<Reduction, kBarriers> reductions_{};
};

}  // namespace

bool run_block(const BlockInput& input, Tally& tally, Stop& stop) {
  return Block(input, tally, stop).run();
}

}  // namespace mansard::frontend::ptx
