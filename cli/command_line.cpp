#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>

namespace mansard::cli {
namespace {

/// "{decode,prefill}" in the name of a type, as validators of listed values write it.
std::vector<std::string> choices_in(const std::string& type_name) {
  const std::size_t open = type_name.find('{');
  const std::size_t close = type_name.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) {
    return {};
  }
  return CLI::detail::split(type_name.substr(open + 1, close - open - 1), ',');
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  return names;
}

std::string value_of(const CLI::Option& option) {
  if (option.get_positional()) {
    return option.get_name(true);
  }
  const std::string type = option.get_type_name();
  return option.get_type_size() == 0 ? "" : type.substr(0, type.find(':'));
}

}  // namespace

Argument describe(const CLI::Option& option) {
  return {.names = names_of(option),
          .value = value_of(option),
          .choices = choices_in(option.get_type_name()),
          .description = option.get_description(),
          .otherwise = option.get_default_str(),
          .required = option.get_required(),
          .repeats = option.get_expected_max() > 1,
          .commas = option.get_delimiter() == ','};
}

Command describe(const CLI::App& app) {
  Command result{.name = app.get_name(), .description = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? result.positionals : result.options).push_back(describe(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    result.commands.push_back(describe(*command));
  }
  return result;
}

}  // namespace mansard::cli
