#include "cli/views/sweep.hpp"

#include <charconv>

#include <fmt/format.h>

#include "cli/views/csv.hpp"
#include "cli/views/json.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/text_table.hpp"

namespace mansard::cli {
namespace {

using Group = model::AggregateSink::Group;

double aggregate(const std::string& kind, const Group& group, std::size_t output) {
  const auto& totals = group.outputs[output];
  if (kind == "min") {
    return totals.least;
  }
  if (kind == "max") {
    return totals.greatest;
  }
  return kind == "mean" ? totals.sum / static_cast<double>(group.points) : totals.sum;
}

std::string shown(double value, const Dimension& dimension) {
  return dimension == kNumber ? ratio(value) : measure(value, dimension);
}

double number_of(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// An axis value for people: the unit behind it, plain numbers in full.
std::string shown(const std::string& text, const SweepColumn& column) {
  return column.words || column.dimension == kNumber ? text
                                                     : measure(number_of(text), column.dimension);
}

Json axis_json(const std::string& text, const SweepColumn& column) {
  return column.words ? Json(text) : json_number(number_of(text));
}

std::string rows_table(const SweepReport& report) {
  TextTable table;
  for (const SweepColumn& axis : report.axes) {
    table.column(axis.name, axis.words ? TextTable::Align::kLeft : TextTable::Align::kRight);
  }
  for (const SweepColumn& output : report.outputs) {
    table.column(output.name);
  }
  for (const SweepReport::Row& row : report.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.axes.size(); ++i) {
      cells.push_back(shown(row.axes[i], report.axes[i]));
    }
    for (std::size_t i = 0; i < row.outputs.size(); ++i) {
      cells.push_back(shown(row.outputs[i], report.outputs[i].dimension));
    }
    table.row(std::move(cells));
  }
  return table.render();
}

std::string groups_table(const SweepReport& report) {
  TextTable table;
  for (const SweepColumn& axis : report.group_by) {
    table.column(axis.name, axis.words ? TextTable::Align::kLeft : TextTable::Align::kRight);
  }
  table.column("points");
  for (const std::string& kind : report.aggregates) {
    for (const SweepColumn& output : report.outputs) {
      table.column(fmt::format("{}\n{}", kind, output.name));
    }
  }
  for (const auto& [key, group] : report.groups) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < key.size(); ++i) {
      cells.push_back(shown(key[i], report.group_by[i]));
    }
    cells.push_back(grouped(static_cast<double>(group.points)));
    for (const std::string& kind : report.aggregates) {
      for (std::size_t i = 0; i < report.outputs.size(); ++i) {
        cells.push_back(shown(aggregate(kind, group, i), report.outputs[i].dimension));
      }
    }
    table.row(std::move(cells));
  }
  return table.render();
}

Json counts_json(const model::SweepCounts& counts) {
  Json infeasible = Json::array();
  for (const auto& [reason, count] : counts.infeasible) {
    infeasible.push_back({{"reason", reason}, {"points", count}});
  }
  return infeasible;
}

}  // namespace

std::string sweep_counts(const model::SweepCounts& counts) {
  std::string text =
      fmt::format("{} points evaluated", grouped(static_cast<double>(counts.evaluated)));
  if (counts.unwanted > 0) {
    text += fmt::format(", {} of them left out by --where",
                        grouped(static_cast<double>(counts.unwanted)));
  }
  text += '\n';
  for (const auto& [reason, count] : counts.infeasible) {
    text += paragraph(
        fmt::format("{} points cannot run: {}", grouped(static_cast<double>(count)), reason), 2);
  }
  return text;
}

std::string sweep_table(const SweepReport& report) {
  const std::string body = report.aggregates.empty() ? rows_table(report) : groups_table(report);
  return fmt::format("{}\n{}", body, sweep_counts(report.counts));
}

std::string sweep_json(const SweepReport& report) {
  Json json{{"schema", "mansard.sweep/1"},        {"model", report.model},
            {"points", report.counts.total()},    {"evaluated", report.counts.evaluated},
            {"left_out", report.counts.unwanted}, {"infeasible", counts_json(report.counts)}};
  Json rows = Json::array();
  for (const SweepReport::Row& row : report.rows) {
    Json point = Json::object();
    for (std::size_t i = 0; i < row.axes.size(); ++i) {
      point[report.axes[i].name] = axis_json(row.axes[i], report.axes[i]);
    }
    for (std::size_t i = 0; i < row.outputs.size(); ++i) {
      point[report.outputs[i].name] = json_number(row.outputs[i]);
    }
    rows.push_back(std::move(point));
  }
  for (const auto& [key, group] : report.groups) {
    Json entry = Json::object();
    for (std::size_t i = 0; i < key.size(); ++i) {
      entry[report.group_by[i].name] = axis_json(key[i], report.group_by[i]);
    }
    entry["points"] = group.points;
    for (const std::string& kind : report.aggregates) {
      for (std::size_t i = 0; i < report.outputs.size(); ++i) {
        entry[kind][report.outputs[i].name] = json_number(aggregate(kind, group, i));
      }
    }
    rows.push_back(std::move(entry));
  }
  json[report.aggregates.empty() ? "rows" : "groups"] = std::move(rows);
  return json_text(json);
}

SweepRows sweep_rows(const SweepReport& report) {
  if (report.aggregates.empty()) {
    SweepRows result{report.axes, report.rows};
    result.columns.insert(result.columns.end(), report.outputs.begin(), report.outputs.end());
    return result;
  }
  SweepRows result{report.group_by, {}};
  result.columns.push_back({.name = "points", .whole = true});
  for (const std::string& kind : report.aggregates) {
    for (const SweepColumn& output : report.outputs) {
      result.columns.push_back({fmt::format("{} {}", kind, output.name), output.dimension});
    }
  }
  for (const auto& [key, group] : report.groups) {
    SweepReport::Row row{key, {static_cast<double>(group.points)}};
    for (const std::string& kind : report.aggregates) {
      for (std::size_t i = 0; i < report.outputs.size(); ++i) {
        row.outputs.push_back(aggregate(kind, group, i));
      }
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

std::string sweep_csv(const SweepReport& report) {
  const SweepRows flat = sweep_rows(report);
  std::vector<std::string> head;
  for (const SweepColumn& column : flat.columns) {
    head.push_back(column.name);
  }
  std::string text = csv_record(head);
  for (const SweepReport::Row& row : flat.rows) {
    std::vector<std::string> fields = row.axes;
    for (const double value : row.outputs) {
      fields.push_back(csv_number(value));
    }
    text += csv_record(fields);
  }
  return text;
}

std::string sweep_json_lines(const SweepReport& report) {
  const SweepRows flat = sweep_rows(report);
  std::string text;
  for (const SweepReport::Row& row : flat.rows) {
    Json line = Json::object();
    for (std::size_t i = 0; i < flat.columns.size(); ++i) {
      line[flat.columns[i].name] = i < row.axes.size()
                                       ? axis_json(row.axes[i], flat.columns[i])
                                       : json_number(row.outputs[i - row.axes.size()]);
    }
    text += line.dump() + "\n";
  }
  return text;
}

}  // namespace mansard::cli
