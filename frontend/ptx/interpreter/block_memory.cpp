#include <optional>

#include <fmt/format.h>

#include "frontend/ptx/interpreter/block_impl.hpp"
#include "frontend/ptx/special_registers.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
Lanes Block::addresses(const Warp& warp, const Operand& operand, Mask mask) const {
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
Space Block::settle_space(const Step& step, const Operand& operand, Mask mask, Lanes& where) const {
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

std::byte* Block::find(Warp& warp, Space space, std::uint64_t address, unsigned bytes,
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

bool Block::out_of_bounds(const Step& step, Space space, std::uint64_t address, unsigned bytes) {
  return fail("ptx-bounds",
              fmt::format("access to {} bytes of .{} at {:#x}, outside what there is", bytes,
                          name_of(space), address),
              step.instruction);
}

/// Checks and counts an access; false if a lane is out of bounds.
bool Block::touch(Warp& warp, const Step& step, Space space, const Lanes& where, Mask mask,
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

void Block::count_access(const Step& step, Space space, const Lanes& where, Mask mask,
                         unsigned bytes) {
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

bool Block::writes_memory(const Step& step) {
  return step.action == Action::kStore || step.action == Action::kAtomic ||
         step.action == Action::kMatrixStore ||
         (step.action == Action::kTile && step.instruction->has("store"));
}

AccessCounts* Block::total_of(const Step& step, Space space) {
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

void Block::note_footprint(const Step& step, const Lanes& where, Mask mask, unsigned bytes) {
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

bool Block::load_or_store(Warp& warp, const Step& step, Mask mask) {
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

bool Block::atomic(Warp& warp, const Step& step, Mask mask) {
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
bool Block::copy(Warp& warp, const Step& step, Mask mask) {
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
}  // namespace mansard::frontend::ptx
