#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/help.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "support/version.hpp"

namespace mansard::cli {
namespace {

constexpr const char* kDescription =
    "What work costs on a machine, from first principles: bound, estimate, memory, dollars.";

constexpr const char* kFooter = R"(Examples:
  mansard predict llama3-8b --machine h200-sxm --batch 16
  mansard predict llama3-8b -m h200-sxm --set hbm.bandwidth='8 TB/s' --explain
  mansard predict llama3-70b -m h100-sxm,b200-sxm --tp 4 --weights fp8
  mansard machines compare v100-sxm2 a100-sxm-80gb h100-sxm b200-sxm
Each command has its own --help. Exit codes: 0 ok, 1 bad input, 2 usage, 3 a tolerance was exceeded.)";

void name_groups(CLI::App& command) {
  command.group("Commands");
  for (CLI::App* inner : command.get_subcommands({})) {
    name_groups(*inner);
  }
}

}  // namespace

Outcome failed(const Diagnostics& diagnostics) {
  return {.err = render(diagnostics), .exit_code = kBadInput};
}

void build_app(CLI::App& app, std::vector<std::pair<CLI::App*, Run>>& verbs) {
  app.description(kDescription);
  app.name("mansard");
  app.formatter(help_formatter());  // subcommands inherit it, and the wording of --help
  app.set_help_flag("--help,-h", "Show this text");
  app.set_version_flag("--version", fmt::format("mansard {}", kVersion), "Show the version");
  app.require_subcommand(1);
  app.footer(kFooter);
  const auto add = [&](Run run) {
    verbs.emplace_back(app.get_subcommands({}).back(), std::move(run));
  };
#define VERB(name) add(add_##name(app));
#include "cli/verbs.def"
#undef VERB
  for (CLI::App* verb : app.get_subcommands({})) {
    name_groups(*verb);
  }
}

Outcome run(int argc, const char* const* argv) {
  CLI::App app;
  std::vector<std::pair<CLI::App*, Run>> verbs;
  build_app(app, verbs);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      return {.err = usage_error(app, error), .exit_code = kUsage};
    }
    std::ostringstream out;
    app.exit(error, out, out);  // --help and --version
    return {.out = out.str()};
  }
  for (const auto& [verb, act] : verbs) {
    if (verb->parsed()) {
      return act();
    }
  }
  return {.err = app.help(), .exit_code = kUsage};
}

}  // namespace mansard::cli
