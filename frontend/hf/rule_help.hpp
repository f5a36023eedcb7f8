#pragma once

#include <cstdint>
#include <string_view>

#include "frontend/hf/family.hpp"

/// What rules share.
namespace mansard::frontend::hf {

/// Whether a per-layer list of the config fits the plan, or reaches over multi-token-prediction
/// layers behind it; refuses it by name if not.
[[nodiscard]] bool fits(Config& config, std::string_view key, std::size_t entries,
                        const Plan& plan);

/// A period of layers: at least 1, refused otherwise. An empty key: `otherwise`.
[[nodiscard]] std::size_t period_of(Config& config, std::string_view key, std::int64_t otherwise);

}  // namespace mansard::frontend::hf
