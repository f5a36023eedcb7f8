#pragma once

#include <span>

#include "frontend/onnx/rules.hpp"

/// The tables of rules, one a theme; `rules.cpp` looks ops up in all of them.
namespace mansard::frontend::onnx {

[[nodiscard]] std::span<const RuleEntry> attention_rules();
[[nodiscard]] std::span<const RuleEntry> classical_rules();
[[nodiscard]] std::span<const RuleEntry> contraction_rules();
[[nodiscard]] std::span<const RuleEntry> control_rules();
[[nodiscard]] std::span<const RuleEntry> convolution_rules();
[[nodiscard]] std::span<const RuleEntry> elementwise_rules();
[[nodiscard]] std::span<const RuleEntry> expert_rules();
[[nodiscard]] std::span<const RuleEntry> extent_rules();
[[nodiscard]] std::span<const RuleEntry> gather_rules();
[[nodiscard]] std::span<const RuleEntry> generator_rules();
[[nodiscard]] std::span<const RuleEntry> image_rules();
[[nodiscard]] std::span<const RuleEntry> join_rules();
[[nodiscard]] std::span<const RuleEntry> loss_rules();
[[nodiscard]] std::span<const RuleEntry> movement_rules();
[[nodiscard]] std::span<const RuleEntry> norm_rules();
[[nodiscard]] std::span<const RuleEntry> optimizer_rules();
[[nodiscard]] std::span<const RuleEntry> packed_attention_rules();
[[nodiscard]] std::span<const RuleEntry> pool_rules();
[[nodiscard]] std::span<const RuleEntry> position_rules();
[[nodiscard]] std::span<const RuleEntry> quantize_rules();
[[nodiscard]] std::span<const RuleEntry> recurrent_rules();
[[nodiscard]] std::span<const RuleEntry> reduce_rules();
[[nodiscard]] std::span<const RuleEntry> search_rules();
[[nodiscard]] std::span<const RuleEntry> sequence_rules();
[[nodiscard]] std::span<const RuleEntry> shape_rules();
[[nodiscard]] std::span<const RuleEntry> slice_rules();
[[nodiscard]] std::span<const RuleEntry> text_rules();

}  // namespace mansard::frontend::onnx
