#pragma once

#include <span>
#include <string>

#include "cli/views/format.hpp"
#include "ir/graph.hpp"

/// Views of models, before any machine: what they are and hold.
namespace mansard::cli {

/// One line a model. `mansard.models/1`.
[[nodiscard]] std::string model_list(std::span<const ir::Graph> models, Format format);

/// A graph that a file holds op by op (`facts.file`): parameters, MAC and FLOP by kind of op and by
/// layer, memory, dimensions without a value. `mansard.model/1`; CSV is a line an op.
[[nodiscard]] std::string network_card(const ir::Graph& graph, Format format);

/// Parameters, bytes by dtype, layers and their ops. `mansard.model/1`.
[[nodiscard]] std::string model_card(const ir::Graph& model, Format format);

}  // namespace mansard::cli
