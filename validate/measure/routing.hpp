#pragma once

#include <cstdint>
#include <vector>

namespace mansard::measure {

enum class Spread { kUniform, kZipf };

/// Rows of each expert when every one of `tokens` goes to `top_k` of `experts`: shares equal
/// (uniform) or as 1 / rank (zipf), none above `tokens`, since a token goes to an expert once;
/// whole numbers by the largest remainder, so the same on every run. They sum to tokens x top_k,
/// for top_k up to `experts`.
[[nodiscard]] std::vector<std::int64_t> rows_of_experts(std::int64_t experts, std::int64_t tokens,
                                                        std::int64_t top_k, Spread spread);

}  // namespace mansard::measure
