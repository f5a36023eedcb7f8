#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/frontend.hpp"

namespace mansard::frontend {

/// The text of the built-in model's file, if there is one of that name.
[[nodiscard]] std::optional<std::string_view> builtin_text(std::string_view name);

/// The built-in model `name`, which must exist.
[[nodiscard]] Result<ir::Graph> import_builtin(const std::string& name, Phase phase);

}  // namespace mansard::frontend
