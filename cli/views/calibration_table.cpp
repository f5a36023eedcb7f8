#include <fmt/format.h>

#include "cli/views/calibration.hpp"
#include "cli/views/text_table.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

std::string parameters(const validate::ImplementationFit& fit) {
  using Align = TextTable::Align;
  TextTable table;
  table.column("parameter", Align::kLeft);
  table.column("before");
  table.column("after");
  table.column("+- %");
  table.column("", Align::kLeft);
  for (const auto* list : {&fit.parameters, &fit.intervals}) {
    for (const validate::FittedParameter& p : *list) {
      const bool fitted = p.determined && p.relative_error > 0;
      table.row({p.path, format_measure(p.before, p.dimension, 4),
                 format_measure(p.value, p.dimension, 4),
                 fitted ? fmt::format("{:.1f}", 100 * p.relative_error) : "-",
                 p.determined ? "" : "not determined by these rows: kept"});
    }
  }
  return table.render();
}

std::string classes(const validate::ImplementationFit& fit) {
  using Align = TextTable::Align;
  TextTable table;
  table.column("class", Align::kLeft);
  for (const char* name :
       {"rows", "in sample: mean %", "bias", "held out: mean %", "median", "p90", "bias"}) {
    table.column(name);
  }
  const auto percent = [](double fraction) { return fmt::format("{:.1f}", 100 * fraction); };
  for (const validate::ClassFit& c : fit.classes) {
    table.row({fmt::format("{} {} {} {}", c.op, c.dtype, c.mode, c.phase),
               fmt::format("{}", c.rows), percent(c.in_sample.mape), percent(c.in_sample.bias),
               percent(c.held_out.mape), percent(c.held_out.median), percent(c.held_out.p90),
               percent(c.held_out.bias)});
  }
  return table.render();
}

}  // namespace

std::string calibration_table(const std::vector<validate::ImplementationFit>& fits) {
  std::string text;
  for (const validate::ImplementationFit& fit : fits) {
    text += fmt::format("{}: {} rows\n\n{}\n{}\n", fit.implementation, fit.rows.size(),
                        parameters(fit), classes(fit));
  }
  return text + "held out: each row by a fit that saw no row of its shape; +-: standard error\n";
}

}  // namespace mansard::cli
