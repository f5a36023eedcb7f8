#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/units.hpp"
#include "validate/calibrate.hpp"

namespace mansard::validate {
namespace {

constexpr int kDigits = 5;

std::string errors_text(const Errors& errors) {
  return fmt::format("{{mean: {:.4f}, median: {:.4f}, p90: {:.4f}, bias: {:.4f}}}", errors.mape,
                     errors.median, errors.p90, errors.bias);
}

std::string parameter_line(const FittedParameter& p) {
  return fmt::format("    {}: {}{}\n", p.path, format_measure(p.value, p.dimension, kDigits),
                     !p.determined          ? " # not determined by these rows: kept"
                     : p.relative_error > 0 ? fmt::format(" # +- {:.1f} %", 100 * p.relative_error)
                                            : "");
}

std::string fit_section(const ImplementationFit& fit) {
  std::string text = fmt::format("  {}:\n    classes:\n", fit.implementation);
  for (const ClassFit& c : fit.classes) {
    text += fmt::format(
        "      - {{op: {}, dtype: {}, mode: {}, phase: \"{}\", rows: {}, in_sample: {}, held_out: "
        "{}}}\n",
        c.op, c.dtype, c.mode, c.phase, c.rows, errors_text(c.in_sample), errors_text(c.held_out));
  }
  text += "    rows: >-\n";
  constexpr std::size_t kPerLine = 6;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    text += i % kPerLine == 0 ? "      " : " ";
    text += fmt::format("{:016x}", fit.rows[i]);
    text += i % kPerLine == kPerLine - 1 || i + 1 == fit.rows.size() ? "\n" : "";
  }
  return text;
}

}  // namespace

std::string print_calibration(const std::string& machine,
                              const std::vector<ImplementationFit>& fits) {
  std::string text = fmt::format(
      "# Fitted by `mansard calibrate`.\nschema: 1\nmachine: {}\nimplementations:\n", machine);
  for (const ImplementationFit& fit : fits) {
    text += fmt::format("  \"{}\":\n", fit.implementation);
    for (const auto* parameters : {&fit.parameters, &fit.constants, &fit.intervals}) {
      for (const FittedParameter& p : *parameters) {
        text += parameter_line(p);
      }
    }
  }
  text += "fit:\n";
  for (const ImplementationFit& fit : fits) {
    text += fit_section(fit);
  }
  return text;
}

}  // namespace mansard::validate
