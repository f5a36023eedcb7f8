#pragma once

#include <memory>
#include <string>

#include "cli/serve/options.hpp"
#include "ir/request.hpp"
#include "support/result.hpp"
#include "traces/requests/requests.hpp"

namespace mansard::cli {

/// Where requests come from, and what that is called.
struct RequestOrigin {
  std::unique_ptr<ir::RequestSource> source;
  /// Of a trace; null where requests are made. Part of `source`.
  const traces::requests::RequestReader* reader = nullptr;
  std::string name;  ///< "trace azure", "poisson 5/s".
};

/// The trace or the made requests that the options ask for. Errors: a trace that cannot be opened
/// or is of no known format; lengths and times that cannot be read.
[[nodiscard]] Result<RequestOrigin> request_origin(const ServeOptions& options);

}  // namespace mansard::cli
