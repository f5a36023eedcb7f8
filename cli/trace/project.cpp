#include <memory>

#include <CLI/CLI.hpp>

#include "cli/files.hpp"
#include "cli/trace/open_trace.hpp"
#include "cli/trace/projection.hpp"
#include "cli/trace/trace.hpp"
#include "traces/dataset/chrome.hpp"
#include "traces/dataset/timeline.hpp"

namespace mansard::cli {
namespace {

Outcome run_project(const ProjectOptions& options) {
  if (!options.measurements.empty()) {
    return check_projection(options);
  }
  if (options.dataset.empty()) {
    return failed(
        {Diagnostic{.id = "trace-dataset", .message = "expected a dataset, or --measurements"}});
  }
  auto database = open_trace(options.dataset);
  if (!database) {
    return failed(database.error());
  }
  const auto timeline = traces::read_timeline(**database);
  if (!timeline) {
    return failed(timeline.error());
  }
  const auto projection = project(*timeline, options);
  if (!projection) {
    return failed(projection.error());
  }
  if (!options.output.empty()) {
    const auto written = traces::write_projected(database->path(), options.output, projection->to,
                                                 projection->timeline, projection->rows);
    if (!written) {
      return failed(written.error());
    }
  }
  if (!options.chrome.empty()) {
    const auto written =
        write_file("--chrome", options.chrome, traces::chrome_trace(projection->timeline));
    if (!written) {
      return failed(written.error());
    }
  }
  return shown(*projection, options);
}

}  // namespace

Run add_trace_project(CLI::App& verb) {
  CLI::App* command = verb.add_subcommand("project", "The same trace on another machine");
  command->footer(R"(Examples:
  mansard trace project step.db --from h200-sxm --to b200-sxm
  mansard trace project step.db llama3-8b --context 2048 --to h200-sxm --set hbm.bandwidth='8 TB/s' -o next.db --chrome next.json
  mansard trace project --measurements a100.csv h100.csv --from a100-sxm-80gb --to h100-sxm)");
  auto options = std::make_shared<ProjectOptions>();
  command->add_option("DB", options->dataset,
                      "A dataset of mansard trace import, or a profiler's file");
  add_trace_model_options(*command, options->model);
  command->add_option("--from", options->from, "The machine of the trace; else the one it names");
  command->add_option("--to", options->to, "The machine to project to")->required();
  add_machine_options(*command, options->machine);
  command->remove_option(command->get_option("--machine"));
  command
      ->add_option("--host-scale", options->host_scale, "Time of the host there over its time here")
      ->type_name("X")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--launch-queue", options->queue,
                   "Launches that a stream takes before the host waits; 0: no limit")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--measurements", options->measurements,
                   "Instead of a trace: rows measured on both machines; prints the error")
      ->type_name("FILE");
  command->add_option("-o,--output", options->output, "Also write the projected dataset")
      ->type_name("DB");
  command->add_option("--chrome", options->chrome, "Also write it as Chrome trace JSON (Perfetto)")
      ->type_name("FILE");
  command->add_option("--rows", options->rows, "Rows of the table")->type_name("N");
  add_format_option(*command, options->format);
  return [options] { return run_project(*options); };
}

}  // namespace mansard::cli
