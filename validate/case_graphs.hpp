#pragma once

#include "ir/graph.hpp"
#include "ir/measurement.hpp"

/// The graphs of measured ops, by the names that cases.def uses.
namespace mansard::validate::cases {

[[nodiscard]] ir::Graph add(const ir::Measurement& row);
[[nodiscard]] ir::Graph arithmetic(const ir::Measurement& row);
[[nodiscard]] ir::Graph attention(const ir::Measurement& row);
[[nodiscard]] ir::Graph cast(const ir::Measurement& row);
[[nodiscard]] ir::Graph collective(const ir::Measurement& row);
[[nodiscard]] ir::Graph column_sum(const ir::Measurement& row);
[[nodiscard]] ir::Graph copy(const ir::Measurement& row);
[[nodiscard]] ir::Graph copy_rows(const ir::Measurement& row);
[[nodiscard]] ir::Graph embedding(const ir::Measurement& row);
[[nodiscard]] ir::Graph fill(const ir::Measurement& row);
[[nodiscard]] ir::Graph gelu(const ir::Measurement& row);
[[nodiscard]] ir::Graph grouped_matmul(const ir::Measurement& row);
[[nodiscard]] ir::Graph layernorm(const ir::Measurement& row);
[[nodiscard]] ir::Graph matmul(const ir::Measurement& row);
[[nodiscard]] ir::Graph mla_attention(const ir::Measurement& row);
[[nodiscard]] ir::Graph moe(const ir::Measurement& row);
[[nodiscard]] ir::Graph power(const ir::Measurement& row);
[[nodiscard]] ir::Graph rmsnorm(const ir::Measurement& row);
[[nodiscard]] ir::Graph rope(const ir::Measurement& row);
[[nodiscard]] ir::Graph row_sum(const ir::Measurement& row);
[[nodiscard]] ir::Graph scalar_arithmetic(const ir::Measurement& row);
[[nodiscard]] ir::Graph scalar_power(const ir::Measurement& row);
[[nodiscard]] ir::Graph silu_mul(const ir::Measurement& row);
[[nodiscard]] ir::Graph softmax(const ir::Measurement& row);
[[nodiscard]] ir::Graph sum(const ir::Measurement& row);
[[nodiscard]] ir::Graph tanh(const ir::Measurement& row);
[[nodiscard]] ir::Graph triad(const ir::Measurement& row);

}  // namespace mansard::validate::cases
