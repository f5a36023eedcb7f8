#include "cli/views/json.hpp"
#include "cli/views/prediction.hpp"

namespace mansard::cli {
namespace {

Json terms_json(const std::vector<model::TermValue>& terms) {
  Json result = Json::object();
  for (const model::TermValue& term : terms) {
    result[term.resource] = term.seconds;
  }
  return result;
}

Json op_json(const model::OpPrediction& op) {
  return {{"name", op.name},
          {"kind", op.kind},
          {"count", json_number(op.count)},
          {"flops", json_number(op.flops)},
          {"vector_flops", json_number(op.vector_flops)},
          {"special_ops", json_number(op.special_ops)},
          {"bytes", json_number(op.bytes)},
          {"main_bytes", json_number(op.main_bytes)},
          {"intensity", op.intensity},
          {"bound_s", op.bound_s},
          {"estimate_s", op.estimate_s},
          {"low_s", op.low_s},
          {"high_s", op.high_s},
          {"binding", op.binding},
          {"bound_terms_s", terms_json(op.bound_terms)},
          {"estimate_terms_s", terms_json(op.estimate_terms)}};
}

Json totals_json(const model::Prediction::Totals& totals) {
  Json result = {{"bound_s", totals.bound_s},
                 {"estimate_s", totals.estimate_s},
                 {"low_s", totals.low_s},
                 {"high_s", totals.high_s},
                 {"flops", json_number(totals.flops)},
                 {"vector_flops", json_number(totals.vector_flops)},
                 {"bytes", json_number(totals.bytes)},
                 {"main_bytes", json_number(totals.main_bytes)},
                 {"tokens_per_second", totals.tokens_per_second},
                 {"ops_s", json_number(totals.ops_s)},
                 {"stretched_by", totals.stretched_by.empty() ? Json() : Json(totals.stretched_by)},
                 {"tpot_s", json_optional(totals.tpot_s)},
                 {"joules", json_optional(totals.joules)},
                 {"usd_per_million_tokens", json_optional(totals.usd_per_million_tokens)}};
  if (totals.critical_path_s) {
    result["critical_path_s"] = *totals.critical_path_s;
  }
  return result;
}

Json workload_json(const model::Prediction& prediction) {
  const model::Plan& plan = prediction.plan;
  return {{"phase", prediction.workload.phase},
          {"batch", prediction.workload.batch},
          {"context", prediction.workload.context},
          {"tp", plan.parallelism.tp},
          {"pp", plan.pp},
          {"ep", plan.parallelism.ep},
          {"dp", plan.parallelism.dp},
          {"cp", plan.parallelism.cp},
          {"microbatches", plan.repeats()},
          {"gpus", plan.gpus()}};
}

Json memory_json(const model::Prediction::Memory& memory) {
  return {{"weight_bytes", json_number(memory.weight_bytes)},
          {"kv_bytes", json_number(memory.kv_bytes)},
          {"activation_bytes", json_number(memory.activation_bytes)},
          {"capacity_bytes",
           memory.capacity_bytes ? json_number(*memory.capacity_bytes) : Json(nullptr)},
          {"fits", memory.fits},
          {"largest_batch", json_optional(memory.largest_batch)},
          {"largest_context", json_optional(memory.largest_context)}};
}

Json prediction_to_json(const model::Prediction& prediction) {
  Json ops = Json::array();
  for (const model::OpPrediction& op : prediction.ops) {
    ops.push_back(op_json(op));
  }
  const model::Prediction::Model& m = prediction.model;
  Json result = {
      {"schema", "mansard.prediction/1"},
      {"model",
       {{"name", m.name},
        {"parameters", m.parameters},
        {"active_parameters", m.active_parameters},
        {"active_parameters_without_embedding", m.active_parameters_without_embedding},
        {"weight_bytes", json_number(m.weight_bytes)},
        {"kv_bytes_per_token", json_number(m.kv_bytes_per_token)}}},
      {"machine",
       {{"name", prediction.machine.name}, {"calibration", prediction.machine.calibration}}},
      {"workload", workload_json(prediction)},
      {"totals", totals_json(prediction.totals)},
      {"memory", memory_json(prediction.memory)}};
  if (prediction.slo_batch) {
    result["slo_batch"] = *prediction.slo_batch;
  }
  result["ops"] = std::move(ops);
  result["assumptions"] = prediction.assumptions;
  return result;
}

}  // namespace

std::string prediction_json(std::span<const model::Prediction> predictions) {
  if (predictions.size() == 1) {
    return json_text(prediction_to_json(predictions.front()));
  }
  Json list = Json::array();
  for (const model::Prediction& prediction : predictions) {
    list.push_back(prediction_to_json(prediction));
  }
  return json_text(list);
}

}  // namespace mansard::cli
