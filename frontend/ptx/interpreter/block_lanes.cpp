#include <optional>

#include <fmt/format.h>

#include "frontend/ptx/interpreter/block_impl.hpp"
#include "frontend/ptx/special_registers.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {

bool Block::shuffle(Warp& warp, const Step& step, Mask mask) {
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

bool Block::vote(Warp& warp, const Step& step, Mask mask) {
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

bool Block::match(Warp& warp, const Step& step, Mask mask) {
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

bool Block::reduce(Warp& warp, const Step& step, Mask mask) {
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

bool Block::elect(Warp& warp, const Step& step, Mask mask) {
  const unsigned leader = first_lane(mask);
  each_lane(mask, [&](unsigned lane) {
    write(warp, destination(step), lane, leader);
    write(warp, *second_destination(step), lane, lane == leader ? 1 : 0);
  });
  return true;
}
}  // namespace mansard::frontend::ptx
