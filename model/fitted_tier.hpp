#pragma once

#include <optional>
#include <string_view>

#include "hardware/machine.hpp"

/// Which calibration parameters rest on which tier: a change of a tier voids what was fitted to it.
namespace mansard::model {

/// A tier as parameters see it.
enum class FittedTier {
  kMemory,  ///< Device memory.
  kCache,   ///< The last level on the device.
  kLink,    ///< Any link between devices.
};

/// The role of a tier; nullopt for one that no parameter was fitted to (registers, the host).
[[nodiscard]] std::optional<FittedTier> fitted_tier(const hardware::Machine& machine,
                                                    const hardware::Tier& tier);

/// Whether an overlay or `--set` touched what decides how fast the tier is. The capacity of a
/// memory does not: more of the same stacks are used as well as before. That of a cache does.
[[nodiscard]] bool is_speed_changed(const hardware::Machine& machine, const hardware::Tier& tier);

/// Whether the tier is as fast on both machines: of one bandwidth, and a cache of one size. A tier
/// that `other` lacks is not.
[[nodiscard]] bool is_as_fast(const hardware::Machine& machine, const hardware::Machine& other,
                              const hardware::Tier& tier);

/// Whether the parameter ("matmul", "main") was found by measuring that tier. The interval of an op
/// class rests on every tier that the class uses; energy per byte is a fact of the technology and
/// stays.
[[nodiscard]] bool rests_on(std::string_view section, std::string_view parameter, FittedTier tier);

/// Whether an estimator does without the parameter by a formula over the machine's fields.
[[nodiscard]] bool has_substitute(std::string_view parameter);

/// "interval.low", "interval.memory.high".
[[nodiscard]] bool is_interval(std::string_view parameter);

}  // namespace mansard::model
