#pragma once

#include "cli/sweep/request.hpp"
#include "cli/verb.hpp"

namespace mansard::cli {

/// Does what `mansard sweep` was asked, alone or with the processes that mpirun started beside it.
[[nodiscard]] Outcome sweep(const SweepRequest& request);

}  // namespace mansard::cli
