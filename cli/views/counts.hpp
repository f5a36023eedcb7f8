#pragma once

#include <span>
#include <string>

#include "validate/counts.hpp"

namespace mansard::cli {

/// The classes with the spread of counted over predicted, then the rows that are off the most.
[[nodiscard]] std::string counts_table(const std::string& machine,
                                       std::span<const validate::CountClass> classes);
/// `mansard.counts/1`.
[[nodiscard]] std::string counts_json(const std::string& machine,
                                      std::span<const validate::CountClass> classes);
/// One line a row.
[[nodiscard]] std::string counts_csv(std::span<const validate::CountClass> classes);

}  // namespace mansard::cli
