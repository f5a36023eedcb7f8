#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// The command line as data, read off the parser: what `--help` and shell completion are made of.
namespace mansard::cli {

/// An option or a positional argument.
struct Argument {
  std::vector<std::string> names;    ///< "--batch", "-b"; empty if it is positional.
  std::string value;                 ///< Stands for its value: "N", "MACHINE"; "" of a flag.
  std::vector<std::string> choices;  ///< The values there are, if they are few.
  std::string description;
  std::string otherwise;  ///< The default, "" if there is none.
  bool required = false;
  bool repeats = false;
  bool commas = false;  ///< Several values may stand in one word, with commas.
};

struct Command {
  std::string name;
  std::string description;
  std::vector<Argument> options;
  std::vector<Argument> positionals;
  std::vector<Command> commands;
};

[[nodiscard]] Argument describe(const CLI::Option& option);
[[nodiscard]] Command describe(const CLI::App& app);

}  // namespace mansard::cli
