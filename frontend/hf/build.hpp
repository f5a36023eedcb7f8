#pragma once

#include "frontend/frontend.hpp"
#include "frontend/hf/architecture.hpp"
#include "ir/graph.hpp"

namespace mansard::frontend::hf {

/// The ops of one step, in the order and in the fused forms in which serving systems run them.
[[nodiscard]] ir::Graph build_graph(const Architecture& architecture, Phase phase);

}  // namespace mansard::frontend::hf
