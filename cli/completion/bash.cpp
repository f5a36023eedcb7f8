#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/completion.hpp"

namespace mansard::cli {
namespace {

constexpr std::string_view kHead =
    R"sh(# bash completion of mansard, written by: mansard completion bash
_mansard_names() {
  local lead=
  [[ $cur != *,* ]] || lead=${cur%,*},
  COMPREPLY=($(compgen -P "$lead" -W "$("$program" completion --list "$1" 2>/dev/null)" -- "${cur##*,}"))
}
_mansard_files() {
  compopt -o filenames
  COMPREPLY+=($(compgen -f -- "$cur"))
}
_mansard() {
  local program=$1 cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path=mansard i
  [[ $cur != = ]] || cur=
  [[ $prev != = ]] || prev=${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$path ${COMP_WORDS[i]}" in
)sh";

/// The commands below a command, each by its whole path.
void append_paths(const Command& command, const std::string& path,
                  std::vector<std::string>& paths) {
  for (const Command& inner : command.commands) {
    paths.push_back(fmt::format("\"{} {}\"", path, inner.name));
    append_paths(inner, fmt::format("{} {}", path, inner.name), paths);
  }
}

std::string action(const Candidates& values) {
  switch (values.kind) {
    case Candidates::Kind::kWords:
      return fmt::format(R"(COMPREPLY=($(compgen -W "{}" -- "$cur")))",
                         fmt::join(values.words, " "));
    case Candidates::Kind::kNames:
      return fmt::format("_mansard_names {}{}", values.list,
                         values.files_too ? "; _mansard_files" : "");
    case Candidates::Kind::kFiles:
      return "_mansard_files";
    case Candidates::Kind::kAnything:
      break;
  }
  return ":";
}

std::string option_values(const Command& command, const std::string& path) {
  std::string text;
  for (const Argument& option : command.options) {
    if (option.value.empty()) {
      continue;
    }
    std::vector<std::string> patterns;
    patterns.reserve(option.names.size());
    for (const std::string& name : option.names) {
      patterns.push_back(fmt::format("\"{} {}\"", path, name));
    }
    text += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"),
                        action(candidates(option)));
  }
  for (const Command& inner : command.commands) {
    text += option_values(inner, fmt::format("{} {}", path, inner.name));
  }
  return text;
}

std::string words(const Command& command, const std::string& path) {
  std::vector<std::string> options;
  for (const Argument& option : command.options) {
    options.insert(options.end(), option.names.begin(), option.names.end());
  }
  std::vector<std::string> names;
  names.reserve(command.commands.size());
  for (const Command& inner : command.commands) {
    names.push_back(inner.name);
  }
  std::string other = ":";
  if (!names.empty()) {
    other = action({.kind = Candidates::Kind::kWords, .words = names});
  } else if (!command.positionals.empty()) {
    other = action(candidates(command.positionals.front()));
  }
  std::string text = fmt::format("    \"{}\") options=\"{}\"; [[ $cur == -* ]] || {{ {}; }} ;;\n",
                                 path, fmt::join(options, " "), other);
  for (const Command& inner : command.commands) {
    text += words(inner, fmt::format("{} {}", path, inner.name));
  }
  return text;
}

}  // namespace

std::string bash_completion(const Command& program) {
  std::vector<std::string> paths;
  append_paths(program, program.name, paths);
  std::string text(kHead);
  text += fmt::format("      {}) path+=\" ${{COMP_WORDS[i]}}\" ;;\n    esac\n  done\n",
                      fmt::join(paths, "|"));
  text += "  case \"$path $prev\" in\n" + option_values(program, program.name) + "  esac\n";
  text += "  local options=\n  case \"$path\" in\n" + words(program, program.name) + "  esac\n";
  text += "  [[ $cur != -* ]] || COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n}\n";
  return text + "complete -F _mansard mansard\n";
}

}  // namespace mansard::cli
