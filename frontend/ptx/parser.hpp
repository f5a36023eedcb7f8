#pragma once

#include <memory>
#include <string>

#include "frontend/ptx/ast.hpp"
#include "support/result.hpp"

namespace mansard::frontend::ptx {

/// A module, and what deserves a warning.
struct Parsed {
  Module module;
  Diagnostics warnings;
};

/// Reads a PTX text. Errors: everything that is wrong with it (at most 50), each with its place.
[[nodiscard]] Result<Parsed> parse(std::shared_ptr<const SourceFile> source);

/// Reads a PTX file of at most 256 MiB.
[[nodiscard]] Result<Parsed> parse_file(const std::string& path);

}  // namespace mansard::frontend::ptx
