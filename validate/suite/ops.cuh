#pragma once

#include <span>
#include <string_view>

#include "validate/suite/gpu/lab.cuh"

namespace mansard::measure {

/// How one implementation measures an op of the suite. An op may have several.
struct SuiteOp {
  std::string_view name;
  void (*measure)(Lab&, const Row&, bool warm);
  /// Whether a variant makes sense that finds its operands in the L2.
  bool has_warm = true;
};

/// All implementations of all ops.
[[nodiscard]] std::span<const SuiteOp> suite_ops();

/// The first implementation of an op; null when there is none.
[[nodiscard]] const SuiteOp* find_suite_op(std::string_view name);

/// Attention of ours (`mansard-kernels`) and cuDNN's; phase prefill, decode or chunk.
void measure_own_attention(Lab& lab, const Row& row, bool warm);
void measure_cudnn_attention(Lab& lab, const Row& row, bool warm);
/// tokens x top_k rows spread over the experts, one cuBLASLt call an expert, all in one graph.
void measure_grouped_matmul(Lab& lab, const Row& row, bool warm);
/// One decode layer of a dense model, every kernel of it in one graph.
void measure_layer(Lab& lab, const Row& row, bool warm);

}  // namespace mansard::measure
