#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mansard::cli {

/// How a program that was run ended.
struct Finished {
  int code = -1;     ///< Exit code; -1 if a signal ended it.
  std::string text;  ///< What it wrote to standard output and error, if that was asked for.
};

/// Runs a program with the standard streams of this one, and waits for its end. `words` are its
/// name, looked for on PATH, and its arguments. nullopt if it could not be started.
[[nodiscard]] std::optional<Finished> run_program(std::vector<std::string> words);

/// The same, but its standard input is a file that holds `input` (so /dev/stdin may be opened
/// again), what it writes is returned, and it is killed after `patience`.
[[nodiscard]] std::optional<Finished> run_program(std::vector<std::string> words,
                                                  std::string_view input,
                                                  std::chrono::milliseconds patience);

}  // namespace mansard::cli
