#pragma once

#include <span>
#include <string>

#include "model/program/kernel.hpp"

namespace mansard::model::compile {

/// What KernelCompiler::emit promises.
[[nodiscard]] Result<std::string> emit_text(const Program& program, std::span<const double> fixed,
                                            const ArtefactOptions& options);

}  // namespace mansard::model::compile
