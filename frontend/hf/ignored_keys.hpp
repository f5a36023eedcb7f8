#pragma once

#include <cstdint>
#include <string_view>

namespace mansard::frontend::hf {

/// No count of a config is larger: it keeps products of a few of them far inside 128 bits.
inline constexpr std::int64_t kLargestInteger = std::int64_t{1} << 40;

/// No factor of a config is larger (or infinite).
inline constexpr double kLargestNumber = 1e6;

/// Whether a key is known to leave the graph as it is: training, tokenizer, generation, file and
/// library details, and constants of formulas whose cost does not depend on them. ignored_keys.cpp
/// lists them by reason.
[[nodiscard]] bool has_no_effect(std::string_view key);

/// Whether a key says by its first word that it is about images, audio or video.
[[nodiscard]] bool names_other_modality(std::string_view key);

/// Whether a key of an object around the text model is about what stands beside it: towers,
/// projectors, image tokens.
[[nodiscard]] bool belongs_beside_text(std::string_view key);

}  // namespace mansard::frontend::hf
