#pragma once

#include <cstdint>

namespace mansard::cli {

/// What a verb writes: text for people, or one of two forms for programs.
enum class Format : std::uint8_t { kTable, kJson, kCsv };

}  // namespace mansard::cli
