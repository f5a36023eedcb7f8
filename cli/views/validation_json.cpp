#include <nlohmann/json.hpp>

#include "cli/views/validation.hpp"

namespace mansard::cli {
namespace {

using Json = nlohmann::ordered_json;

Json class_json(const validate::ClassReport& report) {
  return {{"op", report.op},
          {"dtype", report.dtype},
          {"implementation", report.implementation},
          {"mode", report.mode},
          {"phase", report.phase},
          {"rows", report.rows},
          {"skipped", report.skipped},
          {"flagged", report.flagged},
          {"mape", report.errors.mape},
          {"mean_abs_log_error", report.errors.mean_abs_log},
          {"median_ape", report.errors.median},
          {"p90_ape", report.errors.p90},
          {"bias", report.errors.bias},
          {"bound_violations", report.bound_violations},
          {"interval_coverage", report.interval_coverage},
          {"interval_width", report.interval_width},
          {"calibrated_on_these_rows", report.calibrated_on_these_rows},
          {"baseline",
           {{"roofline_mape", report.roofline_mape},
            {"three_constant_mape", report.three_constant_mape}}},
          {"flagged_mape", report.flagged_errors.mape},
          {"flagged_bias", report.flagged_errors.bias},
          {"skip_reasons", report.skip_reasons}};
}

}  // namespace

std::string validation_json(const validate::Report& report) {
  Json classes = Json::array();
  for (const validate::ClassReport& one : report.classes) {
    classes.push_back(class_json(one));
  }
  const Json result = {{"schema", "mansard.validation/1"},
                       {"machine", report.machine},
                       {"calibration", report.calibration},
                       {"other_machines", report.other_machines},
                       {"classes", std::move(classes)}};
  return result.dump(2) + "\n";
}

}  // namespace mansard::cli
