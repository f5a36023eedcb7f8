#include "frontend/ptx/interpreter/access.hpp"

#include <algorithm>
#include <vector>

namespace mansard::frontend::ptx {
namespace {

constexpr unsigned kSector = 32;
constexpr unsigned kWord = 4;
constexpr unsigned kBanks = 32;

/// The most distinct words that one bank must serve for the lanes from `first` to `last`.
unsigned busiest_bank(const Lanes& addresses, Mask mask, unsigned bytes, unsigned first,
                      unsigned last) {
  std::vector<std::uint64_t> words;
  for (unsigned lane = first; lane < last; ++lane) {
    if (has(mask, lane)) {
      const std::uint64_t end = (addresses[lane] + bytes - 1) / kWord;
      for (std::uint64_t word = addresses[lane] / kWord; word <= end; ++word) {
        words.push_back(word);
      }
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<unsigned, kBanks> load{};
  for (const std::uint64_t word : words) {
    ++load[word % kBanks];
  }
  return *std::max_element(load.begin(), load.end());
}

}  // namespace

unsigned count_sectors(const Lanes& addresses, Mask mask, unsigned bytes) {
  std::array<std::uint64_t, std::size_t{kLanes} * 3> sectors{};
  std::size_t count = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (has(mask, lane)) {
      const std::uint64_t end = (addresses[lane] + bytes - 1) / kSector;
      for (std::uint64_t sector = addresses[lane] / kSector; sector <= end; ++sector) {
        sectors[count++] = sector;
      }
    }
  }
  std::sort(sectors.begin(), sectors.begin() + count);
  return static_cast<unsigned>(std::unique(sectors.begin(), sectors.begin() + count) -
                               sectors.begin());
}

Wavefronts count_wavefronts(const Lanes& addresses, Mask mask, unsigned bytes) {
  const unsigned group = kLanes / std::clamp(bytes / kWord, 1U, kLanes / 4);
  Wavefronts wavefronts;
  for (unsigned first = 0; first < kLanes; first += group) {
    const unsigned busiest = busiest_bank(addresses, mask, bytes, first, first + group);
    wavefronts.total += busiest;
    wavefronts.conflicts += busiest == 0 ? 0 : busiest - 1;
  }
  return wavefronts;
}

}  // namespace mansard::frontend::ptx
