#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/completion.hpp"

namespace mansard::cli {
namespace {

constexpr std::string_view kHead = R"sh(#compdef mansard
# zsh completion of mansard, written by: mansard completion zsh
_mansard_names() {
  local -a names=(${(f)"$($words_program completion --list $1 2>/dev/null)"})
  if [[ $2 == , ]]; then _sequence compadd - $names; else compadd - $names; fi
}
)sh";

/// Text within single quotes of an `_arguments` specification.
std::string spec_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "";
      result += c;
    }
  }
  return result;
}

std::string action(const Candidates& values) {
  switch (values.kind) {
    case Candidates::Kind::kWords:
      return fmt::format("({})", fmt::join(values.words, " "));
    case Candidates::Kind::kNames: {
      const std::string names =
          fmt::format("_mansard_names {}{}", values.list, values.commas ? " ," : "");
      return values.files_too ? fmt::format("{{ {} || _files }}", names) : names;
    }
    case Candidates::Kind::kFiles:
      return "_files";
    case Candidates::Kind::kAnything:
      break;
  }
  return " ";
}

std::string option_spec(const Argument& option) {
  const std::string value =
      option.value.empty() ? "" : fmt::format(":{}:{}", option.value, action(candidates(option)));
  const std::string excluded =
      option.repeats ? "*" : fmt::format("({})", fmt::join(option.names, " "));
  std::string text;
  for (const std::string& name : option.names) {
    text +=
        fmt::format(" \\\n    '{}{}[{}]{}'", excluded, name, spec_text(option.description), value);
  }
  return text;
}

std::string specs(const Command& command) {
  std::string text;
  for (const Argument& option : command.options) {
    text += option_spec(option);
  }
  std::size_t place = 0;
  for (const Argument& argument : command.positionals) {
    const std::string position = argument.repeats ? "*" : std::to_string(++place);
    text +=
        fmt::format(" \\\n    '{}:{}:{}'", position, argument.value, action(candidates(argument)));
  }
  return text;
}

std::string function_name(const std::string& path) {
  std::string name = "_" + path;
  for (char& c : name) {
    c = c == ' ' || c == '-' ? '_' : c;
  }
  return name;
}

std::string function(const Command& command, const std::string& path) {
  std::string text;
  for (const Command& inner : command.commands) {
    text += function(inner, fmt::format("{} {}", path, inner.name));
  }
  if (command.commands.empty()) {
    return text +
           fmt::format("{}() {{\n  _arguments -s{}\n}}\n", function_name(path), specs(command));
  }
  std::string listed;
  std::string cases;
  for (const Command& inner : command.commands) {
    listed += fmt::format(" \\\n        '{}:{}'", inner.name, spec_text(inner.description));
    cases += fmt::format("        {}) {} ;;\n", inner.name,
                         function_name(fmt::format("{} {}", path, inner.name)));
  }
  return text + fmt::format(R"({}() {{
  local curcontext=$curcontext state line
  _arguments -C{} \
    '1: :->command' '*:: :->rest'
  case $state in
    command)
      local -a commands=({})
      _describe command commands ;;
    rest)
      case $line[1] in
{}      esac ;;
  esac
}}
)",
                            function_name(path), specs(command), listed, cases);
}

}  // namespace

std::string zsh_completion(const Command& program) {
  std::string text(kHead);
  text += function(program, program.name);
  return text + R"(words_program=${words[1]:-mansard}
if [[ $funcstack[1] == _mansard ]]; then _mansard "$@"; else compdef _mansard mansard; fi
)";
}

}  // namespace mansard::cli
