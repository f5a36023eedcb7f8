#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/views/machine_cells.hpp"
#include "cli/views/machines.hpp"
#include "cli/views/records.hpp"
#include "hardware/schema.hpp"
#include "ir/expr_text.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

using hardware::Field;
using hardware::Machine;

/// What is said about a figure beside its number: the formula of a derived one, then the note.
std::string remarks(const Field& field) {
  std::string text = field.formula ? "= " + ir::print(field.formula) : "";
  text += text.empty() || field.note.empty() ? "" : "; ";
  text += field.note;
  text += field.changed ? (text.empty() ? "changed" : " (changed)") : "";
  return text;
}

Records figures(const Machine& machine) {
  Records records;
  for (const char* key :
       {"path", "value", "unit", "kind", "source", "formula", "note", "changed"}) {
    records.column({key, ""});
  }
  for (const Field& field : machine.fields()) {
    records.add({Cell::text(field.path), figure(machine, field.path),
                 Cell::text(unit_of(field.dimension)), Cell::text(name_of(field.kind)),
                 Cell::text(field.source),
                 field.formula ? Cell::text(ir::print(field.formula)) : Cell::none(),
                 Cell::text(field.note), Cell::text(field.changed ? "yes" : "")});
  }
  return records;
}

/// A line a figure, and below it the formula and the note.
std::string figure_table(const Machine& machine) {
  constexpr auto kLeft = TextTable::Align::kLeft;
  TextTable table;
  table.column("figure", kLeft);
  table.column("value");
  table.column("kind", kLeft);
  table.column("source", kLeft);
  std::string unknown;
  for (const Field& field : machine.fields()) {
    if (!machine.known(field.path)) {
      unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", field.path);
      continue;
    }
    table.row({field.path, figure(machine, field.path).shown, std::string(name_of(field.kind)),
               field.source});
    table.note(remarks(field));
  }
  return table.render() + (unknown.empty() ? "" : "not known: " + paragraph(unknown, 11));
}

Cell tier_figure(const Machine& machine, const hardware::Tier& tier, std::string_view name) {
  return figure(machine, fmt::format("{}.{}", tier.name, name));
}

Records tiers(const Machine& machine) {
  constexpr auto kLeft = TextTable::Align::kLeft;
  Records records;
  records.column({"name", "tier, inner to outer", kLeft});
  records.column({"scope", "one per", kLeft});
  records.column({"technology", "technology", kLeft});
  records.column({"topology", "topology", kLeft});
  records.column({"capacity_bytes", "capacity"});
  records.column({"bandwidth_bytes_per_s", "bandwidth"});
  records.column({"latency_s", "latency"});
  const auto text_or_none = [](const std::string& text) {
    return text.empty() ? Cell::none() : Cell::text(text);
  };
  for (const hardware::Tier& tier : machine.tiers) {
    records.add({Cell::text(tier.name), Cell::text(name_of(tier.scope)),
                 text_or_none(tier.technology), text_or_none(tier.topology),
                 tier_figure(machine, tier, "capacity"), tier_figure(machine, tier, "bandwidth"),
                 tier_figure(machine, tier, "latency")});
  }
  return records;
}

Records sources(const Machine& machine) {
  constexpr auto kLeft = TextTable::Align::kLeft;
  Records records;
  records.column({"id", "source", kLeft});
  records.column({"kind", "kind", kLeft});
  records.column({"date", "date", kLeft});
  records.column({"title", "title", kLeft});
  for (const hardware::Source& source : machine.sources) {
    records.add({Cell::text(source.id), Cell::text(name_of(source.kind)), Cell::text(source.date),
                 Cell::text(source.title)});
  }
  return records;
}

std::string heading(const Machine& machine) {
  std::string text = fmt::format("{}: {}\n{}", machine.name, machine.title, machine.architecture);
  if (!machine.compute_capability.empty()) {
    text += fmt::format(", compute capability {}", machine.compute_capability);
  }
  text += machine.released.empty() ? "" : fmt::format(", {}", machine.released);
  for (const std::string& ancestor : machine.ancestors) {
    text +=
        fmt::format("{}{}", &ancestor == machine.ancestors.data() ? ", extends " : " < ", ancestor);
  }
  return text + "\n";
}

std::string sentences(std::string_view title, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += "- " + paragraph(line, 2);
  }
  return text.empty() ? "" : fmt::format("\n{}:\n{}", title, text);
}

constexpr std::string_view kDefinitions =
    "? not known; - none; rates are dense; kind: datasheet (printed), measured (by somebody), "
    "derived (by "
    "the formula), assumed; bandwidth of links: each direction";

std::string table(const Machine& machine) {
  return heading(machine) + sentences("changed", machine.changes) + "\n" + tiers(machine).table() +
         "\n" + figure_table(machine) + "\n" + sources(machine).table() +
         sentences("notes", machine.notes) + "\n" + paragraph(kDefinitions);
}

Json json(const Machine& machine) {
  return {{"schema", "mansard.machine/1"},
          {"name", machine.name},
          {"title", machine.title},
          {"vendor", machine.vendor},
          {"architecture", machine.architecture},
          {"compute_capability", machine.compute_capability},
          {"released", machine.released},
          {"extends", machine.ancestors},
          {"changes", machine.changes},
          {"tiers", tiers(machine).json()},
          {"figures", figures(machine).json()},
          {"sources", sources(machine).json()},
          {"notes", machine.notes}};
}

}  // namespace

std::string machine_sheet(const Machine& machine, Format format) {
  switch (format) {
    case Format::kJson:
      return json_text(json(machine));
    case Format::kCsv:
      return figures(machine).csv();
    case Format::kTable:
      break;
  }
  return table(machine);
}

}  // namespace mansard::cli
