#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "validate/suite/gpu/lab.cuh"

namespace mansard::measure {

/// A tensor of an op of ours.
struct Operand {
  /// Element type of random data; "index" for whole numbers below `limit`, "angle" for fp32 cosines
  /// and sines of rows of `limit`.
  std::string_view dtype;
  std::size_t count = 0;
  enum class Role { kInput, kOutput, kInOut, kShared } role = Role::kInput;
  std::uint32_t limit = 0;
};

/// Tensors as the host's reference sees them: one vector an operand, in float.
using HostTensors = std::vector<std::vector<float>>;

/// An op that kernels of this program run (`mansard-kernels`), as data: its operands, its launch,
/// its reference.
struct OwnOp {
  std::string_view name;
  /// What of a row decides the operands: `rows` and `cols`, or `elements`, and more.
  std::vector<Operand> (*operands)(const Row&);
  void (*launch)(const Row&, std::span<void* const> operands, cudaStream_t);
  /// Fills the outputs; slow and obvious.
  void (*reference)(const Row&, HostTensors&);
  /// The small shape that is compared in full before the first measurement.
  Row small;
};

[[nodiscard]] std::span<const OwnOp> stream_ops();
[[nodiscard]] std::span<const OwnOp> norm_ops();
[[nodiscard]] std::span<const OwnOp> lookup_ops();

/// Null when there is no kernel of ours for it.
[[nodiscard]] const OwnOp* find_own_op(std::string_view name);

/// Checks the op on its small shape in the row's dtype, then times it.
void measure_own_op(Lab& lab, const Row& row, const OwnOp& op, bool warm);

/// Compares outputs with the reference in full. Throws DeviceError with the worst element.
void check_own_op(Lab& lab, const OwnOp& op, std::string_view dtype);

}  // namespace mansard::measure
