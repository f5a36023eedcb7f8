#pragma once

#include <string>

#include "ir/graph.hpp"
#include "support/result.hpp"

/// The text form of graphs (.ir.yaml), as `ir::print` writes it.
namespace mansard::frontend::ir_yaml {

[[nodiscard]] Result<ir::Graph> import_file(const std::string& path);

}  // namespace mansard::frontend::ir_yaml
