#pragma once

#include "validate/measure/options.hpp"

namespace mansard::measure {

/// The verb `suite`: ops as libraries and our own kernels run them, into DIR/suite.csv. The
/// program's exit code.
[[nodiscard]] int run_suite(const Options& options);

/// The verb `kernel`: a user's PTX, into DIR/kernel.csv. The program's exit code.
[[nodiscard]] int run_kernel(const Options& options);

}  // namespace mansard::measure
