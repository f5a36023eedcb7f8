#pragma once

#include <string>

#include "frontend/frontend.hpp"
#include "ir/graph.hpp"
#include "support/document.hpp"
#include "support/result.hpp"

/// Hugging Face config.json -> graph.
///
/// The way through this folder: `Config` (config.hpp) unwraps nested text configs and remembers
/// which keys were read; families.def lists the families, each a short description (data) of how
/// its keys spell the concepts, its class defaults and its layers; `Architecture`
/// (architecture.hpp) is what a family's config says, family-neutral: a list of layer kinds with
/// counts; and `build_graph` (build.hpp) turns any `Architecture` into ops. A key that changes the
/// graph and that nothing read is refused by name.
namespace mansard::frontend::hf {

[[nodiscard]] Result<ir::Graph> import_config(const Node& document, const std::string& name,
                                              Phase phase);

}  // namespace mansard::frontend::hf
