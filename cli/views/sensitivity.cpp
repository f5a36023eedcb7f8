#include "cli/views/sensitivity.hpp"

#include <fmt/format.h>

#include "cli/views/csv.hpp"
#include "cli/views/json.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/text_table.hpp"

namespace mansard::cli {
namespace {

constexpr double kShown = 5e-5;  ///< Smaller elasticities are shown by --format json and csv only.

std::string shown(double value, const model::Sensitivity& of) {
  return of.dimension == kNumber ? grouped(value) : measure(value, of.dimension);
}

std::string next_kink(const model::Sensitivity& s) {
  return s.kink ? fmt::format("{}, then {}", shown(*s.kink, s), s.kink_what) : "";
}

std::string part_table(const SensitivityReport::Part& part) {
  TextTable table;
  table.column("parameter", TextTable::Align::kLeft);
  table.column("value");
  table.column("elasticity");
  table.column("pays\nuntil");
  table.column("next kink", TextTable::Align::kLeft);
  for (const model::Sensitivity& s : part.parameters) {
    if (std::abs(s.elasticity) < kShown) {
      continue;
    }
    const std::string name = s.parameter + (s.one_sided ? " |" : "") + (s.integer ? " +1" : "");
    table.row({name, shown(s.value, s), fmt::format("{:+.4f}", s.elasticity),
               s.pays_until ? shown(*s.pays_until, s) : "", next_kink(s)});
  }
  return fmt::format("{} = {}\n\n{}", part.output, measure(part.value, part.dimension),
                     table.render());
}

}  // namespace

std::string sensitivity_table(const SensitivityReport& report) {
  std::string text = report.title + "\n";
  for (const SensitivityReport::Part& part : report.parts) {
    text += "\n" + part_table(part);
  }
  return text + "\n" +
         paragraph(
             "elasticity: per cent of change per per cent of the parameter; +1: to the next "
             "whole number; |: at a kink, one-sided; pays until: above it the output no longer "
             "answers; next kink: where another resource comes to bind an op");
}

std::string sensitivity_json(const SensitivityReport& report) {
  Json parts = Json::array();
  for (const SensitivityReport::Part& part : report.parts) {
    Json parameters = Json::array();
    for (const model::Sensitivity& s : part.parameters) {
      parameters.push_back({{"parameter", s.parameter},
                            {"value", json_number(s.value)},
                            {"integer", s.integer},
                            {"derivative", s.derivative},
                            {"elasticity", s.elasticity},
                            {"one_sided", s.one_sided},
                            {"kink", json_optional(s.kink)},
                            {"kink_what", s.kink_what},
                            {"pays_until", json_optional(s.pays_until)}});
    }
    parts.push_back(
        {{"output", part.output}, {"value", part.value}, {"parameters", std::move(parameters)}});
  }
  return json_text({{"schema", "mansard.sensitivity/1"},
                    {"question", report.title},
                    {"outputs", std::move(parts)}});
}

std::string sensitivity_csv(const SensitivityReport& report) {
  std::string text =
      "output,parameter,value,integer,derivative,elasticity,one_sided,kink,kink_what,pays_until\n";
  const auto optional = [](const std::optional<double>& value) {
    return value ? csv_number(*value) : "";
  };
  for (const SensitivityReport::Part& part : report.parts) {
    for (const model::Sensitivity& s : part.parameters) {
      text += csv_record(std::vector<std::string>{
          part.output, s.parameter, csv_number(s.value), s.integer ? "1" : "0",
          csv_number(s.derivative), csv_number(s.elasticity), s.one_sided ? "1" : "0",
          optional(s.kink), s.kink_what, optional(s.pays_until)});
    }
  }
  return text;
}

}  // namespace mansard::cli
