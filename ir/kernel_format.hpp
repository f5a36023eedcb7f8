#pragma once

#include <string>
#include <string_view>

#include "ir/kernel_class.hpp"

namespace mansard::ir {

/// The number format of a kernel's operands by its name in lower case: the letters of nvjet, the
/// instruction shapes of cuBLAS and CUTLASS, the type letters of Tensile, types of templates. "":
/// not told.
[[nodiscard]] std::string kernel_dtype(std::string_view name);

/// Tile and stages by a kernel's name in lower case: "..._128x8_64x12_..." of cuBLAS and CUTLASS,
/// "tilesize128x128x16_stage4" of xmma, "mt128x64x32" of Tensile. A matrix-vector product is a tile
/// of one.
[[nodiscard]] KernelTile kernel_tile(std::string_view name);

}  // namespace mansard::ir
