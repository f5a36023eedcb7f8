#pragma once

#include <span>
#include <string>

#include "cli/views/format.hpp"
#include "ir/graph.hpp"

/// Views of models, before any machine: what they are and hold.
namespace mansard::cli {

/// One line a model. `mansard.models/1`.
[[nodiscard]] std::string model_list(std::span<const ir::Graph> models, Format format);

/// Parameters, bytes by dtype, layers and their ops. `mansard.model/1`.
[[nodiscard]] std::string model_card(const ir::Graph& model, Format format);

}  // namespace mansard::cli
