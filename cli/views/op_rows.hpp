#pragma once

#include <span>
#include <string>

#include "model/prediction.hpp"
#include "validate/op_rows.hpp"

namespace mansard::cli {

/// `mansard.ops/1`: the ops of a step as `mansard-measure suite --ops` takes them.
[[nodiscard]] std::string op_rows_json(const model::Prediction& prediction,
                                       std::span<const validate::OpRow> rows);

}  // namespace mansard::cli
