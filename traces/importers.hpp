#pragma once

#include <string>
#include <string_view>

#include "support/result.hpp"
#include "traces/read_report.hpp"

/// What each format offers to the import; formats.def lists them.
namespace mansard::traces {

#define FORMAT(name)                                                \
  /** Judges by the first bytes of a file, gunzipped. */            \
  [[nodiscard]] bool looks_like_##name(std::string_view beginning); \
  /** Errors: the file cannot be read at all. */                    \
  [[nodiscard]] Result<ReadReport> import_##name(const std::string& path, ir::TraceSink& sink);
#include "traces/formats.def"
#undef FORMAT

}  // namespace mansard::traces
