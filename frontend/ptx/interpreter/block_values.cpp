#include <optional>

#include <fmt/format.h>

#include "frontend/ptx/interpreter/block_impl.hpp"
#include "frontend/ptx/special_registers.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {

std::uint64_t Block::special(const Warp& warp, const Operand& operand, unsigned lane) const {
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

std::uint64_t Block::scalar_special(std::string_view name, const Warp& warp, unsigned lane) const {
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

std::uint64_t Block::part(std::uint64_t number, const Extent& whole, Component component) {
  switch (component) {
    case Component::kY:
      return number / whole.x % whole.y;
    case Component::kZ:
      return number / whole.x / whole.y;
    default:
      return component == Component::kX ? number % whole.x : 0;
  }
}

std::uint64_t Block::extent(const Extent& whole, Component component) {
  switch (component) {
    case Component::kY:
      return whole.y;
    case Component::kZ:
      return whole.z;
    default:
      return component == Component::kX ? whole.x : 1;
  }
}

bool Block::compute(Warp& warp, const Step& step, Mask mask) {
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

bool Block::move(Warp& warp, const Step& step, Mask mask) {
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

bool Block::compare_lanes(Warp& warp, const Step& step, Mask mask) {
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

std::uint64_t Block::window_of(Space space) {
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

bool Block::convert_address(Warp& warp, const Step& step, Mask mask) {
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

bool Block::is_space(Warp& warp, const Step& step, Mask mask) {
  const std::uint64_t window = window_of(step.instruction->form->space);
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = read(warp, operands(step)[1], lane, Type::kU64);
    write(warp, operands(step)[0], lane, (address & kWindowMask) == window ? 1 : 0);
  });
  return true;
}
}  // namespace mansard::frontend::ptx
