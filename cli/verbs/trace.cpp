#include "cli/trace/trace.hpp"

#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace mansard::cli {

Run add_trace(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "trace", "Profiler traces: import, show, query, bound by what, on another machine");
  verb->require_subcommand(1);
  verb->footer(R"(Examples:
  mansard trace import step.pt.trace.json.gz -o step.db
  mansard trace show step.db
  mansard trace query step.db 'SELECT * FROM time_by_kernel LIMIT 10')");
  std::vector<std::pair<CLI::App*, Run>> commands;
  const auto keep = [&](Run run) {
    commands.emplace_back(verb->get_subcommands({}).back(), std::move(run));
  };
#define COMMAND(name) keep(add_trace_##name(*verb));
#include "cli/trace/commands.def"
#undef COMMAND
  return [commands] {
    for (const auto& [command, run] : commands) {
      if (command->parsed()) {
        return run();
      }
    }
    return Outcome{.exit_code = kUsage};
  };
}

}  // namespace mansard::cli
