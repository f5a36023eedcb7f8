#include "traces/import.hpp"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/trace/trace.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/text_table.hpp"
#include "support/text.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output;
};

std::string file_text(const traces::ImportReport::File& file) {
  std::string text = fmt::format(
      "{}: {}, {} of text; {} kernels, {} with their launch, {} with their op\n", file.name,
      file.format, bytes(static_cast<double>(file.text_bytes)),
      grouped(static_cast<double>(file.kernels)), grouped(static_cast<double>(file.linked)),
      grouped(static_cast<double>(file.in_op)));
  TextTable table;
  table.column("events");
  table.column("what", TextTable::Align::kLeft);
  table.column("", TextTable::Align::kLeft);
  for (const traces::ImportReport::Line& line : file.lines) {
    table.row(
        {grouped(static_cast<double>(line.events)), line.what, line.kept ? "" : "counted only"});
  }
  return text + table.render();
}

std::string matches_text(const traces::ImportReport& report) {
  std::string text =
      fmt::format("counters: {} of {} kernels matched with the timeline, {} of them in its order\n",
                  report.matched, report.counter_kernels, report.verified);
  if (report.clocks_locked) {
    text += "counters: taken at locked clocks; times are those of the timeline alone\n";
  }
  constexpr std::size_t kMost = 20;
  for (std::size_t i = 0; i < std::min(kMost, report.unmatched.size()); ++i) {
    const traces::ImportReport::Unmatched& row = report.unmatched[i];
    text += fmt::format("unmatched, {}: {} x {}, {}\n", row.timed ? "timeline" : "counters",
                        row.kernels, abbreviated(printable(row.name), 60), row.grid);
  }
  if (report.unmatched.size() > kMost) {
    text += fmt::format("and {} more: SELECT * FROM unmatched_kernels\n",
                        report.unmatched.size() - kMost);
  }
  return text;
}

Outcome import(const Options& options) {
  const auto report = traces::import_files(options.files, options.output);
  if (!report) {
    return failed(report.error());
  }
  Outcome outcome;
  for (const traces::ImportReport::File& file : report->files) {
    outcome.out += file_text(file);
  }
  if (report->counter_kernels > 0) {
    outcome.out += matches_text(*report);
  }
  if (!report->errors.empty()) {
    outcome.err = render(report->errors);
    outcome.exit_code = kBadInput;
  }
  return outcome;
}

}  // namespace

Run add_trace_import(CLI::App& verb) {
  CLI::App* command =
      verb.add_subcommand("import", "Reads profiler files into one dataset (SQLite)");
  command->footer(
      R"(Formats, told by their contents: Kineto and Chrome trace JSON (.json, .json.gz), Nsight Systems SQLite,
Nsight Compute CSV (either page). Files of one workload are combined: counters are matched with the timeline.
A file that breaks off is kept up to there, reported, and the exit code is 1.
Example:
  mansard trace import timeline.json.gz counters.csv -o workload.db)");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->files, "Profiler files")->required();
  command->add_option("-o,--output", options->output, "The dataset to write")
      ->type_name("DB")
      ->required();
  return [options] { return import(*options); };
}

}  // namespace mansard::cli
