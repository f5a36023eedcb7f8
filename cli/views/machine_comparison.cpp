#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/views/machine_cells.hpp"
#include "cli/views/machines.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "ir/dtype.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

using hardware::Machine;
using Machines = std::span<const Machine>;

constexpr auto kLeft = TextTable::Align::kLeft;
constexpr double kTera = 1e12;

/// A rate of some machine: "matrix.bf16".
struct RateColumn {
  std::string path;
  std::string heading;
};

/// The rates that any of the machines has: matrix engines from wide to narrow formats, then the
/// vector's fp32. Those that accumulate in 16 bits are left to JSON and CSV.
std::vector<RateColumn> rate_columns(Machines machines) {
  std::vector<RateColumn> columns;
  const auto add = [&](std::string path, std::string heading) {
    if (std::ranges::any_of(machines, [&](const Machine& m) { return m.find(path) != nullptr; })) {
      columns.push_back({std::move(path), std::move(heading)});
    }
  };
  for (const ir::Dtype& dtype : ir::dtypes()) {
    add(fmt::format("matrix.{}", dtype.name), std::string(dtype.name));
  }
  add("vector.fp32", "vector\nfp32");
  return columns;
}

std::string overview(Machines machines) {
  Records records;
  records.column({"", "machine", kLeft});
  records.column({"", "released", kLeft});
  for (const char* heading : {"capacity", "bandwidth", "L2", "L2 bandwidth", "power", "price"}) {
    records.column({"", heading});
  }
  for (const Machine& m : machines) {
    records.add({Cell::text(m.name), Cell::text(m.released), figure(m, "main.capacity"),
                 figure(m, "main.bandwidth"), figure(m, "l2.capacity"), figure(m, "l2.bandwidth"),
                 figure(m, "power.cap"), figure(m, "price")});
  }
  return records.table();
}

Cell rate(const Machine& machine, const std::string& path) {
  const auto value = machine.known(path);
  return value ? Cell::number(*value, ratio(*value / kTera)) : figure(machine, path);
}

/// The last machine's number over the first's, where both have one.
std::string growth(const Cell& first, const Cell& last) {
  const auto* a = std::get_if<double>(&first.value);
  const auto* b = std::get_if<double>(&last.value);
  return a != nullptr && b != nullptr ? fmt::format("x {}", ratio(*b / *a)) : "";
}

/// A row a machine, a column a rate, and below how much the last has more than the first.
template <typename CellOf>
std::string matrix(Machines machines, const std::vector<RateColumn>& columns, CellOf cell_of) {
  TextTable table;
  table.column("machine", kLeft);
  for (const RateColumn& column : columns) {
    table.column(column.heading);
  }
  std::vector<std::vector<Cell>> rows;
  for (const Machine& machine : machines) {
    std::vector<std::string> shown{machine.name};
    rows.emplace_back();
    for (const RateColumn& column : columns) {
      rows.back().push_back(cell_of(machine, column.path));
      shown.push_back(rows.back().back().shown);
    }
    table.row(std::move(shown));
  }
  std::vector<std::string> shown{"last / first"};
  for (std::size_t c = 0; c < columns.size(); ++c) {
    shown.push_back(growth(rows.front()[c], rows.back()[c]));
  }
  const auto comparable = [](const std::string& cell) { return cell.starts_with("x"); };
  if (machines.size() > 1 && std::ranges::any_of(shown, comparable)) {
    table.rule();
    table.row(std::move(shown));
  }
  return table.render();
}

std::string balances(Machines machines, const std::vector<RateColumn>& columns,
                     const std::string& bandwidth) {
  return matrix(machines, columns, [&](const Machine& machine, const std::string& path) {
    return figure_ratio(machine, path, bandwidth);
  });
}

constexpr std::string_view kDefinitions =
    "balance: the FLOP an op must do per byte moved before the engine binds rather than the memory "
    "(the "
    "ridge point); dense: no sparsity, fp32 accumulation; ? not known; - none";

std::string table(Machines machines) {
  const auto columns = rate_columns(machines);
  std::string text = overview(machines);
  text += "\ndense rate, TFLOP/s\n" + matrix(machines, columns, rate);
  text += "\nbalance: dense rate / bandwidth of the device memory, FLOP/B\n" +
          balances(machines, columns, "main.bandwidth");
  if (std::ranges::any_of(machines,
                          [](const Machine& m) { return m.known("l2.bandwidth").has_value(); })) {
    text += "\nbalance: dense rate / bandwidth of the L2 cache, FLOP/B\n" +
            balances(machines, columns, "l2.bandwidth");
  }
  return text + "\n" + paragraph(kDefinitions);
}

Cell known(const Machine& machine, const std::string& path) {
  return figure(machine, path);
}

/// A row a machine, engine, format and tier.
Records rows(Machines machines) {
  Records records;
  for (const char* key :
       {"machine", "released", "engine", "dtype", "tier", "rate_flops_per_s",
        "bandwidth_bytes_per_s", "balance_flops_per_byte", "capacity_bytes", "usd_per_s"}) {
    records.column({key, ""});
  }
  const auto add = [&](const Machine& m, const std::string& engine, const std::string& dtype,
                       const std::string& tier) {
    const std::string path = engine + "." + dtype;
    records.add({Cell::text(m.name), Cell::text(m.released), Cell::text(engine), Cell::text(dtype),
                 Cell::text(tier), known(m, path), known(m, tier + ".bandwidth"),
                 figure_ratio(m, path, tier + ".bandwidth"), known(m, tier + ".capacity"),
                 known(m, "price")});
  };
  for (const Machine& machine : machines) {
    for (const std::string engine : {"matrix", "vector"}) {
      for (const std::string& dtype : machine.rates(engine)) {
        add(machine, engine, dtype, machine.main().name);
        if (machine.tier("l2") != nullptr) {
          add(machine, engine, dtype, "l2");
        }
      }
    }
  }
  return records;
}

}  // namespace

std::string machine_comparison(Machines machines, Format format) {
  switch (format) {
    case Format::kJson:
      return json_text({{"schema", "mansard.comparison/1"}, {"balances", rows(machines).json()}});
    case Format::kCsv:
      return rows(machines).csv();
    case Format::kTable:
      break;
  }
  return table(machines);
}

}  // namespace mansard::cli
