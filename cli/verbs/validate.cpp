#include <memory>

#include <CLI/CLI.hpp>

#include "cli/measurements.hpp"
#include "cli/options.hpp"
#include "cli/verb.hpp"
#include "cli/views/validation.hpp"
#include "validate/compare.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  MachineOptions machine;
  std::vector<std::string> models;  ///< "NAME=config.json"
  Format format = Format::kTable;
  bool summary = false;
  std::optional<double> tolerance;  ///< Largest mean error of any class, per cent.
};

bool exceeded(const validate::Report& report, double tolerance) {
  for (const validate::ClassReport& c : report.classes) {
    if (c.rows > 0 && 100 * c.errors.mape > tolerance) {
      return true;
    }
  }
  return false;
}

Outcome show(const validate::Report& report, const Options& options) {
  Outcome outcome;
  switch (options.format) {
    case Format::kJson:
      outcome.out = validation_json(report);
      break;
    case Format::kCsv:
      outcome.out = validation_csv(report);
      break;
    case Format::kTable:
      outcome.out = validation_table(report, options.summary);
      break;
  }
  if (options.tolerance && exceeded(report, *options.tolerance)) {
    outcome.exit_code = kToleranceExceeded;
  }
  return outcome;
}

Outcome validate_files(const Options& options) {
  auto rows = read_measurement_files(options.files);
  if (!rows) {
    return failed(rows.error());
  }
  auto machine = load(options.machine.machines.front(), options.machine);
  if (!machine) {
    return failed(machine.error());
  }
  auto calibration = load_calibration(*machine, options.machine);
  if (!calibration) {
    return failed(calibration.error());
  }
  if (options.machine.calibration.empty() && !options.machine.no_calibration) {
    if (auto recorded = calibration->add_recorded_rows(); !recorded) {
      return failed(recorded.error());
    }
  }
  auto report = validate::compare(*rows, *machine, *calibration,
                                  {.regime = cost_options(options.machine).regime,
                                   .implementation = options.machine.implementation,
                                   .models = step_models(options.models)});
  return report ? show(*report, options) : failed(report.error());
}

}  // namespace

Run add_validate(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("validate", "Prediction beside measurement");
  auto options = std::make_shared<Options>();
  verb->add_option("measurements", options->files, "Measurement files (CSV)")->required();
  add_machine_options(*verb, options->machine);
  add_format_option(*verb, options->format);
  verb->add_option("--model", options->models, "NAME=config.json of a step's model")->take_all();
  verb->add_flag("--summary", options->summary, "Only the table of classes");
  verb->add_option("--tolerance", options->tolerance,
                   "Exit with 3 if the mean error of a class exceeds this many per cent");
  return [options] { return validate_files(*options); };
}

}  // namespace mansard::cli
