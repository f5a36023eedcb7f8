#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "support/dimension.hpp"

/// The keys of a machine file and the dimensions of its fields. The table in hardware/README.md
/// says what each means.
namespace mansard::hardware {

/// A figure that a group may have: `power.cap` is the key "cap" of the group "power".
struct FigureKey {
  std::string_view name;
  Dimension dimension;
};

struct FigureGroup {
  std::string_view name;
  std::span<const FigureKey> keys;
};

inline constexpr Dimension kPerCycle{.cycle = -1};
inline constexpr Dimension kPerSecond{.second = -1};

/// No figure of a machine comes near this, and products of figures stay finite below it.
inline constexpr double kLargestFigure = 1e30;

/// Groups of figures other than tiers and rates: clock, special, integer, scheduler, occupancy,
/// power, launch, in the order in which they are printed.
[[nodiscard]] std::span<const FigureGroup> figure_groups();
/// Figures that stand alone at the top: sm_count, sparsity.
[[nodiscard]] std::span<const FigureKey> lone_figures();
/// Figures that a tier may have.
[[nodiscard]] std::span<const FigureKey> tier_figures();
/// Engines whose rates are given per dtype: matrix, vector.
[[nodiscard]] std::span<const std::string_view> rate_engines();
/// A dtype of a rate: one that arithmetic is done in, with `_acc16` if it accumulates 16 bits.
[[nodiscard]] bool is_rate_dtype(std::string_view name);
[[nodiscard]] std::span<const std::string> rate_dtypes();

/// The dimension of the field that `path` names on that machine, whether the machine has it or not;
/// nothing if the schema has no such field.
[[nodiscard]] std::optional<Dimension> dimension_of(const Machine& machine, std::string_view path);

/// The last part of a path: "bandwidth" of "hbm.bandwidth".
[[nodiscard]] std::string_view leaf_of(std::string_view path);

/// Whether a path is `prefix` or below it: "hbm.capacity" is under "hbm".
[[nodiscard]] bool is_under(std::string_view path, std::string_view prefix);

/// Names of scopes: sm, device, node, cluster.
[[nodiscard]] std::string_view name_of(TierScope scope);
[[nodiscard]] std::optional<TierScope> scope_of(std::string_view name);

/// Paths of `machine`'s fields, those with `main.` included: what did-you-mean chooses from.
[[nodiscard]] std::vector<std::string> known_paths(const Machine& machine);

}  // namespace mansard::hardware
