#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/source.hpp"

namespace mansard {

enum class Severity { kError, kWarning, kNote };

/// One message about one place. `message` is lower case without a final period and says what was
/// found and what was expected; `id` is stable ("unit-dimension"); `label` stands behind the carets
/// (a hint: "write TFLOP/s").
struct Diagnostic {
  std::string id;
  std::string message;
  Location location;
  std::string label;
  Severity severity = Severity::kError;
};

using Diagnostics = std::vector<Diagnostic>;

/// The text a person reads:
///
///     chips/next.yaml:6:24: error: expected a rate, found an amount of work [unit-dimension]
///       6 |     bf16: {peak: 989.4 TFLOP, source: guess}
///         |                        ^^^^^ write TFLOP/s
///
/// Long lines are shown as a window around the carets; control bytes are escaped.
[[nodiscard]] std::string render(const Diagnostic& diagnostic);
[[nodiscard]] std::string render(const Diagnostics& diagnostics);

}  // namespace mansard
