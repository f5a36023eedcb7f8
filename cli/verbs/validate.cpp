#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <map>
#include <memory>

#include "cli/options.hpp"
#include "cli/verb.hpp"
#include "cli/views/validation.hpp"
#include "support/units.hpp"
#include "validate/compare.hpp"
#include "validate/measurements.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  MachineOptions machine;
  std::vector<std::string> models;  ///< "NAME=config.json"
  Format format = Format::kTable;
  std::optional<double> tolerance;  ///< Largest mean error of any class, per cent.
};

Result<std::vector<ir::Measurement>> read_all(const std::vector<std::string>& paths) {
  std::vector<ir::Measurement> rows;
  Diagnostics errors;
  for (const std::string& path : paths) {
    auto read = read_file(path).and_then(
        [](std::shared_ptr<const SourceFile> file) { return validate::read_measurements(file); });
    if (read) {
      std::move(read->begin(), read->end(), std::back_inserter(rows));
    } else {
      errors.insert(errors.end(), read.error().begin(), read.error().end());
    }
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  return rows;
}

/// Models of steps: built-in by name, unless `--model NAME=FILE` gives another.
validate::ModelSource model_source(const std::vector<std::string>& given) {
  std::map<std::string, std::string> paths;
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    paths[text.substr(0, equals)] = equals == std::string::npos ? text : text.substr(equals + 1);
  }
  return [paths](const std::string& model, const std::string& phase) {
    const auto found = paths.find(model);
    return frontend::import_model(
        found == paths.end() ? model : found->second,
        phase == "prefill" ? frontend::Phase::kPrefill : frontend::Phase::kDecode);
  };
}

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
      outcome.out = validation_table(report);
      break;
  }
  if (options.tolerance && exceeded(report, *options.tolerance)) {
    outcome.exit_code = kToleranceExceeded;
  }
  return outcome;
}

Outcome validate_files(const Options& options) {
  auto rows = read_all(options.files);
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
  auto report = validate::compare(*rows, *machine, *calibration,
                                  {.regime = cost_options(options.machine).regime,
                                   .implementation = options.machine.implementation,
                                   .models = model_source(options.models)});
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
  verb->add_option("--tolerance", options->tolerance,
                   "Exit with 3 if the mean error of a class exceeds this many per cent");
  return [options] { return validate_files(*options); };
}

}  // namespace mansard::cli
