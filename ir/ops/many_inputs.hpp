#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

/// Kinds that read any number of inputs: `x`, and up to seven more, each with the elements read of
/// it as a dim ("iy" of operand "y").
namespace mansard::ir::ops {

struct MoreInput {
  std::string_view operand;
  std::string_view dim;
};

inline constexpr std::array kMoreInputs = {
    MoreInput{"y", "iy"}, MoreInput{"z", "iz"}, MoreInput{"u", "iu"}, MoreInput{"v", "iv"},
    MoreInput{"w", "iw"}, MoreInput{"p", "ip"}, MoreInput{"q", "iq"}};

/// x of `i` elements, o of `n`, and the further inputs.
[[nodiscard]] inline std::vector<OperandDef> many_inputs() {
  std::vector<OperandDef> operands = {
      {.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = dim("i")},
      {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = dim("n")}};
  for (const MoreInput& input : kMoreInputs) {
    operands.push_back({.name = input.operand,
                        .access = Access::kRead,
                        .role = Role::kActivation,
                        .touched = dim(input.dim),
                        .optional = true});
  }
  return operands;
}

/// Adds the dims of the further inputs.
[[nodiscard]] inline std::vector<DimDef> with_more_inputs(std::vector<DimDef> dims) {
  for (const MoreInput& input : kMoreInputs) {
    dims.push_back({input.dim, "elements read of a further input", 0});
  }
  return dims;
}

}  // namespace mansard::ir::ops
