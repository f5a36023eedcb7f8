#pragma once

#include "model/estimate/context.hpp"

/// One estimator an op class. Each documents its terms and the parameters it reads.
namespace mansard::model::estimators {

[[nodiscard]] OpEstimate attention(const OpContext& context);
[[nodiscard]] OpEstimate collective(const OpContext& context);
[[nodiscard]] OpEstimate grouped_matmul(const OpContext& context);
[[nodiscard]] OpEstimate matmul(const OpContext& context);
[[nodiscard]] OpEstimate rows(const OpContext& context);

}  // namespace mansard::model::estimators
