#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "ir/expr_eval.hpp"
#include "ir/graph.hpp"

/// Small graphs written by hand, for tests of the op and graph level.
namespace mansard::ir {

/// A Llama, or a mixture of experts of its shape.
struct LlamaShape {
  std::int64_t layers = 2;
  std::int64_t hidden = 64;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 2;
  std::int64_t head_dim = 8;
  std::int64_t ffn = 160;
  std::int64_t vocabulary = 1000;
  std::int64_t window = 0;  ///< 0: full attention.
  bool tied = false;
  std::int64_t experts = 0;  ///< 0: a dense feed-forward.
  std::int64_t top_k = 0;
};

inline constexpr LlamaShape kLlama2_7b = {.layers = 32,
                                          .hidden = 4096,
                                          .heads = 32,
                                          .kv_heads = 32,
                                          .head_dim = 128,
                                          .ffn = 11008,
                                          .vocabulary = 32000};
inline constexpr LlamaShape kLlama31_8b = {.layers = 32,
                                           .hidden = 4096,
                                           .heads = 32,
                                           .kv_heads = 8,
                                           .head_dim = 128,
                                           .ffn = 14336,
                                           .vocabulary = 128256};
inline constexpr LlamaShape kLlama31_70b = {.layers = 80,
                                            .hidden = 8192,
                                            .heads = 64,
                                            .kv_heads = 8,
                                            .head_dim = 128,
                                            .ffn = 28672,
                                            .vocabulary = 128256};
inline constexpr LlamaShape kMixtral = {.layers = 32,
                                        .hidden = 4096,
                                        .heads = 32,
                                        .kv_heads = 8,
                                        .head_dim = 128,
                                        .ffn = 14336,
                                        .vocabulary = 32000,
                                        .experts = 8,
                                        .top_k = 2};

[[nodiscard]] Graph llama(const LlamaShape& shape);

/// The workload of one decode step, or of a prefill.
[[nodiscard]] Bindings decode(std::int64_t batch, std::int64_t context);
[[nodiscard]] Bindings prefill(std::int64_t batch, std::int64_t context);

/// The exact integer as text; the error where there is none.
[[nodiscard]] std::string exact(Expr expression, const Bindings& bindings = {});

/// What a count of a kind is where its dims have these values; unbound dims have their defaults.
using DimValues = std::initializer_list<std::pair<std::string_view, double>>;
[[nodiscard]] std::string count_of(std::string_view kind, Expr OpDef::* counted, DimValues dims);
/// Elements that an op of a kind touches of an operand.
[[nodiscard]] std::string touched_of(std::string_view kind, std::string_view operand,
                                     DimValues dims);

/// The op of that name, which must exist.
[[nodiscard]] const Op& op_named(const Graph& graph, std::string_view name);
[[nodiscard]] const Tensor& tensor_named(const Graph& graph, std::string_view name);
/// How many ops are of a kind.
[[nodiscard]] int number_of(const Graph& graph, std::string_view kind);

}  // namespace mansard::ir
