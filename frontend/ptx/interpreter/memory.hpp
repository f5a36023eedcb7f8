#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace mansard::frontend::ptx {

/// Global memory: buffers that do not touch, so that an access outside all of them is noticed.
class Memory {
 public:
  /// A new buffer of zeros at a 256-byte aligned address.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);
  /// The bytes of the buffer that begins at `address`; empty if none does.
  [[nodiscard]] std::span<std::byte> bytes(std::uint64_t address);
  /// Fills a buffer with reproducible noise: 32-bit words below `bound` (0: any).
  void fill_random(std::uint64_t address, std::uint32_t seed, std::uint32_t bound = 0);
  /// `bytes` bytes at `address` if one buffer holds them all, else null.
  [[nodiscard]] std::byte* find(std::uint64_t address, std::uint64_t bytes);

 private:
  std::map<std::uint64_t, std::vector<std::byte>> buffers_;
  std::uint64_t next_ = std::uint64_t{1} << 32;
  /// The buffer that was found last; accesses run in streaks.
  std::uint64_t last_begin_ = 0;
  std::span<std::byte> last_;
};

}  // namespace mansard::frontend::ptx
