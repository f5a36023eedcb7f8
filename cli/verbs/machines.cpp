#include "cli/views/machines.hpp"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/verb.hpp"

namespace mansard::cli {
namespace {

struct Options {
  MachineOptions machine;
  std::vector<std::string> files;
  Format format = Format::kTable;
};

Outcome list(Options& options) {
  options.machine.machines = hardware::machine_names();
  const auto machines = load_all(options.machine);
  return machines ? Outcome{.out = machine_list(*machines, options.format)}
                  : failed(machines.error());
}

Outcome show(const Options& options) {
  const auto machine = load(options.machine.machines.front(), options.machine);
  return machine ? Outcome{.out = machine_sheet(*machine, options.format)}
                 : failed(machine.error());
}

Outcome compare(const Options& options) {
  const auto machines = load_all(options.machine);
  return machines ? Outcome{.out = machine_comparison(*machines, options.format)}
                  : failed(machines.error());
}

/// A path, even where it could also be the name of a machine.
std::string as_path(const std::string& file) {
  return file.find('/') != std::string::npos || file.ends_with(".yaml") ? file : "./" + file;
}

Outcome check(const Options& options) {
  Outcome outcome;
  for (const std::string& file : options.files) {
    const auto machine = hardware::load_machine(as_path(file));
    if (!machine) {
      outcome.err += render(machine.error());
      outcome.exit_code = kBadInput;
      continue;
    }
    std::size_t unknown = 0;
    for (const hardware::Field& field : machine->fields()) {
      unknown += machine->known(field.path) ? 0 : 1;
    }
    outcome.out += fmt::format("{}: ok: {}, {} figures, {} of them not known\n", file,
                               machine->name, machine->fields().size(), unknown);
  }
  return outcome;
}

CLI::App* add_command(CLI::App& verb, const char* name, const char* description,
                      const char* example) {
  CLI::App* command = verb.add_subcommand(name, description);
  command->footer(fmt::format("Example:\n  mansard machines {}", example));
  return command;
}

}  // namespace

Run add_machines(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("machines", "What machines offer: list, show, check, compare");
  verb->require_subcommand(0, 1);
  verb->footer(R"(Examples:
  mansard machines
  mansard machines show h200-sxm --set sm_count=160
  mansard machines compare v100-sxm2 a100-sxm-80gb h100-sxm b200-sxm
  mansard machines check chips/next.yaml)");
  auto options = std::make_shared<Options>();
  add_format_option(*verb, options->format);

  CLI::App* list_command =
      add_command(*verb, "list", "One line a machine (the default)", "list --format csv");
  add_format_option(*list_command, options->format);

  CLI::App* show_command =
      add_command(*verb, "show", "Every figure of a machine, with unit, kind, source and note",
                  "show h200-sxm --set hbm.bandwidth='8 TB/s'");
  show_command->add_option("MACHINE", options->machine.machines, "A name or a YAML file")
      ->required()
      ->expected(1);
  add_change_options(*show_command, options->machine);
  add_format_option(*show_command, options->format);

  CLI::App* check_command = add_command(
      *verb, "check", "Checks machine files; prints what is wrong where", "check chips/next.yaml");
  check_command->add_option("FILE", options->files, "Machine files")->required();

  CLI::App* compare_command = add_command(
      *verb, "compare", "Dense rates, bandwidths and the balance between them, side by side",
      "compare v100-sxm2 a100-sxm-80gb h100-sxm b200-sxm");
  compare_command->add_option("MACHINE", options->machine.machines, "Names or YAML files")
      ->required();
  add_change_options(*compare_command, options->machine);
  add_format_option(*compare_command, options->format);

  return [=] {
    if (show_command->parsed()) {
      return show(*options);
    }
    if (check_command->parsed()) {
      return check(*options);
    }
    return compare_command->parsed() ? compare(*options) : list(*options);
  };
}

}  // namespace mansard::cli
