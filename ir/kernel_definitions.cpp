#include "ir/kernel_definitions.hpp"

#include <algorithm>

namespace mansard::ir {
namespace {

/// Joins within joins; deeper ones are not followed.
constexpr int kMostDepth = 2000;

}  // namespace

Definitions::Definitions(const Kernel& kernel, const KernelFlow& flow)
    : kernel_(kernel),
      writers_(kernel.registers.size()),
      block_of_(kernel.instructions.size()),
      predecessors_(kernel.blocks.size()) {
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    const KernelBlock& block = kernel.blocks[b];
    for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
      block_of_[i] = b;
      for (const std::uint32_t to :
           {kernel.instructions[i].destination, kernel.instructions[i].destination2}) {
        if (to != kNothing && (writers_[to].empty() || writers_[to].back() != i)) {
          writers_[to].push_back(i);
        }
      }
    }
    for (const std::uint32_t to : flow.successors[b]) {
      if (to != kNothing && (b == 0 || flow.dominator[b] != kNothing)) {
        predecessors_[to].push_back(b);
      }
    }
  }
  for (std::vector<std::uint32_t>& each : writers_) {
    std::sort(each.begin(), each.end());
  }
}

std::uint32_t Definitions::block_of(const Definition& definition) const {
  switch (definition.kind) {
    case Definition::Kind::kInstruction:
      return block_of_[definition.at];
    case Definition::Kind::kPhi:
      return definition.at;
    case Definition::Kind::kUndefined:
      break;
  }
  return 0;
}

Definition Definitions::before(std::uint32_t reg, std::uint32_t instruction) {
  const std::uint32_t block = block_of_[instruction];
  const std::vector<std::uint32_t>& writers = writers_[reg];
  const auto next = std::lower_bound(writers.begin(), writers.end(), instruction);
  if (next != writers.begin() && *std::prev(next) >= kernel_.blocks[block].first) {
    return {Definition::Kind::kInstruction, *std::prev(next), reg};
  }
  return at_start(reg, block);
}

Definition Definitions::after(std::uint32_t reg, std::uint32_t block) {
  const KernelBlock& at = kernel_.blocks[block];
  const std::vector<std::uint32_t>& writers = writers_[reg];
  const auto next = std::lower_bound(writers.begin(), writers.end(), at.first + at.count);
  if (next != writers.begin() && *std::prev(next) >= at.first) {
    return {Definition::Kind::kInstruction, *std::prev(next), reg};
  }
  return at_start(reg, block);
}

Definition Definitions::at_start(std::uint32_t reg, std::uint32_t block) {
  // Up the line of blocks with one way in, to a write or to where ways meet.
  std::vector<std::uint32_t> passed;
  Definition found;
  while (true) {
    const auto known = starts_.find({block, reg});
    if (known != starts_.end()) {
      found = known->second;
      break;
    }
    passed.push_back(block);
    if (predecessors_[block].size() != 1 || block == 0) {
      found = predecessors_[block].empty() || block == 0 ? Definition{} : phi(reg, block);
      break;
    }
    const std::uint32_t from = predecessors_[block][0];
    const KernelBlock& at = kernel_.blocks[from];
    const auto next =
        std::lower_bound(writers_[reg].begin(), writers_[reg].end(), at.first + at.count);
    if (next != writers_[reg].begin() && *std::prev(next) >= at.first) {
      found = {Definition::Kind::kInstruction, *std::prev(next), reg};
      break;
    }
    block = from;
  }
  for (const std::uint32_t each : passed) {
    starts_[{each, reg}] = found;
  }
  return found;
}

Definition Definitions::settled(const Definition& definition) {
  Definition found = definition;
  for (int i = 0; i < kMostDepth && found.kind == Definition::Kind::kPhi; ++i) {
    const Definition next = at_start(found.reg, found.at);
    if (next == found) {
      break;
    }
    found = next;
  }
  return found;
}

Definition Definitions::phi(std::uint32_t reg, std::uint32_t block) {
  const Definition self{Definition::Kind::kPhi, block, reg};
  if (depth_ > kMostDepth) {
    return {};
  }
  starts_[{block, reg}] = self;
  ++depth_;
  Definition only = self;
  bool several = false;
  for (const std::uint32_t from : predecessors_[block]) {
    const Definition each = after(reg, from);
    several = several || (only != self && each != self && each != only);
    only = each == self ? only : each;
  }
  --depth_;
  return several ? self : only;
}

}  // namespace mansard::ir
