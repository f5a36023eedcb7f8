#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace mansard::frontend::ptx {

inline constexpr unsigned kLanes = 32;

/// A value of every lane; which lanes take part is a mask beside it.
using Lanes = std::array<std::uint64_t, kLanes>;
using Mask = std::uint32_t;

[[nodiscard]] constexpr bool has(Mask mask, unsigned lane) {
  return ((mask >> lane) & 1U) != 0;
}

/// Distinct 32-byte sectors that the lanes touch with `bytes` bytes each.
[[nodiscard]] unsigned count_sectors(const Lanes& addresses, Mask mask, unsigned bytes);

/// Wavefronts of an access to shared memory of 32 banks of 4 bytes: lanes go together as far as
/// their accesses fill 128 bytes (all 32 up to 4 bytes each, 16 of 8, 8 of 16); each group takes as
/// many as the most distinct words that one bank must serve.
struct Wavefronts {
  unsigned total = 0;
  unsigned conflicts = 0;  ///< Beyond one a group.
};
[[nodiscard]] Wavefronts count_wavefronts(const Lanes& addresses, Mask mask, unsigned bytes);

}  // namespace mansard::frontend::ptx
