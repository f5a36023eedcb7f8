#include <functional>

#include "cli/views/json.hpp"
#include "cli/views/kernel.hpp"
#include "cli/views/kernel_formulas.hpp"
#include "ir/expr_text.hpp"

namespace mansard::cli {
namespace {

using model::kernel::GlobalTotals;
using model::kernel::Report;
using model::kernel::SharedTotals;
using model::kernel::Slope;
using model::kernel::Totals;

/// Numbers of a launch; null where a count that nobody gave decides it.
class Counts {
 public:
  explicit Counts(const Report& report) : report_(report) {}

  Json operator()(const std::function<double(const Totals&)>& part) const {
    const bool known = report_.slopes.size() == report_.unknowns.size();
    for (const Slope& slope : report_.slopes) {
      if (part(slope.totals) != 0) {
        return nullptr;
      }
    }
    return known ? json_number(part(report_.totals)) : Json(nullptr);
  }
  Json global(GlobalTotals Totals::* of) const {
    const auto& count = *this;
    return {{"requests", count([of](const Totals& t) { return (t.*of).requests; })},
            {"sectors", count([of](const Totals& t) { return (t.*of).sectors; })},
            {"bytes", count([of](const Totals& t) { return (t.*of).bytes; })}};
  }
  Json shared(SharedTotals Totals::* of) const {
    const auto& count = *this;
    return {{"requests", count([of](const Totals& t) { return (t.*of).requests; })},
            {"wavefronts", count([of](const Totals& t) { return (t.*of).wavefronts; })},
            {"bank_conflicts", count([of](const Totals& t) { return (t.*of).bank_conflicts; })}};
  }

 private:
  const Report& report_;
};

Json counts_json(const Report& report) {
  const Counts count(report);
  Json pipes = Json::object();
  for (std::size_t p = 0; p < ir::kPipes; ++p) {
    pipes[std::string(ir::name_of(static_cast<ir::Pipe>(p)))] =
        count([p](const Totals& t) { return t.pipes[p]; });
  }
  return {
      {"thread_instructions", count([](const Totals& t) { return t.thread_instructions; })},
      {"warp_instructions", count([](const Totals& t) { return t.warp_instructions; })},
      {"warp_instructions_low", count([](const Totals& t) { return t.warp_instructions_low; })},
      {"warp_instructions_high", count([](const Totals& t) { return t.warp_instructions_high; })},
      {"ptx_warp_instructions", count([](const Totals& t) { return t.ptx_warp_instructions; })},
      {"pipes", pipes},
      {"flops",
       {{"fp32", count([](const Totals& t) { return t.flops_fp32; })},
        {"fp64", count([](const Totals& t) { return t.flops_fp64; })},
        {"fp16", count([](const Totals& t) { return t.flops_fp16; })},
        {"tensor", count([](const Totals& t) { return t.flops_tensor; })}}},
      {"special_ops", count([](const Totals& t) { return t.special; })},
      {"global_load", count.global(&Totals::global_load)},
      {"global_store", count.global(&Totals::global_store)},
      {"local_load", count.global(&Totals::local_load)},
      {"local_store", count.global(&Totals::local_store)},
      {"atomics", count.global(&Totals::atomics)},
      {"shared_load", count.shared(&Totals::shared_load)},
      {"shared_store", count.shared(&Totals::shared_store)},
      {"dram_bytes", report.unknowns.empty() ? json_number(report.dram_bytes) : Json(nullptr)},
      {"dram_read_bytes",
       report.unknowns.empty() ? json_number(report.traffic.dram_read) : Json(nullptr)},
      {"dram_write_bytes",
       report.unknowns.empty() ? json_number(report.traffic.dram_write) : Json(nullptr)},
      {"l2_read_bytes",
       report.unknowns.empty() ? json_number(report.traffic.l2_read) : Json(nullptr)},
      {"l2_write_bytes",
       report.unknowns.empty() ? json_number(report.traffic.l2_write) : Json(nullptr)}};
}

Json ceiling_json(const model::kernel::Ceiling& ceiling) {
  return {{"level", ceiling.name}, {"intensity", ceiling.intensity}, {"ridge", ceiling.ridge}};
}

Json terms_json(const Report& report, double model::kernel::Term::* part) {
  Json terms = Json::object();
  for (const model::kernel::Term& term : report.terms) {
    if (term.*part > 0) {
      terms[term.name] = term.*part;
    }
  }
  return terms;
}

Json diagnosis_json(const Report& report) {
  Json all = Json::array();
  for (const model::kernel::Finding& each : report.diagnosis) {
    all.push_back({{"finding", each.what}, {"metric", each.metric}, {"rewrite", each.rewrite}});
  }
  return all;
}

Json answer_json(const KernelAnswer& answer) {
  const Report& r = answer.report;
  const bool known = r.unknowns.empty();
  const auto time = [&](double seconds) { return known ? Json(seconds) : Json(nullptr); };
  Json json = {{"schema", "mansard.kernel/1"},
               {"kernel", r.kernel},
               {"machine", r.machine},
               {"launch",
                {{"grid", r.launch.grid},
                 {"block", r.launch.block},
                 {"dynamic_shared_bytes", r.launch.dynamic_shared}}},
               {"assumptions", r.assumptions},
               {"unknowns", r.unknowns},
               {"counts", counts_json(r)},
               {"registers", r.resources.registers},
               {"registers_from", r.resources.assembled ? "ptxas" : "estimate"},
               {"shared_bytes", r.resources.static_shared + r.launch.dynamic_shared},
               {"occupancy", r.occupancy.fraction},
               {"occupancy_limiter", r.occupancy.limiter},
               {"blocks_per_sm", r.occupancy.blocks_per_sm},
               {"waves", r.occupancy.waves},
               {"bound_s", time(r.bound_s)},
               {"estimate_s", time(r.estimate_s)},
               {"low_s", time(r.low_s)},
               {"high_s", time(r.high_s)},
               {"launch_s", r.launch_s},
               {"binding", r.binding},
               {"bound_terms_s", terms_json(r, &model::kernel::Term::bound_s)},
               {"estimate_terms_s", terms_json(r, &model::kernel::Term::estimate_s)},
               {"footprint",
                {{"block_bytes", json_number(r.traffic.block_footprint)},
                 {"wave_bytes", json_number(r.traffic.wave_footprint)},
                 {"read_bytes", json_number(r.traffic.read_footprint)},
                 {"write_bytes", json_number(r.traffic.write_footprint)}}}};
  Json levels = Json::array();
  for (const model::kernel::Ceiling& each : r.roofline) {
    levels.push_back(ceiling_json(each));
  }
  json["roofline"] = levels;
  if (r.instructions) {
    json["instruction_roofline"] = {{"warp_instructions_per_sector", r.instructions->intensity},
                                    {"ridge", r.instructions->ridge},
                                    {"ceiling_per_s", r.instruction_ceiling},
                                    {"rate_per_s", r.instruction_rate}};
  }
  json["diagnosis"] = diagnosis_json(r);
  if (answer.formulas) {
    json["loops"] = loops_json(*answer.formulas);
    json["per_thread"] = {{"thread_instructions", ir::print(answer.formulas->thread_instructions)},
                          {"flops", ir::print(answer.formulas->flops)},
                          {"global_bytes", ir::print(answer.formulas->global_bytes)}};
  }
  if (!answer.case_name.empty()) {
    json["case"] = answer.case_name;
  }
  if (answer.measured_s) {
    json["measured_s"] = *answer.measured_s;
  }
  Json lines = Json::array();
  for (const LineDemand& each : answer.lines) {
    lines.push_back({{"line", each.line},
                     {"warp_instructions", json_number(each.warp_instructions)},
                     {"flops", json_number(each.flops)},
                     {"global_sectors", json_number(each.global_sectors)},
                     {"shared_wavefronts", json_number(each.shared_wavefronts)},
                     {"bank_conflicts", json_number(each.bank_conflicts)}});
  }
  if (!answer.lines.empty()) {
    json["lines"] = lines;
  }
  return json;
}

}  // namespace

std::string kernel_json(const std::vector<KernelAnswer>& answers) {
  if (answers.size() == 1) {
    return json_text(answer_json(answers[0]));
  }
  Json all = Json::array();
  for (const KernelAnswer& each : answers) {
    all.push_back(answer_json(each));
  }
  return json_text(all);
}

}  // namespace mansard::cli
