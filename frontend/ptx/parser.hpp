#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "frontend/ptx/ast.hpp"
#include "support/result.hpp"

namespace mansard::frontend::ptx {

/// What becomes of an instruction whose opcode is not in the table. ptxas refuses all; a newer
/// ptxas may know it.
enum class UnknownOpcodes : std::uint8_t {
  kKeep,                ///< Kept with a warning.
  kKeepUnlessMisspelt,  ///< Refused if it is nearly a known one, in a version that is known.
  kRefuse,
};

struct ParseOptions {
  UnknownOpcodes unknown_opcodes = UnknownOpcodes::kKeepUnlessMisspelt;
};

/// A module, and what deserves a warning.
struct Parsed {
  Module module;
  Diagnostics warnings;
};

/// Reads a PTX text. Errors: everything that is wrong with it (at most 50), each with its place.
[[nodiscard]] Result<Parsed> parse(std::shared_ptr<const SourceFile> source,
                                   const ParseOptions& options = {});

/// Reads a PTX file of at most 256 MiB.
[[nodiscard]] Result<Parsed> parse_file(const std::string& path, const ParseOptions& options = {});

}  // namespace mansard::frontend::ptx
