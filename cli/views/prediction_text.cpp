#include "cli/views/prediction_text.hpp"

#include <fmt/format.h>

#include "cli/views/text_table.hpp"

namespace mansard::cli {
namespace {

std::string degrees(const model::Plan& plan) {
  std::string text;
  const auto add = [&](const char* name, std::int64_t degree) {
    text += degree > 1 ? fmt::format(", {} {}", name, degree) : "";
  };
  add("tp", plan.parallelism.tp);
  add("pp", plan.pp);
  add("ep", plan.parallelism.ep);
  add("dp", plan.parallelism.dp);
  add("cp", plan.parallelism.cp);
  return text;
}

}  // namespace

std::string heading(const model::Prediction& prediction) {
  const model::Workload& workload = prediction.workload;
  if (!prediction.model.has_context) {
    return fmt::format("{}{}{}", prediction.model.name,
                       prediction.model.has_batch ? fmt::format(", batch {}", workload.batch) : "",
                       degrees(prediction.plan));
  }
  return fmt::format("{} {}, batch {}, context {}{}", prediction.model.name, workload.phase,
                     workload.batch, workload.context, degrees(prediction.plan));
}

std::string calibration_text(const model::Prediction& prediction) {
  const std::string& name = prediction.machine.calibration;
  return name.empty() ? "not calibrated" : "calibration " + name;
}

std::string assumption_lines(const model::Prediction& prediction, std::string_view prefix) {
  std::string text;
  for (const std::string& sentence : prediction.assumptions) {
    text += paragraph(fmt::format("{}{}", prefix, sentence), 2);
  }
  return text;
}

double share(const model::OpPrediction& op, const model::Prediction& prediction) {
  return op.count * op.estimate_s / prediction.totals.estimate_s;
}

double memory_used(const model::Prediction& prediction) {
  const model::Prediction::Memory& memory = prediction.memory;
  return memory.weight_bytes + memory.kv_bytes + memory.activation_bytes;
}

}  // namespace mansard::cli
