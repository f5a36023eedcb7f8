#pragma once

#include <optional>
#include <vector>

#include "frontend/ptx/ast.hpp"
#include "frontend/ptx/interpreter/access.hpp"

namespace mansard::frontend::ptx {

/// The registers of one operand of a matrix instruction, each of all lanes.
using Fragment = std::vector<Lanes>;

/// D = A B + C of an mma.sync of 16 x 8 results in f16, bf16, tf32 or integers of 8 bits; nothing
/// for other shapes and types. Products are summed in double precision and rounded once, so the
/// last bits may differ from a machine, whose order of summation is not documented.
[[nodiscard]] std::optional<Fragment> multiply_matrices(const Form& form, const Fragment& a,
                                                        const Fragment& b, const Fragment& c);

}  // namespace mansard::frontend::ptx
