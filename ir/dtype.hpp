#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ir/expr.hpp"

namespace mansard::ir {

/// Scales that travel with a block of elements.
struct BlockScale {
  int elements = 0;       ///< Elements that share one scale along a row; 0: none.
  int rows = 1;           ///< Rows that share it too (128x128 block scales: 128).
  double scale_bits = 0;  ///< Bits of scale, and of zero point where there is one, per block.
};

/// An element type. `name` is what files and the command line use: "bf16", "fp8", "fp8_block",
/// "mxfp4", "nvfp4", "int4_wo".
struct Dtype {
  std::string_view name;
  double bits = 0;   ///< Of an element, without scales.
  BlockScale scale;  ///< Scales stored beside the elements.
  /// The dtype whose matrix rate it computes at ("fp8_block" computes at "fp8"), or "" if it is
  /// storage only (weight-only formats: dequantised to the activation's type).
  std::string_view arithmetic;
  std::string_view description;  ///< One line with its source.

  friend bool operator==(const Dtype& a, const Dtype& b) { return a.name == b.name; }
};

/// Every dtype, in the order of `mansard ops --dtypes`: from fp64 down to the 4-bit formats, then
/// the weight-only ones (int8_wo, int4_wo, nf4, ternary), then those that carry indices.
[[nodiscard]] std::span<const Dtype> dtypes();
[[nodiscard]] const Dtype* find_dtype(std::string_view name);  ///< Also by alias: bfloat16, e4m3...

/// Bytes of `elements` elements, scales included: exact integers under `count`, dimension byte.
/// ceil(elements * bits / 8) + ceil(elements / (block elements * rows)) * scale bytes. Exact for
/// scales along a row whose blocks fill the rows. For 2-d blocks (fp8_block) it takes the tensor as
/// if its blocks were full: a tensor of r x c really holds ceil(r/128) * ceil(c/128) scales, which
/// is the same where 128 divides r and c, and at most 4 bytes more per partly filled block.
[[nodiscard]] Expr bytes_of(const Dtype& dtype, Expr elements);

}  // namespace mansard::ir
