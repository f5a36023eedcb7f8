#pragma once

#include <span>
#include <string_view>

#include "ir/graph.hpp"

/// What passes know about elementwise ops by their attribute "function".
namespace mansard::ir {

inline constexpr std::string_view kResidualSuffix = ".residual";
inline constexpr std::string_view kActivationSuffix = ".activation";
inline constexpr std::string_view kGateSuffix = ".gate";

/// The operands in which an elementwise op is linear, so that partial sums may pass through it: all
/// of these that are activations must then be partial sums. Empty: not linear.
[[nodiscard]] std::span<const std::string_view> linear_operands(const Op& op);

/// Whether it only adds.
[[nodiscard]] bool is_sum(const Op& op);

}  // namespace mansard::ir
