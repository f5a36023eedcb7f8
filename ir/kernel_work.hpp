#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace mansard::ir {

/// What one kernel did and how long it took: counted by a profiler, or known from the op that it
/// is. Absent: not known.
struct KernelWork {
  std::int64_t kernel = 0;  ///< Its number in the dataset.
  std::string name;
  std::string op;  ///< "attention.qkv", or the class that its name tells: "matmul".
  double seconds = 0;
  std::map<std::string, double> flops;  ///< By rate of the machine: "vector.fp32", "matrix.bf16".
  std::optional<double> main_bytes;     ///< To and from device memory.
  std::optional<double> l2_bytes;
  std::optional<double> l1_bytes;
  std::optional<double> warp_instructions;
  std::optional<double> main_sectors;  ///< Of 32 bytes.
  std::optional<double> clock_hz;      ///< Of the processors while it was measured.
  bool counted = false;                ///< By hardware counters.
  bool clock_locked = false;           ///< `seconds` is of a run whose clocks the profiler held.

  [[nodiscard]] double total_flops() const {
    double total = 0;
    for (const auto& [rate, amount] : flops) {
      total += amount;
    }
    return total;
  }
};

}  // namespace mansard::ir
