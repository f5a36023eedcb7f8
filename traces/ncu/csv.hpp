#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mansard::traces {

/// The fields of the record that begins at `at`, quotes resolved; moves `at` behind it. A quoted
/// field may hold separators, doubled quotes and line ends; `closed` becomes false if the text ends
/// within one.
[[nodiscard]] std::vector<std::string> csv_record(std::string_view text, std::size_t& at,
                                                  char separator, bool& closed);

/// The line at `at` without its end; moves `at` behind it.
[[nodiscard]] std::string_view text_line(std::string_view text, std::size_t& at);

}  // namespace mansard::traces
