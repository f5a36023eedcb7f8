#include "model/kernel/pattern.hpp"

#include <algorithm>
#include <bit>

#include "model/kernel/value_numbers.hpp"

namespace mansard::model::kernel {
namespace {

/// Distinct blocks of `unit` bytes that lanes of `lanes` touch.
std::vector<std::int64_t> units(const LanePattern& pattern, Mask lanes, unsigned phase,
                                std::int64_t unit) {
  std::vector<std::int64_t> touched;
  for (Mask rest = lanes & pattern.mask; rest != 0; rest &= rest - 1) {
    const std::int64_t begin =
        pattern.offset[static_cast<unsigned>(std::countr_zero(rest))] + phase;
    const std::int64_t last = floor_quotient(begin + pattern.bytes - 1, unit);
    for (std::int64_t each = floor_quotient(begin, unit); each <= last; ++each) {
      touched.push_back(each);
    }
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  return touched;
}

/// Most different words in one bank.
unsigned passes(const LanePattern& pattern, Mask lanes, unsigned phase) {
  std::array<unsigned, kBanks> words{};
  for (const std::int64_t word : units(pattern, lanes, phase, kBankBytes)) {
    ++words[static_cast<std::size_t>(word & (kBanks - 1))];
  }
  return *std::max_element(words.begin(), words.end());
}

/// Accesses of 16 bytes a lane take the halves of a warp apart, even where all lanes read the same:
/// counted on an H200.
unsigned fewest_wavefronts(const LanePattern& pattern) {
  constexpr Mask kHalf = 0xffff;
  const bool both = (pattern.mask & kHalf) != 0 && (pattern.mask & ~kHalf) != 0;
  return pattern.bytes >= 16 && both ? 2 : 1;
}

}  // namespace

unsigned sectors(const LanePattern& pattern, unsigned phase) {
  if (!pattern.known) {
    return static_cast<unsigned>(std::popcount(pattern.mask)) *
           ((pattern.bytes + kSectorBytes - 1) / kSectorBytes);
  }
  return static_cast<unsigned>(units(pattern, ~Mask{0}, phase, kSectorBytes).size());
}

unsigned lines(const LanePattern& pattern, unsigned phase) {
  if (!pattern.known) {
    return static_cast<unsigned>(std::popcount(pattern.mask));
  }
  return static_cast<unsigned>(units(pattern, ~Mask{0}, phase, kLineBytes).size());
}

unsigned wavefronts(const LanePattern& pattern, unsigned phase) {
  const unsigned groups = std::clamp(pattern.bytes / 4, 1U, 4U);
  if (!pattern.known) {
    return groups;
  }
  const unsigned together = passes(pattern, ~Mask{0}, phase);
  if (groups == 1 || together <= 1) {
    return std::max(together, fewest_wavefronts(pattern));
  }
  unsigned sum = 0;
  const unsigned width = kLanes / groups;
  for (unsigned group = 0; group < groups; ++group) {
    const Mask lanes = ((Mask{1} << width) - 1) << (group * width);
    sum += passes(pattern, lanes, phase);
  }
  return sum;
}

unsigned ideal_wavefronts(const LanePattern& pattern, unsigned phase) {
  if (!pattern.known) {
    return wavefronts(pattern, phase);
  }
  const auto words = units(pattern, ~Mask{0}, phase, kBankBytes).size();
  return std::max(static_cast<unsigned>((words + kBanks - 1) / kBanks), fewest_wavefronts(pattern));
}

unsigned contention(const LanePattern& pattern) {
  if (!pattern.known) {
    return 1;
  }
  unsigned most = 0;
  for (Mask rest = pattern.mask; rest != 0; rest &= rest - 1) {
    const std::int64_t here = pattern.offset[static_cast<unsigned>(std::countr_zero(rest))];
    unsigned same = 0;
    for (Mask other = pattern.mask; other != 0; other &= other - 1) {
      same += pattern.offset[static_cast<unsigned>(std::countr_zero(other))] == here ? 1 : 0;
    }
    most = std::max(most, same);
  }
  return most;
}

std::uint32_t PatternTable::intern(const LanePattern& pattern) {
  const auto [found, is_new] = ids_.emplace(pattern, static_cast<std::uint32_t>(patterns_.size()));
  if (is_new) {
    patterns_.push_back(&found->first);
    costs_.emplace_back();
  }
  return found->second;
}

const PatternTable::Costs& PatternTable::costs(std::uint32_t id) {
  Costs& costs = costs_[id];
  if (!costs.computed) {
    const LanePattern& pattern = *patterns_[id];
    for (unsigned phase = 0; phase < kSectorBytes; ++phase) {
      costs.sectors[phase] = static_cast<float>(sectors(pattern, phase));
      costs.wavefronts[phase] = static_cast<float>(wavefronts(pattern, phase));
      costs.ideal[phase] = static_cast<float>(ideal_wavefronts(pattern, phase));
    }
    for (unsigned sector = 0; sector < costs.lines.size(); ++sector) {
      costs.lines[sector] = static_cast<float>(lines(pattern, sector * kSectorBytes));
    }
    costs.contention = static_cast<float>(contention(pattern));
    costs.lanes = static_cast<unsigned>(std::popcount(pattern.mask));
    costs.computed = true;
  }
  return costs;
}

}  // namespace mansard::model::kernel
