#include "cli/kernel_launch.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "ir/kernel_flow.hpp"
#include "support/suggest.hpp"
#include "traces/ncu/values.hpp"

namespace mansard::cli {
namespace {

std::optional<double> number(std::string_view text) {
  std::string plain;
  std::copy_if(text.begin(), text.end(), std::back_inserter(plain),
               [](char c) { return c != ',' && c != ' '; });
  if (plain.starts_with("0x")) {
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(plain.data() + 2, plain.data() + plain.size(), value, 16);
    return error == std::errc{} && end == plain.data() + plain.size()
               ? std::optional(static_cast<double>(value))
               : std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc{} || end != plain.data() + plain.size() || plain.empty() ||
      !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

/// Fields of the records of a CSV text (RFC 4180).
std::vector<std::vector<std::string>> records(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        field += '"';
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        field += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.push_back(std::exchange(field, {}));
    } else if (c == '\n') {
      row.push_back(std::exchange(field, {}));
      rows.push_back(std::exchange(row, {}));
    } else if (c != '\r') {
      field += c;
    }
  }
  if (!field.empty() || !row.empty()) {
    row.push_back(field);
    rows.push_back(row);
  }
  return rows;
}

using Row = std::map<std::string, std::string>;

std::string cell(const Row& row, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = row.find(name);
    if (found != row.end() && !found->second.empty()) {
      return found->second;
    }
  }
  return {};
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : text + by) {
    if (c == by) {
      if (!part.empty()) {
        parts.push_back(part);
      }
      part.clear();
    } else {
      part += c;
    }
  }
  return parts;
}

/// The value of a column in base units, by the row of units of a raw page.
std::optional<double> measure(const Row& row, const Row& units,
                              std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto value = number(cell(row, {name}));
    if (value) {
      const auto unit = units.find(name);
      return *value * (unit == units.end() ? 1 : traces::base_unit(unit->second).factor);
    }
  }
  return std::nullopt;
}

/// "name(int, float*)" without its signature.
std::string base_name(const std::string& name) {
  return name.substr(0, std::min(name.find('('), name.size()));
}

LaunchText launch_of(const Row& row, const Row& units) {
  LaunchText launch{.name = cell(row, {"case", "ID"}),
                    .kernel = base_name(cell(row, {"kernel", "Kernel Name", "Function Name"})),
                    .grid = cell(row, {"grid", "Grid Size", "launch__grid_size"}),
                    .block = cell(row, {"block", "Block Size", "launch__block_size"}),
                    .arguments = split(cell(row, {"arguments"}), ';')};
  launch.shared = static_cast<std::int64_t>(
      std::llround(measure(row, units,
                           {"dynamic_smem", "shared", "launch__shared_mem_per_block_dynamic",
                            "Dynamic Shared Memory Per Block"})
                       .value_or(0)));
  if (const auto us = number(cell(row, {"median_us"}))) {
    launch.measured_s = *us * 1e-6;
  } else {
    launch.measured_s = measure(row, units, {"gpu__time_duration.sum", "Duration"});
  }
  return launch;
}

Row by_name(const std::vector<std::string>& header, const std::vector<std::string>& fields) {
  Row row;
  for (std::size_t c = 0; c < header.size() && c < fields.size(); ++c) {
    row[header[c]] = fields[c];
  }
  return row;
}

/// Launches of a table: a row each; or, in the long page of a profiler, a row for each metric of
/// one.
class Launches {
 public:
  explicit Launches(std::vector<std::string> header) : header_(std::move(header)) {}

  void add(const std::vector<std::string>& fields) {
    Row row = by_name(header_, fields);
    const bool names_units = row.contains("ID") && row["ID"].empty();
    if (names_units) {
      units_ = std::move(row);
      return;
    }
    if (!row.contains("Metric Name")) {
      row_ = std::move(row);
      finish();
      return;
    }
    const std::string metric = row["Metric Name"];
    if (metric.empty()) {
      return;  // a remark of the profiler
    }
    if (row["ID"] != row_["ID"]) {
      finish();
      units_.clear();
      row_ = row;
    }
    row_.emplace(metric, row["Metric Value"]);  // "Grid Size" is a column and a metric
    units_.emplace(metric, row["Metric Unit"]);
  }

  std::vector<LaunchText> take() {
    finish();
    return std::move(launches_);
  }

 private:
  void finish() {
    LaunchText launch = launch_of(row_, units_);
    if (!launch.kernel.empty() && !launch.grid.empty()) {
      launches_.push_back(std::move(launch));
    }
    row_.clear();
  }

  std::vector<std::string> header_;
  Row units_;
  Row row_;
  std::vector<LaunchText> launches_;
};

bool matches(const ir::KernelParameter& parameter, const std::string& name) {
  return parameter.name == name || (!parameter.alias.empty() && parameter.alias == name) ||
         (parameter.offset == 0 && std::to_string(parameter.position) == name);
}

/// Gives a parameter its value; true if the kernel has one of that name, even if it never reads it.
bool bind(const ir::Kernel& kernel, const std::string& name, double value,
          model::kernel::Launch& launch) {
  bool found =
      std::find(kernel.signature.begin(), kernel.signature.end(), name) != kernel.signature.end();
  for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
    if (matches(kernel.parameters[p], name)) {
      found = true;
      launch.arguments[p] = static_cast<std::int64_t>(std::clamp(value, -9.2e18, 9.2e18));
    }
  }
  const auto position = number(name);
  return found ||
         (position && *position >= 0 && *position < static_cast<double>(kernel.signature.size()));
}

void bind_in_order(const ir::Kernel& kernel, const std::vector<double>& values,
                   model::kernel::Launch& launch) {
  std::size_t next = 0;
  for (std::size_t p = 0; p < kernel.parameters.size() && next < values.size(); ++p) {
    const ir::KernelParameter& each = kernel.parameters[p];
    if (!each.is_pointer && !each.is_float && !launch.arguments[p]) {
      launch.arguments[p] = static_cast<std::int64_t>(values[next++]);
    }
  }
}

Diagnostic unknown_argument(const ir::Kernel& kernel, const std::string& name) {
  const std::vector<std::string>& names = kernel.signature;
  const auto meant = did_you_mean(name, names);
  return {.id = "kernel-argument",
          .message = fmt::format("kernel {} has no parameter '{}'", kernel.name, name),
          .label = meant ? fmt::format("did you mean '{}'?", *meant) : ""};
}

}  // namespace

Result<std::array<std::int64_t, 3>> parse_sides(const std::string& option,
                                                const std::string& text) {
  std::array<std::int64_t, 3> sides{1, 1, 1};
  std::string plain;
  for (const char c : text) {
    plain += c == 'x' || c == 'X' ? ',' : c == '(' || c == ')' || c == ' ' ? ' ' : c;
  }
  const std::vector<std::string> parts = split(plain, ',');
  bool good = !parts.empty() && parts.size() <= 3;
  for (std::size_t i = 0; i < parts.size() && good; ++i) {
    const auto value = number(parts[i]);
    good = value && *value >= 1 && *value <= 2147483647.0 && *value == std::floor(*value);
    sides[i] = good ? static_cast<std::int64_t>(*value) : 1;
  }
  if (!good) {
    return failure(
        "kernel-launch",
        fmt::format("{} takes up to three whole numbers from 1, found '{}'", option, text), {},
        "write 64,64,1");
  }
  return sides;
}

void name_parameters(ir::Kernel& kernel, const std::vector<std::string>& names) {
  for (std::size_t p = 0; p < std::min(names.size(), kernel.signature.size()); ++p) {
    kernel.signature[p] = names[p];
  }
  for (ir::KernelParameter& each : kernel.parameters) {
    if (each.position < names.size()) {
      each.alias = names[each.position];
      if (each.offset != 0) {
        each.alias += fmt::format("[{}]", each.offset);
      }
    }
  }
}

Result<model::kernel::Launch> read_launch(const ir::Kernel& kernel, const LaunchText& text,
                                          std::size_t loops, bool by_order) {
  model::kernel::Launch launch{.dynamic_shared = text.shared};
  Diagnostics errors;
  const auto sides = [&](const char* option, const std::string& given,
                         std::array<std::int64_t, 3>& to) {
    auto parsed = parse_sides(option, given);
    if (parsed) {
      to = *parsed;
    } else {
      errors.insert(errors.end(), parsed.error().begin(), parsed.error().end());
    }
  };
  sides("--grid", text.grid, launch.grid);
  sides("--block", text.block, launch.block);
  if (launch.threads() > 1024) {
    errors.push_back(
        {.id = "kernel-launch",
         .message = fmt::format("a block has at most 1024 threads, found {}", launch.threads())});
  }
  launch.arguments.resize(kernel.parameters.size());
  std::vector<double> in_order;
  for (const std::string& argument : text.arguments) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const auto value = equals == std::string::npos
                           ? std::nullopt
                           : number(std::string_view(argument).substr(equals + 1));
    if (!value) {
      errors.push_back({.id = "kernel-argument",
                        .message = fmt::format("--arg takes NAME=NUMBER, found '{}'", argument)});
      continue;
    }
    if (name.starts_with("trip_L")) {
      const auto loop = number(name.substr(6)).value_or(0);
      if (loop < 1 || loop > static_cast<double>(loops) || *value < 0) {
        errors.push_back({.id = "kernel-argument",
                          .message = fmt::format("kernel {} has loops L1 to L{}, found '{}'",
                                                 kernel.name, loops, argument)});
      } else {
        launch.trips[static_cast<std::uint32_t>(loop) - 1] = {.count = *value};
      }
      continue;
    }
    if (!bind(kernel, name, *value, launch)) {
      if (by_order) {
        in_order.push_back(*value);
      } else {
        errors.push_back(unknown_argument(kernel, name));
      }
    }
  }
  bind_in_order(kernel, in_order, launch);
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  return launch;
}

Result<std::vector<LaunchText>> read_launches(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return failure("launches", fmt::format("--launches: cannot read '{}'", path));
  }
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("==")) {
      text += line + "\n";
    }
    if (text.size() > (std::size_t{256} << 20U)) {
      return failure("launches", fmt::format("'{}' is larger than 256 MiB", path));
    }
  }
  const auto rows = records(text);
  const auto header = std::find_if(rows.begin(), rows.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](const std::string& name) {
      return name == "kernel" || name == "Kernel Name" || name == "Function Name";
    });
  });
  std::vector<LaunchText> launches;
  if (header != rows.end()) {
    Launches table(*header);
    std::for_each(header + 1, rows.end(), [&](const auto& row) { table.add(row); });
    launches = table.take();
  }
  if (launches.empty()) {
    return failure(
        "launches", fmt::format("'{}' has no rows with kernel, grid and block", path), {},
        "columns: kernel, grid, block, dynamic_smem, arguments; or a CSV of Nsight Compute");
  }
  return launches;
}

}  // namespace mansard::cli
