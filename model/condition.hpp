#pragma once

#include <string>
#include <vector>

#include "model/outputs.hpp"
#include "support/result.hpp"

namespace mansard::model {

/// Reads a condition on a prediction: "memory.fits and tpot < 50 ms", "batch * 2 <= 64 or not
/// gpus > 8". Names are fields of the prediction (see `find_output`) or else symbols of its pool
/// ("batch", "hbm.bandwidth"); numbers take units; `and`, `or`, `not`, < <= > >= == !=, + - * / and
/// parentheses. The result is 1 where it holds and 0 elsewhere. Errors: syntax, unknown names,
/// comparisons of unlike quantities.
[[nodiscard]] Result<ir::Expr> parse_condition(const std::string& text,
                                               const std::vector<Output>& outputs,
                                               ir::ExprPool& pool);

}  // namespace mansard::model
