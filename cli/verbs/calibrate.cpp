#include "validate/calibrate.hpp"

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/files.hpp"
#include "cli/measurements.hpp"
#include "cli/options.hpp"
#include "cli/verb.hpp"
#include "cli/views/calibration.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  MachineOptions machine;
  std::vector<std::string> models;
  std::vector<std::string> apart;
  std::vector<std::string> only;
  bool keep = false;
  std::string out;
  std::size_t folds = 5;
};

Outcome calibrate_files(const Options& options) {
  auto rows = read_measurement_files(options.files);
  if (!rows) {
    return failed(rows.error());
  }
  auto apart = read_measurement_files(options.apart);
  if (!apart) {
    return failed(apart.error());
  }
  auto machine = load(options.machine.machines.front(), options.machine);
  if (!machine) {
    return failed(machine.error());
  }
  auto start = load_calibration(*machine, options.machine);
  if (!start) {
    return failed(start.error());
  }
  auto fits = validate::calibrate(*rows, *machine, *start,
                                  {.validate = {.regime = cost_options(options.machine).regime,
                                                .implementation = options.machine.implementation,
                                                .models = step_models(options.models)},
                                   .folds = options.folds,
                                   .keep = options.keep,
                                   .only = options.only,
                                   .apart = std::move(*apart)});
  if (!fits) {
    return failed(fits.error());
  }
  const std::string text = validate::print_calibration(machine->name, *fits);
  if (auto written = write_file("--output", options.out, text); !written) {
    return failed(written.error());
  }
  return {.out = calibration_table(*fits)};
}

}  // namespace

Run add_calibrate(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("calibrate", "Fit the estimate's parameters to measurements");
  auto options = std::make_shared<Options>();
  verb->add_option("measurements", options->files, "Measurement files (CSV)")->required();
  add_machine_options(*verb, options->machine);
  verb->add_option("--output,-o", options->out, "The calibration to write (YAML)")->required();
  verb->add_option("--model", options->models, "NAME=config.json of a step's model")->take_all();
  verb->add_option("--apart", options->apart,
                   "Measurement files of other campaigns: no fit sees them, the intervals do")
      ->take_all();
  verb->add_option("--only", options->only,
                   "Fit only parameters whose paths begin so: matmul.tf32.")
      ->delimiter(',');
  verb->add_flag("--keep", options->keep,
                 "Keep the parameters; only errors and intervals are of these rows");
  verb->add_option("--folds", options->folds, "Parts of the cross-validation by shape")
      ->check(CLI::Range(std::size_t{2}, std::size_t{20}))
      ->capture_default_str();
  return [options] { return calibrate_files(*options); };
}

}  // namespace mansard::cli
