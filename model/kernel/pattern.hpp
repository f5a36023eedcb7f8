#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "model/kernel/value.hpp"

/// What one memory instruction of a warp asks of the memories: sectors and bank conflicts from lane
/// addresses.
namespace mansard::model::kernel {

inline constexpr unsigned kSectorBytes = 32;
inline constexpr unsigned kLineBytes = 128;
inline constexpr unsigned kBanks = 32;
inline constexpr unsigned kBankBytes = 4;

/// Lane addresses, less the first of them: what is the same for every block and iteration.
struct LanePattern {
  Mask mask = 0;
  std::uint32_t bytes = 4;  ///< Per lane.
  std::array<std::int64_t, kLanes> offset{};
  bool known =
      true;  ///< False: the addresses are data; each lane is taken to touch sectors of its own.
  friend auto operator<=>(const LanePattern&, const LanePattern&) = default;
};

/// Distinct 32-byte sectors of a request whose first address is `phase` bytes past a sector.
[[nodiscard]] unsigned sectors(const LanePattern& pattern, unsigned phase);
/// Distinct 128-byte lines (tags), likewise.
[[nodiscard]] unsigned lines(const LanePattern& pattern, unsigned phase);
/// Passes over the 32 banks that the request takes. 64- and 128-bit accesses go half and quarter
/// warp by quarter, unless the whole warp fits one pass. Different words of one bank serialise, one
/// word is broadcast.
[[nodiscard]] unsigned wavefronts(const LanePattern& pattern, unsigned phase);
/// Passes that the bytes asked for need without any conflict.
[[nodiscard]] unsigned ideal_wavefronts(const LanePattern& pattern, unsigned phase);
/// Most lanes on one address: how often an atomic operation must be repeated there.
[[nodiscard]] unsigned contention(const LanePattern& pattern);

/// Patterns that occur, each once.
class PatternTable {
 public:
  struct Costs {
    std::array<float, kSectorBytes> sectors{};
    std::array<float, kSectorBytes> wavefronts{};
    std::array<float, kSectorBytes> ideal{};
    std::array<float, kLineBytes / kSectorBytes>
        lines{};  ///< By the sector of a line that the first address lies in.
    float contention = 1;
    unsigned lanes = 0;
    bool computed = false;
  };
  std::uint32_t intern(const LanePattern& pattern);
  [[nodiscard]] const LanePattern& at(std::uint32_t id) const { return *patterns_[id]; }
  [[nodiscard]] const Costs& costs(std::uint32_t id);

 private:
  std::map<LanePattern, std::uint32_t> ids_;
  std::vector<const LanePattern*> patterns_;
  std::vector<Costs> costs_;
};

}  // namespace mansard::model::kernel
