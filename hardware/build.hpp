#pragma once

#include "hardware/draft.hpp"
#include "hardware/machine.hpp"
#include "hardware/memories.hpp"

/// From drafts to machines: fields and their formulas.
namespace mansard::hardware {

/// The machine that a merged draft describes.
[[nodiscard]] Machine build_machine(const Draft& draft, Diagnostics& diagnostics);

/// Checks of a built machine against its draft and itself: sources, datasheet rates within 3 %,
/// clocks, capacities, a device memory.
void check_machine(const Machine& machine, const Draft& draft, Diagnostics& diagnostics);

/// The field of a figure, its formula in the machine's pool; the kind is that of its source.
[[nodiscard]] Field make_field(const Machine& machine, const Figure& figure, FigureKind kind);

/// The tier that a draft describes.
[[nodiscard]] Tier make_tier(const TierDraft& draft);

/// Figures of a packaged memory that follow from stacks, pin rate and generation.
struct MemoryFigures {
  bool bandwidth = false;
  bool capacity = false;
};

/// Gives a tier the fields asked for as formulas over its stacks, pin rate and stack capacity, of
/// which the latter two are the generation's where the machine has none.
void derive_memory(Machine& machine, const Tier& tier, const MemoryGeneration& generation,
                   MemoryFigures wanted);

}  // namespace mansard::hardware
