#pragma once

#include "model/estimate/pieces.hpp"

/// Shapes of the tiles that a library's matmul kernels compute. The tables are structure, not
/// calibration: which kernels exist. Columns: tile_n (extent over output features), tile_m (over
/// rows), operand_rows (rows of operands that a processor loads), splits (1: the reduced dimension
/// is split over the processors that would idle).
namespace mansard::model::estimators {

/// How operands' rows are aligned: to 16 bytes (tensor copies, vector loads), to 4, or to 2.
enum class Alignment { k16 = 16, k4 = 4, k2 = 2 };

/// What of a machine and an op selects the library's kernels.
struct KernelKind {
  Chip chip;
  Rate rate;
  Alignment alignment = Alignment::k16;
  bool is_batched = false;  ///< Kernels for batches, where the library has others for them.
};

/// The kernels for this op's machine, engine and type:
///
///   sm_100, aligned            two processors compute 256 x N together, each loading its 128 rows
///   and half of the N sm_90, aligned             cuBLASLt 13's nvjet kernels, as their names tell
///   them (extra/h200-sxm.matmul_kernels.csv) vector engine              SIMT kernels others
///   mma.sync kernels (CUTLASS)
[[nodiscard]] const ir::Table& tile_table(const OpContext& context, const KernelKind& kind);

/// The least tile_m of a table.
[[nodiscard]] double least_tile_m(const ir::Table& table);

}  // namespace mansard::model::estimators
