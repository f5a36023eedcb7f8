#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

#include "support/diagnostic.hpp"

namespace mansard {

/// What a user can cause to fail returns this: a value, or every error found.
template <typename T>
using Result = tl::expected<T, Diagnostics>;

/// One error, ready to be returned from a function that returns a `Result`.
[[nodiscard]] inline tl::unexpected<Diagnostics> failure(std::string id, std::string message,
                                                         Location location = {},
                                                         std::string label = {}) {
  return tl::unexpected<Diagnostics>(Diagnostics{Diagnostic{
      std::move(id), std::move(message), std::move(location), std::move(label), Severity::kError}});
}
[[nodiscard]] inline tl::unexpected<Diagnostics> failure(Diagnostics diagnostics) {
  return tl::unexpected<Diagnostics>(std::move(diagnostics));
}

}  // namespace mansard
