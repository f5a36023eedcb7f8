#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/trace/open_trace.hpp"
#include "cli/trace/trace.hpp"
#include "cli/views/json.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "support/text.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::string dataset;
  std::string sql;
  Format format = Format::kTable;
};

Cell cell(const traces::Statement& row, int column) {
  using Type = traces::Statement::Type;
  switch (row.type(column)) {
    case Type::kInteger:
      return Cell::number(static_cast<double>(row.integer(column)),
                          std::to_string(row.integer(column)));
    case Type::kReal:
      return Cell::number(row.real(column), ratio(row.real(column)));
    case Type::kText:
      return Cell::text(printable(row.text(column)));
    case Type::kBlob:
      return Cell::text("(bytes)");
    case Type::kNull:
      break;
  }
  return Cell::none();
}

Outcome query(const Options& options) {
  auto database = open_trace(options.dataset);
  if (!database) {
    return failed(database.error());
  }
  auto statement = (*database)->prepare_user(options.sql);
  if (!statement) {
    return failed(statement.error());
  }
  if (!statement->read_only()) {
    return failed(
        {Diagnostic{.id = "sql-writes", .message = "the query would change the dataset"}});
  }
  Records records;
  std::vector<std::vector<Cell>> rows;
  const int columns = statement->columns();
  while (statement->step()) {
    std::vector<Cell> row;
    for (int i = 0; i < columns; ++i) {
      row.push_back(cell(*statement, i));
    }
    rows.push_back(std::move(row));
  }
  if (const auto status = (*database)->status(); !status) {
    return failed(status.error());
  }
  for (int i = 0; i < columns; ++i) {
    const auto is_text = [&](const std::vector<Cell>& row) {
      return std::holds_alternative<std::string>(row[static_cast<std::size_t>(i)].value);
    };
    const bool left = std::any_of(rows.begin(), rows.end(), is_text);
    const std::string name = printable(statement->column_name(i));
    records.column({name, name, left ? TextTable::Align::kLeft : TextTable::Align::kRight});
  }
  for (auto& row : rows) {
    records.add(std::move(row));
  }
  switch (options.format) {
    case Format::kJson:
      return {.out = json_text({{"schema", "mansard.query/1"}, {"rows", records.json()}})};
    case Format::kCsv:
      return {.out = records.csv()};
    case Format::kTable:
      break;
  }
  return {.out = records.table()};
}

}  // namespace

Run add_trace_query(CLI::App& verb) {
  CLI::App* command = verb.add_subcommand("query", "Asks a dataset in SQL; nothing can be changed");
  command->footer(
      R"(Views: kernels, copies, memsets, synchronisations, launches, ops, annotations, kernel_annotations,
counters, time_by_kernel, time_by_op, unlinked_kernels, launch_delays; tables runs, imports, devices,
matches, predictions. traces/README.md describes their columns.
Examples:
  mansard trace query step.db 'SELECT * FROM time_by_op LIMIT 10'
  mansard trace query step.db 'SELECT name, avg(duration_ns) FROM kernels GROUP BY name' --format csv)");
  auto options = std::make_shared<Options>();
  command
      ->add_option("DB", options->dataset,
                   "A dataset of mansard trace import, or a profiler's file")
      ->required();
  command->add_option("SQL", options->sql, "One statement that reads")->required();
  add_format_option(*command, options->format);
  return [options] { return query(*options); };
}

}  // namespace mansard::cli
