#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "validate/measure/row.hpp"

namespace mansard::measure {

/// The rows of `{"ops": [{"op": "matmul", "m": 16, ...}, ...]}`, as `mansard predict --ops-out`
/// writes it: the members of each object are columns; nested values and null are left out, members
/// beside "ops" are not looked at. Throws UsageError with the line where the text is no JSON or has
/// no such list.
[[nodiscard]] std::vector<Row> parse_ops_json(std::string_view text);

/// Ops from a file: JSON by its name (.json), CSV otherwise. Throws UsageError.
[[nodiscard]] std::vector<Row> read_ops(const std::filesystem::path& path);

}  // namespace mansard::measure
