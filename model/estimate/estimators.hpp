#pragma once

#include "model/estimate/context.hpp"

/// One estimator an op class. Each documents its terms and the parameters it reads.
namespace mansard::model::estimators {

[[nodiscard]] OpEstimate attention(const OpContext& context);
[[nodiscard]] OpEstimate collective(const OpContext& context);
/// A convolution as an implicit matmul (cuDNN's forward kernels for matrix engines, which gather
/// the windows while they load them and never write them out): one matmul a group of m = samples x
/// positions, n = output channels of the group, k = taps x input channels, these padded to 16
/// bytes. The constants are those of the same library's matmul. Depthwise convolutions are streams
/// on the vector engine. No convolution has been measured here, so that the interval is wider
/// by 1.25 each way.
[[nodiscard]] OpEstimate convolution(const OpContext& context);
[[nodiscard]] OpEstimate grouped_matmul(const OpContext& context);
[[nodiscard]] OpEstimate matmul(const OpContext& context);
/// All steps' inputs in one matmul, then a matmul a step with the state, each waiting for the one
/// before (the gates are in its epilogue). Constants of the matmul.
[[nodiscard]] OpEstimate recurrent(const OpContext& context);
[[nodiscard]] OpEstimate rows(const OpContext& context);

}  // namespace mansard::model::estimators
