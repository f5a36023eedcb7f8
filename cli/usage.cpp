#include "cli/usage.hpp"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "support/diagnostic.hpp"
#include "support/suggest.hpp"

namespace mansard::cli {
namespace {

/// The command that the user got to, and how it is called.
struct Place {
  const CLI::App* app;
  std::string name;
};

Place deepest(const CLI::App& app) {
  Place place{&app, app.get_name()};
  for (auto chosen = app.get_subcommands(); !chosen.empty();
       chosen = place.app->get_subcommands()) {
    place.app = chosen.front();
    place.name += " " + place.app->get_name();
  }
  return place;
}

Diagnostic unknown(const Place& place, const std::string& what, const std::string& word,
                   const std::vector<std::string>& candidates) {
  const auto meant = did_you_mean(word, candidates);
  return {.id = "usage",
          .message = fmt::format("{}: there is no {} '{}'", place.name, what, word),
          .label = meant ? fmt::format("did you mean '{}'?", *meant) : ""};
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names;
  for (const Argument& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> command_names(const Command& command) {
  std::vector<std::string> names;
  names.reserve(command.commands.size());
  for (const Command& inner : command.commands) {
    names.push_back(inner.name);
  }
  return names;
}

/// What a word that nothing took shows the user to have meant, if it shows anything.
std::vector<Diagnostic> leftover(const Place& place) {
  const Command command = describe(*place.app);
  const auto words = place.app->remaining();
  const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
  const auto option = std::ranges::find_if(words, is_option);
  if (option != words.end()) {
    return {unknown(place, "option", option->substr(0, option->find('=')), option_names(command))};
  }
  if (words.empty()) {
    return {};
  }
  if (!command.commands.empty()) {
    return {unknown(place, "command", words.front(), command_names(command))};
  }
  return {{.id = "usage",
           .message = fmt::format("{}: '{}' was not expected", place.name, words.front())}};
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const Place place = deepest(app);
  auto diagnostics = leftover(place);
  if (diagnostics.empty()) {
    diagnostics.push_back(
        {.id = "usage", .message = fmt::format("{}: {}", place.name, error.what())});
  }
  return render(diagnostics) + fmt::format("see: {} --help\n", place.name);
}

}  // namespace mansard::cli
