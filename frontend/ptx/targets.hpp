#pragma once

#include <optional>
#include <string>

#include "frontend/ptx/ast.hpp"

namespace mansard::frontend::ptx {

/// The newest ISA version that the tables know: 9.0.
[[nodiscard]] Version newest_version();
/// Whether there is such a version; newer ones than the newest may be, up to the next major one.
[[nodiscard]] bool is_version(Version version);
/// The ISA version that brought the architecture; nothing if there is none of that name.
[[nodiscard]] std::optional<Version> version_of_target(const Target& target);
/// A rule between modifiers that a table of choices cannot say and that the form breaks; empty if
/// none: orders need a scope, `.nc` the global space, shuffles `.sync`.
[[nodiscard]] std::string broken_rule(const Module& module, const Form& form);

}  // namespace mansard::frontend::ptx
