#pragma once

#include <span>
#include <string>

#include "model/program/kernel.hpp"

namespace mansard::model::compile {

/// What KernelCompiler::emit promises.
[[nodiscard]] Result<std::string> emit_text(const Program& program, std::span<const double> fixed,
                                            ArtefactForm form, const std::string& cpu);

}  // namespace mansard::model::compile
