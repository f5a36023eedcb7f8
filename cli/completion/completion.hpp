#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"

/// Shell completion, generated from the command line itself. Names of machines, models, dtypes and
/// ops are asked of the program when they are needed (`mansard completion --list machines`), so a
/// script stays true when they change.
namespace mansard::cli {

/// What may stand for an argument.
struct Candidates {
  enum class Kind { kAnything, kWords, kNames, kFiles };
  Kind kind = Kind::kAnything;
  std::vector<std::string> words;  ///< kWords: these.
  std::string_view list;           ///< kNames: the list to ask for.
  bool files_too = false;          ///< kNames: a file may stand for a name.
  bool commas = false;             ///< kNames: several may stand in one word, with commas.
};
[[nodiscard]] Candidates candidates(const Argument& argument);

/// A name list: "machines", "models", "dtypes", "ops".
[[nodiscard]] std::vector<std::string> names_in(std::string_view list);
[[nodiscard]] std::vector<std::string> name_lists();

[[nodiscard]] std::string bash_completion(const Command& program);
[[nodiscard]] std::string zsh_completion(const Command& program);
[[nodiscard]] std::string fish_completion(const Command& program);

}  // namespace mansard::cli
