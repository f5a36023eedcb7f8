#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/measurements.hpp"
#include "cli/options.hpp"
#include "cli/trace/trace_rows.hpp"
#include "cli/validators.hpp"
#include "cli/verb.hpp"
#include "cli/views/counts.hpp"
#include "cli/views/plot/scatter.hpp"
#include "cli/views/validation.hpp"
#include "support/document.hpp"
#include "traces/dataset/schema.hpp"
#include "validate/accuracy.hpp"
#include "validate/compare.hpp"
#include "validate/counts.hpp"
#include "validate/tolerance.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  MachineOptions machine;
  std::vector<std::string> models;  ///< "NAME=config.json"
  TraceModel trace;  ///< Of datasets among the files; its model is the first of `models`.
  Format format = Format::kTable;
  bool summary = false;
  std::vector<std::string> tolerances;  ///< "7", "matmul/bf16=7"
  bool accuracy = false;
  std::string limits;  ///< A file of limits of the accuracy table's lines.
  std::string plot;
  std::string counts;
};

/// What the rows are held against.
struct Model {
  hardware::Machine machine;
  model::Calibration calibration;
  validate::ValidateOptions options;
};

Result<Model> model_of(const Options& options, const std::string& name) {
  auto machine = load(name, options.machine);
  if (!machine) {
    return failure(std::move(machine.error()));
  }
  auto calibration = load_calibration(*machine, options.machine);
  if (!calibration) {
    return failure(std::move(calibration.error()));
  }
  if (options.machine.calibration.empty() && !options.machine.no_calibration) {
    if (auto recorded = calibration->add_recorded_rows(); !recorded) {
      return failure(std::move(recorded.error()));
    }
  }
  return Model{std::move(*machine),
               std::move(*calibration),
               {.regime = cost_options(options.machine).regime,
                .implementation = options.machine.implementation,
                .models = step_models(options.models)}};
}

std::string text_of(const validate::Report& report, const Options& options) {
  switch (options.format) {
    case Format::kJson:
      return validation_json(report);
    case Format::kCsv:
      return validation_csv(report);
    case Format::kTable:
      break;
  }
  return validation_table(report, options.summary);
}

/// On standard error, whatever the format: the classes beyond their tolerance.
std::string excess_text(const std::vector<validate::Excess>& excesses) {
  std::string text;
  for (const validate::Excess& one : excesses) {
    const validate::ClassReport& report = *one.report;
    text += fmt::format("exceeded: {} {}{}{} {} {}: mean error {:.1f} %, tolerance {}\n", report.op,
                        report.dtype, report.phase.empty() ? "" : " ", report.phase,
                        report.implementation, report.mode, 100 * report.errors.mape,
                        one.tolerance->text);
  }
  return text;
}

Result<std::vector<validate::Tolerance>> tolerances_of(const Options& options) {
  std::vector<validate::Tolerance> result;
  for (const std::string& text : options.tolerances) {
    auto tolerance = validate::parse_tolerance(text);
    if (!tolerance) {
      return failure(std::move(tolerance.error()));
    }
    result.push_back(std::move(*tolerance));
  }
  return result;
}

Result<Outcome> judge(const validate::Report& report,
                      const std::vector<validate::Tolerance>& tolerances, const Options& options) {
  const auto excesses = validate::excesses(report, tolerances);
  if (!excesses) {
    return failure(excesses.error());
  }
  if (!options.plot.empty()) {
    if (auto written = write_file("--plot", options.plot, scatter_svg(scatter(report))); !written) {
      return failure(std::move(written.error()));
    }
  }
  return Outcome{.out = text_of(report, options),
                 .err = excess_text(*excesses),
                 .exit_code = excesses->empty() ? kOk : kToleranceExceeded};
}

Result<Outcome> validate_times(const std::vector<ir::Measurement>& rows, const Options& options) {
  const auto tolerances = tolerances_of(options);
  if (!tolerances) {
    return failure(tolerances.error());
  }
  const auto model = model_of(options, options.machine.machines.front());
  if (!model) {
    return failure(model.error());
  }
  const auto report = validate::compare(rows, model->machine, model->calibration, model->options);
  return report ? judge(*report, *tolerances, options) : Result<Outcome>(failure(report.error()));
}

Result<Outcome> validate_counts(const std::vector<ir::Measurement>& rows, const Options& options) {
  const auto counted = read_file(options.counts).and_then(validate::read_counters);
  if (!counted) {
    return failure(counted.error());
  }
  const auto model = model_of(options, options.machine.machines.front());
  if (!model) {
    return failure(model.error());
  }
  const auto classes =
      validate::compare_counts(rows, *counted, model->machine, model->calibration, model->options);
  if (!classes) {
    return failure(classes.error());
  }
  const std::string& machine = model->machine.name;
  switch (options.format) {
    case Format::kJson:
      return Outcome{.out = counts_json(machine, *classes)};
    case Format::kCsv:
      return Outcome{.out = counts_csv(*classes)};
    case Format::kTable:
      break;
  }
  return Outcome{.out = counts_table(machine, *classes)};
}

/// Rows of measurement files, and of profiler traces among the files.
Result<std::vector<ir::Measurement>> read_rows(const Options& options) {
  std::vector<std::string> tables;
  std::vector<ir::Measurement> traced;
  TraceModel model = options.trace;
  if (!options.models.empty()) {
    const std::string& first = options.models.front();
    model.model.model = first.substr(first.find('=') + 1);
  }
  for (const std::string& file : options.files) {
    if (!traces::is_dataset(file)) {
      tables.push_back(file);
      continue;
    }
    const auto machine = load(options.machine.machines.front(), options.machine);
    if (!machine) {
      return failure(machine.error());
    }
    auto rows = trace_measurements(file, model, *machine);
    if (!rows) {
      return rows;
    }
    traced.insert(traced.end(), rows->begin(), rows->end());
  }
  auto rows = read_measurement_files(tables);
  if (rows) {
    rows->insert(rows->end(), traced.begin(), traced.end());
  }
  return rows;
}

Result<std::vector<validate::AccuracyLimit>> limits_of(const Options& options) {
  if (options.limits.empty()) {
    return std::vector<validate::AccuracyLimit>();
  }
  return read_document(options.limits).and_then([](const Node& document) {
    return validate::read_limits(document);
  });
}

/// The accuracy table of all the machines; exit code 3 if a line exceeds its limit.
Result<Outcome> show_accuracy(const std::vector<ir::Measurement>& rows, const Options& options) {
  const auto limits = limits_of(options);
  if (!limits) {
    return failure(limits.error());
  }
  std::vector<validate::AccuracyLine> lines;
  for (const std::string& name : options.machine.machines) {
    const auto model = model_of(options, name);
    if (!model) {
      return failure(model.error());
    }
    const auto report = validate::compare(rows, model->machine, model->calibration, model->options);
    if (!report) {
      return failure(report.error());
    }
    const auto more = validate::accuracy(*report, model->machine);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  Outcome outcome{.out = accuracy_markdown(lines)};
  for (const std::string& sentence : validate::exceeded(lines, *limits)) {
    outcome.err += sentence + "\n";
    outcome.exit_code = kToleranceExceeded;
  }
  return outcome;
}

Outcome validate_files(const Options& options) {
  const auto rows = read_rows(options);
  if (!rows) {
    return failed(rows.error());
  }
  if (options.accuracy || !options.limits.empty()) {
    auto table = show_accuracy(*rows, options);
    return table ? std::move(*table) : failed(table.error());
  }
  auto outcome =
      options.counts.empty() ? validate_times(*rows, options) : validate_counts(*rows, options);
  return outcome ? std::move(*outcome) : failed(outcome.error());
}

}  // namespace

Run add_validate(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("validate", "Prediction beside measurement");
  auto options = std::make_shared<Options>();
  verb->add_option("measurements", options->files,
                   "Measurement files (CSV), datasets of mansard trace")
      ->required();
  add_machine_options(*verb, options->machine);
  add_format_option(*verb, options->format);
  verb->add_option("--model", options->models, "NAME=config.json of a step's model")->take_all();
  verb->add_option("--batch", options->trace.model.batch, "Of a trace: sequences in its step")
      ->type_name("N")
      ->check(at_least(1));
  verb->add_option("--context", options->trace.model.context, "Of a trace: tokens attended")
      ->type_name("N")
      ->check(at_least(1));
  verb->add_option("--phase", options->trace.model.phase, "Of a trace: decode or prefill")
      ->type_name("WORD")
      ->check(one_of({"decode", "prefill"}));
  verb->add_flag("--summary", options->summary, "Only the table of classes");
  verb->add_flag("--accuracy", options->accuracy,
                 "The accuracy table in Markdown: a line a kind of op and machine");
  verb->add_option("--limits", options->limits,
                   "The accuracy table; exit with 3 if a line exceeds its limit in this YAML file");
  verb->add_option("--tolerance", options->tolerances,
                   "Exit with 3 if the mean error of a class exceeds this many per cent; "
                   "CLASS: words as matmul/bf16 or attention/decode/cudnn, the most words count")
      ->type_name("[CLASS=]PERCENT");
  verb->add_option("--plot", options->plot,
                   "Also draw estimate against measurement as SVG, a panel an op class")
      ->type_name("FILE");
  verb->add_option("--counts", options->counts,
                   "Compare FLOP and DRAM bytes instead of times: the raw page (CSV) that Nsight "
                   "Compute took of mansard-measure suite --profile")
      ->type_name("FILE");
  return [options] { return validate_files(*options); };
}

}  // namespace mansard::cli
