#include "ir/attention_pairs.hpp"

namespace mansard::ir {
namespace {

Expr triangle(Expr x) {
  return x * (x + 1) / 2;
}

Expr windowed_prefix(Expr x, double window) {
  return triangle(min(x, window)) + max(x - window, 0) * window;
}

Expr chunked_prefix(Expr x, double chunk) {
  return floor_div(x, chunk) * (chunk * (chunk + 1) / 2) + triangle(mod(x, chunk));
}

}  // namespace

AttentionPairs causal_pairs(Expr context, Expr q_len) {
  return {.pairs = triangle(context) - triangle(context - q_len), .keys_read = context};
}

AttentionPairs windowed_pairs(Expr context, Expr q_len, std::int64_t window) {
  const auto w = static_cast<double>(window);
  return {.pairs = windowed_prefix(context, w) - windowed_prefix(context - q_len, w),
          .keys_read = min(context, q_len + (w - 1))};
}

AttentionPairs chunked_pairs(Expr context, Expr q_len, std::int64_t chunk) {
  const auto c = static_cast<double>(chunk);
  return {.pairs = chunked_prefix(context, c) - chunked_prefix(context - q_len, c),
          .keys_read = context - floor_div(context - q_len, c) * c};
}

AttentionPairs full_pairs(Expr context, Expr q_len) {
  return {.pairs = q_len * context, .keys_read = context};
}

}  // namespace mansard::ir
