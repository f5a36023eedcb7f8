#include "cli/help.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_line.hpp"
#include "cli/views/text_table.hpp"

namespace mansard::cli {
namespace {

constexpr std::size_t kNames = 30;  ///< Columns of the names of an option.

std::string value_text(const Argument& argument) {
  return argument.choices.empty() ? argument.value
                                  : fmt::format("{}", fmt::join(argument.choices, "|"));
}

/// "--batch, -b N", "MODEL", "MACHINE...".
std::string names_text(const Argument& argument) {
  if (argument.names.empty()) {
    return argument.value + (argument.repeats ? "..." : "");
  }
  const std::string value = value_text(argument);
  return fmt::format("{}{}{}", fmt::join(argument.names, ", "), value.empty() ? "" : " ", value);
}

std::string description_text(const Argument& argument) {
  std::string text = argument.description;
  if (argument.names.empty() && !argument.choices.empty()) {
    text += fmt::format(": {}", fmt::join(argument.choices, ", "));
  }
  if (argument.required && !argument.names.empty()) {
    text += " (required)";
  } else if (!argument.otherwise.empty()) {
    text += fmt::format(" (default: {})", argument.otherwise);
  }
  return text;
}

std::string entry(const std::string& names, const std::string& description) {
  const std::string indent(kNames, ' ');
  std::string line = "  " + names;
  if (line.size() + 2 > kNames && !description.empty()) {
    line += "\n" + indent;
  } else {
    line.resize(kNames, ' ');
  }
  line += paragraph(description, kNames);
  return line.substr(0, line.find_last_not_of(" \n") + 1) + "\n";
}

class Formatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool /*positional*/) const override {
    const Argument argument = describe(*option);
    return entry(names_text(argument), description_text(argument));
  }

  std::string make_description(const CLI::App* app) const override {
    return paragraph(app->get_description()) + "\n";
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (auto gap = text.find("\n\n\n"); gap != std::string::npos; gap = text.find("\n\n\n")) {
      text.erase(gap, 1);
    }
    return text;
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    const Command command = describe(*app);
    std::string text = fmt::format("Usage: {}", name);
    for (const Argument& argument : command.positionals) {
      const std::string names = names_text(argument);
      text += argument.required ? " " + names : fmt::format(" [{}]", names);
    }
    if (!command.commands.empty()) {
      text += app->get_require_subcommand_min() > 0 ? " COMMAND" : " [COMMAND]";
    }
    for (const Argument& argument : command.options) {
      if (argument.required) {
        text += fmt::format(" {} {}", argument.names.front(), value_text(argument));
      }
    }
    return text + " [OPTION]...\n";
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  auto formatter = std::make_shared<Formatter>();
  formatter->label("Positionals", "Arguments");
  return formatter;
}

}  // namespace mansard::cli
