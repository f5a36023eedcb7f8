#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mansard {

/// The candidate that `word` was probably meant to be (edit distance at most a third of its
/// length), if there is one.
[[nodiscard]] std::optional<std::string> did_you_mean(std::string_view word,
                                                      std::span<const std::string> candidates);

}  // namespace mansard
