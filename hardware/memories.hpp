#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

/// Generations of packaged memory (hardware/memories.yaml), from which a hypothetical memory is
/// built.
namespace mansard::hardware {

struct MemoryGeneration {
  std::string name;                       ///< "hbm3e".
  double pins = 0;                        ///< Data pins of one stack or chip.
  double pin_rate = 0;                    ///< Bytes per second and pin, the fastest listed.
  std::optional<double> capacity;         ///< Bytes of one stack or chip, the largest listed.
  std::optional<double> joules_per_byte;  ///< Energy of moving a byte.
  std::string note;
};

/// Every generation. Errors: those of the file, which only `MANSARD_DATA` can bring.
[[nodiscard]] Result<std::vector<MemoryGeneration>> memory_generations();

/// The generation of that name. Errors: no such generation, with did-you-mean, at `location`.
[[nodiscard]] Result<MemoryGeneration> memory_generation(std::string_view name,
                                                         const Location& location = {});

}  // namespace mansard::hardware
