#include "cli/completion/completion.hpp"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/validators.hpp"
#include "cli/verb.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::string shell;
  std::string list;
};

Outcome completion(const Options& options) {
  if (!options.list.empty()) {
    return {.out = fmt::format("{}\n", fmt::join(names_in(options.list), "\n"))};
  }
  CLI::App app;
  std::vector<std::pair<CLI::App*, Run>> verbs;
  build_app(app, verbs);
  const Command program = describe(app);
  if (options.shell == "zsh") {
    return {.out = zsh_completion(program)};
  }
  return {.out = options.shell == "fish" ? fish_completion(program) : bash_completion(program)};
}

}  // namespace

Run add_completion(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("completion", "A completion script for a shell");
  verb->footer(R"(Examples:
  mansard completion bash > ~/.local/share/bash-completion/completions/mansard
  mansard completion zsh > "${fpath[1]}/_mansard"
  mansard completion fish > ~/.config/fish/completions/mansard.fish)");
  auto options = std::make_shared<Options>();
  verb->add_option("SHELL", options->shell, "The shell")->check(one_of({"bash", "zsh", "fish"}));
  verb->add_option("--list", options->list, "Only the names that scripts ask for")
      ->check(one_of(name_lists()))
      ->type_name("WORD");
  verb->require_option(1);
  return [options] { return completion(*options); };
}

}  // namespace mansard::cli
