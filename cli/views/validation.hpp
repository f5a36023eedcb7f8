#pragma once

#include <string>

#include "validate/accuracy.hpp"
#include "validate/compare.hpp"

namespace mansard::cli {

/// What a row measured: "llama3-8b k=4096 m=16 n=6144".
[[nodiscard]] std::string shape_of(const ir::Measurement& row);

/// The classes; then, unless `summary_only`, each with its worst rows and those that beat the
/// bound.
[[nodiscard]] std::string validation_table(const validate::Report& report, bool summary_only);
/// `mansard.validation/1`.
[[nodiscard]] std::string validation_json(const validate::Report& report);
/// One line a row: what was measured and what the model says.
[[nodiscard]] std::string validation_csv(const validate::Report& report);

/// The accuracy table in Markdown, as the README has it.
[[nodiscard]] std::string accuracy_markdown(const std::vector<validate::AccuracyLine>& lines);

}  // namespace mansard::cli
