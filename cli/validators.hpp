#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class Validator;
}

/// Checks of single option values, whose messages say what was expected and found.
namespace mansard::cli {

/// A whole number from `least` to 2^40.
[[nodiscard]] CLI::Validator at_least(std::int64_t least);
/// A number from 0 to 1.
[[nodiscard]] CLI::Validator fraction();
/// A finite number from 0.
[[nodiscard]] CLI::Validator not_negative();
/// One of a few words, with did-you-mean.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);

}  // namespace mansard::cli
