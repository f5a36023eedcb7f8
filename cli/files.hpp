#pragma once

#include <string>
#include <string_view>

#include "support/result.hpp"

namespace mansard::cli {

/// Writes a file that an option named, or says why it cannot be written.
[[nodiscard]] Result<void> write_file(const std::string& option, const std::string& path,
                                      std::string_view text);

}  // namespace mansard::cli
