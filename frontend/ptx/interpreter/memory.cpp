#include "frontend/ptx/interpreter/memory.hpp"

#include <cstring>
#include <iterator>

namespace mansard::frontend::ptx {

std::uint64_t Memory::allocate(std::uint64_t bytes) {
  constexpr std::uint64_t kAlignment = 256;
  const std::uint64_t address = next_;
  buffers_.emplace(address, std::vector<std::byte>(bytes));
  next_ = (next_ + bytes + 2 * kAlignment) / kAlignment * kAlignment;
  return address;
}

std::span<std::byte> Memory::bytes(std::uint64_t address) {
  const auto found = buffers_.find(address);
  return found == buffers_.end() ? std::span<std::byte>() : std::span<std::byte>(found->second);
}

void Memory::fill_random(std::uint64_t address, std::uint32_t seed, std::uint32_t bound) {
  const std::span<std::byte> target = bytes(address);
  std::uint64_t state = seed * std::uint64_t{0x9E3779B97F4A7C15} + 1;
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= target.size();
       at += sizeof(std::uint32_t)) {
    // xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016.
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    auto word = static_cast<std::uint32_t>((state * 0x2545F4914F6CDD1D) >> 32);
    word = bound == 0 ? word : word % bound;
    std::memcpy(&target[at], &word, sizeof(word));
  }
}

std::byte* Memory::find(std::uint64_t address, std::uint64_t bytes) {
  if (address - last_begin_ >= last_.size() || last_.size() - (address - last_begin_) < bytes) {
    auto buffer = buffers_.upper_bound(address);
    if (buffer == buffers_.begin()) {
      return nullptr;
    }
    --buffer;
    last_begin_ = buffer->first;
    last_ = buffer->second;
    if (address - last_begin_ >= last_.size() || last_.size() - (address - last_begin_) < bytes) {
      return nullptr;
    }
  }
  return &last_[address - last_begin_];
}

}  // namespace mansard::frontend::ptx
