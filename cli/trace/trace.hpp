#pragma once

#include "cli/verb.hpp"

/// The commands of `mansard trace`, one a file.
namespace mansard::cli {

#define COMMAND(name) [[nodiscard]] Run add_trace_##name(CLI::App& verb);
#include "cli/trace/commands.def"
#undef COMMAND

}  // namespace mansard::cli
