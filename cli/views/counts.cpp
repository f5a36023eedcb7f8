#include "cli/views/counts.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "cli/views/json.hpp"
#include "cli/views/text_table.hpp"
#include "cli/views/validation.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

struct Spread {
  double low = 0;
  double median = 0;
  double high = 0;
};

Spread spread_of(std::vector<double> values) {
  if (values.empty()) {
    return {};
  }
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return {values.front(), (values[(n - 1) / 2] + values[n / 2]) / 2, values.back()};
}

/// One ratio of the rows that have it.
std::vector<double> ratios(const validate::CountClass& one,
                           double (validate::CountComparison::*ratio)() const) {
  std::vector<double> result;
  for (const validate::CountComparison& row : one.rows) {
    if ((row.*ratio)() > 0) {
      result.push_back((row.*ratio)());
    }
  }
  return result;
}

std::vector<double> flop_ratios(const validate::CountClass& one) {
  return ratios(one, &validate::CountComparison::flop_ratio);
}
std::vector<double> read_ratios(const validate::CountClass& one) {
  return ratios(one, &validate::CountComparison::read_ratio);
}
std::vector<double> write_ratios(const validate::CountClass& one) {
  return ratios(one, &validate::CountComparison::write_ratio);
}

std::string three(const std::vector<double>& values) {
  const Spread spread = spread_of(values);
  if (values.size() < 2) {
    return values.empty() ? "-" : fmt::format("{:.3f}", spread.median);
  }
  return fmt::format("{:.3f} [{:.2f}, {:.2f}]", spread.median, spread.low, spread.high);
}

std::string name_of(const validate::CountClass& one) {
  return fmt::format("{} {}{}{}", one.op, one.dtype, one.phase.empty() ? "" : " ", one.phase);
}

std::string row_line(const validate::CountComparison& row) {
  const validate::Counted& counted = row.counted;
  const double flops = row.flops > 0 ? row.flops : row.vector_flops;
  return fmt::format(
      "  row {}: {}: {} of {}, read {} of {}, written {} of {}, {} kernel{}\n", counted.row,
      shape_of(*row.row), format_measure(row.flop_ratio() * flops, kFlop),
      format_measure(flops, kFlop), format_measure(counted.dram_read, kByte),
      format_measure(row.bytes_read, kByte), format_measure(counted.dram_written, kByte),
      format_measure(row.bytes_written, kByte), counted.kernels, counted.kernels == 1 ? "" : "s");
}

Json ratios_json(const std::vector<double>& values) {
  const Spread spread = spread_of(values);
  return values.empty()
             ? Json(nullptr)
             : Json{{"median", spread.median}, {"min", spread.low}, {"max", spread.high}};
}

}  // namespace

std::string counts_table(const std::string& machine,
                         std::span<const validate::CountClass> classes) {
  TextTable table;
  table.column("class", TextTable::Align::kLeft);
  table.column("implementation", TextTable::Align::kLeft);
  for (const char* name : {"rows", "FLOP", "DRAM read", "DRAM written"}) {
    table.column(name);
  }
  std::string rows;
  for (const validate::CountClass& one : classes) {
    table.row({name_of(one), one.implementation, fmt::format("{}", one.rows.size()),
               three(flop_ratios(one)), three(read_ratios(one)), three(write_ratios(one))});
    rows += fmt::format("\n{} {}\n", name_of(one), one.implementation);
    for (const validate::CountComparison& row : one.rows) {
      rows += row_line(row);
    }
  }
  return fmt::format("{}: counters of Nsight Compute over the model's counts\n\n", machine) +
         table.render() + rows +
         "\nmedian [least, greatest] of the rows; FLOP: of the matrix engines where they ran "
         "(their "
         "tiles'\npadding included), otherwise of scalar arithmetic, an FMA is two (a library's "
         "exp or "
         "tanh is\nseveral); DRAM written: without what stays in the L2 at the end of a kernel; "
         "predicted: operands\nmoved once\n";
}

std::string counts_json(const std::string& machine, std::span<const validate::CountClass> classes) {
  Json list = Json::array();
  for (const validate::CountClass& one : classes) {
    list.push_back({{"op", one.op},
                    {"dtype", one.dtype},
                    {"implementation", one.implementation},
                    {"phase", one.phase},
                    {"rows", one.rows.size()},
                    {"skipped", one.skipped},
                    {"flop_ratio", ratios_json(flop_ratios(one))},
                    {"dram_read_ratio", ratios_json(read_ratios(one))},
                    {"dram_write_ratio", ratios_json(write_ratios(one))}});
  }
  return json_text({{"schema", "mansard.counts/1"}, {"machine", machine}, {"classes", list}});
}

std::string counts_csv(std::span<const validate::CountClass> classes) {
  std::string text =
      "row,op,dtype,implementation,phase,shape,kernels,tensor_flops,scalar_flops,dram_read,"
      "dram_written,flops,vector_flops,bytes_read,bytes_written\n";
  for (const validate::CountClass& one : classes) {
    for (const validate::CountComparison& row : one.rows) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.counted.row, one.op,
                          one.dtype, one.implementation, one.phase, shape_of(*row.row),
                          row.counted.kernels, row.counted.tensor_flops, row.counted.scalar_flops,
                          row.counted.dram_read, row.counted.dram_written, row.flops,
                          row.vector_flops, row.bytes_read, row.bytes_written);
    }
  }
  return text;
}

}  // namespace mansard::cli
