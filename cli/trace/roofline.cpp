#include <memory>

#include <CLI/CLI.hpp>

#include "cli/files.hpp"
#include "cli/trace/open_trace.hpp"
#include "cli/trace/roofline_report.hpp"
#include "cli/trace/trace.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::string dataset;
  std::string compare;
  MachineOptions machine;
  std::string compare_machine;
  TraceModel model;
  std::string plot;
  std::string instruction_plot;
  std::size_t rows = 25;
  bool each = false;
  Format format = Format::kTable;
};

Result<RooflineReport> report_of(const std::string& dataset, const MachineOptions& machine,
                                 const TraceModel& model) {
  const auto trace = open_trace(dataset);
  if (!trace) {
    return failure(trace.error());
  }
  return roofline_report(**trace, machine, model);
}

Outcome compare(const RooflineReport& first, const Options& options) {
  MachineOptions machine = options.machine;
  machine.machines.clear();
  if (!options.compare_machine.empty()) {
    machine.machines = {options.compare_machine};
  }
  const auto second = report_of(options.compare, machine, options.model);
  return second ? Outcome{.out = roofline_comparison(first, *second, options.rows, options.format)}
                : failed(second.error());
}

Outcome show(const Options& options) {
  const auto report = report_of(options.dataset, options.machine, options.model);
  if (!report) {
    return failed(report.error());
  }
  if (!options.compare.empty()) {
    return compare(*report, options);
  }
  struct Plot {
    const char* option;
    const std::string& file;
    RooflinePlot kind;
  };
  for (const Plot& plot :
       {Plot{"--plot", options.plot, RooflinePlot::kFlops},
        Plot{"--plot-instructions", options.instruction_plot, RooflinePlot::kInstructions}}) {
    if (plot.file.empty()) {
      continue;
    }
    const auto written = write_file(plot.option, plot.file, roofline_svg(*report, plot.kind));
    if (!written) {
      return failed(written.error());
    }
  }
  switch (options.format) {
    case Format::kJson:
      return {.out = roofline_json(*report)};
    case Format::kCsv:
      return {.out = roofline_csv(*report, options.each)};
    case Format::kTable:
      break;
  }
  return {.out = roofline_table(*report, options.rows, options.each)};
}

}  // namespace

Run add_trace_roofline(CLI::App& verb) {
  CLI::App* command = verb.add_subcommand(
      "roofline", "Which ceiling binds each kernel, and what it would save at that ceiling");
  command->footer(
      R"(Work is that of counters where the dataset has any, else that of the ops of MODEL at the workload given,
else of the shapes that the trace recorded. The machine is the one that the trace names, or --machine.
Examples:
  mansard trace roofline counters.db --each --plot heat.svg --plot-instructions instructions.svg
  mansard trace roofline step.db llama3-8b --batch 1 --context 2048
  mansard trace roofline a100.db --compare h100.db)");
  auto options = std::make_shared<Options>();
  command
      ->add_option("DB", options->dataset,
                   "A dataset of mansard trace import, or a profiler's file")
      ->required();
  add_trace_model_options(*command, options->model);
  add_machine_options(*command, options->machine);
  command->get_option("--machine")->required(false);
  command->add_option("--rows", options->rows, "Rows of the table")->type_name("N");
  command->add_flag("--each", options->each, "One row for each kernel, not for each name and op");
  command
      ->add_option("--compare", options->compare,
                   "Set another dataset of the same workload beside it: speed-up per kernel and op")
      ->type_name("DB");
  command
      ->add_option("--compare-machine", options->compare_machine,
                   "The machine of that dataset; else the one it names")
      ->type_name("M");
  command
      ->add_option("--plot", options->plot,
                   "Also draw the time as a heat map over the roofline (SVG)")
      ->type_name("FILE");
  command
      ->add_option("--plot-instructions", options->instruction_plot,
                   "Likewise over the instruction roofline")
      ->type_name("FILE");
  add_format_option(*command, options->format);
  return [options] { return show(*options); };
}

}  // namespace mansard::cli
