#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "support/document.hpp"
#include "support/result.hpp"

/// Frontends: a file of a format in, `ir` out. `frontend/formats.def` is the list of formats.
namespace mansard::frontend {

/// What a step does. Most graphs serve both phases (their symbols q_len and context tell them
/// apart); latent attention does not: decode multiplies in the latent space, prefill expands keys
/// and values.
enum class Phase { kDecode, kPrefill };

/// A built-in model ("llama3-8b", "llama3-8b-fp8") or a file: config.json, .ir.yaml. A format not
/// yet read is refused by name.
[[nodiscard]] Result<ir::Graph> import_model(const std::string& name_or_path, Phase phase);

/// Names of the built-in models, sorted.
[[nodiscard]] std::vector<std::string> builtin_models();

}  // namespace mansard::frontend
