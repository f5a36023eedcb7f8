#pragma once

#include <cstdint>
#include <string>

namespace mansard::test {

/// A random kernel `k(p0, n, m)` without data dependence: nests of loops with bounds and steps of
/// every kind that compilers write (constant, argument, thread, block, iteration around), branches
/// that part warps or do not, loads, stores and shared memory at random strides. `p0` needs
/// kGeneratedBytes.
[[nodiscard]] std::string generated_kernel(std::uint32_t seed);

inline constexpr std::uint64_t kGeneratedBytes = std::uint64_t{1} << 20;

}  // namespace mansard::test
