#pragma once

#include "validate/measure/options.hpp"

namespace mansard::measure {

/// The verb `probes`: what the machine can do, into DIR/probes.csv. The program's exit code.
[[nodiscard]] int run_probes(const Options& options);

}  // namespace mansard::measure
