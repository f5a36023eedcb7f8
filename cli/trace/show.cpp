#include <memory>

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/trace/open_trace.hpp"
#include "cli/trace/trace.hpp"
#include "cli/views/trace_summary.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::string dataset;
  std::string compare;
  std::size_t rows = 20;
  Format format = Format::kTable;
};

Outcome show(const Options& options) {
  auto database = open_trace(options.dataset);
  if (!database) {
    return failed(database.error());
  }
  const auto summary = traces::summarise(**database);
  if (!summary) {
    return failed(summary.error());
  }
  if (!options.compare.empty()) {
    auto other_database = open_trace(options.compare);
    if (!other_database) {
      return failed(other_database.error());
    }
    const auto other = traces::summarise(**other_database);
    return other ? Outcome{.out = trace_comparison(*summary, *other, options.rows, options.format)}
                 : failed(other.error());
  }
  switch (options.format) {
    case Format::kJson:
      return {.out = trace_summary_json(*summary)};
    case Format::kCsv:
      return {.out = trace_summary_csv(*summary)};
    case Format::kTable:
      break;
  }
  return {.out = trace_summary_table(*summary, options.rows)};
}

}  // namespace

Run add_trace_show(CLI::App& verb) {
  CLI::App* command =
      verb.add_subcommand("show", "Where the time went: by kernel, by op, idle and why");
  command->footer(R"(Examples:
  mansard trace show step.db --rows 40
  mansard trace show a100.db --compare h100.db)");
  auto options = std::make_shared<Options>();
  command
      ->add_option("DB", options->dataset,
                   "A dataset of mansard trace import, or a profiler's file")
      ->required();
  command
      ->add_option("--compare", options->compare,
                   "Set another dataset of the same workload beside it: speed-up per kernel and op")
      ->type_name("DB");
  command->add_option("--rows", options->rows, "Rows of each table")->type_name("N");
  add_format_option(*command, options->format);
  return [options] { return show(*options); };
}

}  // namespace mansard::cli
