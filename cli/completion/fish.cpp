#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/completion.hpp"

namespace mansard::cli {
namespace {

std::string single_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' || c == '\\' ? "\\" : "";
    result += c;
  }
  return result + "'";
}

std::string values(const Candidates& values) {
  switch (values.kind) {
    case Candidates::Kind::kWords:
      return fmt::format("{}", fmt::join(values.words, " "));
    case Candidates::Kind::kNames:
      return values.commas
                 ? fmt::format("(__fish_complete_list , \"mansard completion --list {}\")",
                               values.list)
                 : fmt::format("(mansard completion --list {})", values.list);
    case Candidates::Kind::kFiles:
    case Candidates::Kind::kAnything:
      break;
  }
  return "";
}

/// How an option's value is completed: `-x` takes words only, `-r` files (too).
std::string value_switch(const Argument& option) {
  if (option.value.empty()) {
    return "";
  }
  const Candidates found = candidates(option);
  const bool files = found.files_too || found.kind == Candidates::Kind::kFiles;
  const std::string words = values(found);
  return (files ? " -r -F" : " -x") + (words.empty() ? "" : " -a " + single_quoted(words));
}

std::string option_line(const Argument& option, const std::string& condition) {
  std::string names;
  for (const std::string& name : option.names) {
    names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return fmt::format("complete -c mansard -n {}{}{} -d {}\n", single_quoted(condition), names,
                     value_switch(option), single_quoted(option.description));
}

std::string positional_line(const Argument& argument, const std::string& here) {
  const Candidates found = candidates(argument);
  const std::string words = values(found);
  const bool files = found.files_too || found.kind == Candidates::Kind::kFiles;
  if (words.empty() && !files) {
    return {};
  }
  return fmt::format("complete -c mansard -n {}{}{}\n", single_quoted(here), files ? " -F" : "",
                     words.empty() ? "" : " -a " + single_quoted(words));
}

/// `seen` holds where the commands down to `command` are on the line.
std::string lines(const Command& command, const std::string& seen) {
  std::string deeper;
  for (const Command& inner : command.commands) {
    deeper += (deeper.empty() ? "" : " ") + inner.name;
  }
  const std::string here =
      deeper.empty() ? seen
                     : fmt::format("{}; and not __fish_seen_subcommand_from {}", seen, deeper);
  std::string text;
  for (const Argument& option : command.options) {
    text += option_line(option, here);
  }
  for (const Argument& argument : command.positionals) {
    text += positional_line(argument, here);
  }
  for (const Command& inner : command.commands) {
    text += fmt::format("complete -c mansard -n {} -a {} -d {}\n", single_quoted(here), inner.name,
                        single_quoted(inner.description));
    text += lines(inner, fmt::format("{}; and __fish_seen_subcommand_from {}", seen, inner.name));
  }
  return text;
}

}  // namespace

std::string fish_completion(const Command& program) {
  return "# fish completion of mansard, written by: mansard completion fish\n"
         "complete -c mansard -f\n" +
         lines(program, "true");
}

}  // namespace mansard::cli
