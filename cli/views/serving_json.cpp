#include <array>

#include "cli/views/json.hpp"
#include "cli/views/serving.hpp"

namespace mansard::cli {
namespace {

namespace serve = model::serve;

Json distribution_json(const serve::Distribution& d) {
  return {{"mean", d.mean()},        {"p50", d.quantile(0.5)},  {"p90", d.quantile(0.9)},
          {"p95", d.quantile(0.95)}, {"p99", d.quantile(0.99)}, {"max", d.greatest()},
          {"count", d.count()}};
}

Json requests_json(const ServeAnswer& answer) {
  const serve::ServiceReport& r = answer.report;
  Json reasons = Json::object();
  for (const auto& [reason, count] : r.rejected) {
    reasons[reason] = count;
  }
  Json result = {{"total", r.requests},
                 {"completed", r.completed},
                 {"rejected", r.rejections()},
                 {"rejected_by_reason", std::move(reasons)}};
  if (answer.read) {
    const traces::requests::ReadReport& read = *answer.read;
    result["trace"] = {{"format", read.format},
                       {"rows", read.rows},
                       {"unreadable", read.unreadable},
                       {"failed", read.failed},
                       {"out_of_order", read.out_of_order},
                       {"too_late", read.too_late},
                       {"equal_times", read.equal_times},
                       {"zero_input", read.zero_input},
                       {"zero_output", read.zero_output},
                       {"greatest_gap_s", read.greatest_gap}};
  }
  return result;
}

Json settings_json(const serve::EngineSettings& s) {
  return {{"block_size", s.block_size},
          {"num_gpu_blocks", s.num_blocks.value_or(0)},
          {"max_num_seqs", s.max_num_seqs},
          {"max_num_batched_tokens", s.max_num_batched_tokens},
          {"max_model_len", s.max_model_len},
          {"enable_chunked_prefill", s.enable_chunked_prefill},
          {"enable_prefix_caching", s.enable_prefix_caching},
          {"gpu_memory_utilization", s.gpu_memory_utilization},
          {"async_scheduling", s.async_scheduling},
          {"enforce_eager", s.enforce_eager},
          {"long_prefill_token_threshold", s.long_prefill_token_threshold},
          {"watermark", s.watermark},
          {"draft_tokens", s.draft_tokens},
          {"host_s", s.host_seconds},
          {"host_s_per_sequence", s.host_seconds_per_sequence}};
}

Json pools_json(const ServeAnswer& answer) {
  constexpr std::array<const char*, 3> kRoles{"both", "prefill", "decode"};
  Json result = Json::array();
  for (const ServeAnswer::PoolInfo& pool : answer.pools) {
    result.push_back({{"machine", pool.machine},
                      {"calibration", pool.calibration},
                      {"role", kRoles[static_cast<std::size_t>(pool.role)]},
                      {"replicas", pool.replicas},
                      {"gpus_per_replica", json_number(pool.gpus)},
                      {"kv_blocks", pool.blocks},
                      {"memory",
                       {{"capacity_bytes", json_number(pool.memory.capacity)},
                        {"weight_bytes", json_number(pool.memory.weights)},
                        {"activation_bytes", json_number(pool.memory.activations)},
                        {"runtime_bytes", json_number(pool.memory.runtime)},
                        {"kv_bytes", json_number(pool.memory.kv)},
                        {"kv_bytes_per_token", json_number(pool.memory.kv_per_token)}}},
                      {"engine", settings_json(pool.settings)}});
  }
  return result;
}

Json timeline_json(const serve::ServiceReport& r) {
  Json result = Json::array();
  double time = 0;
  for (const serve::Timeline::Interval& i : r.timeline.intervals()) {
    const double on = i.seconds > 0 ? i.seconds : 1;
    const double iterations = i.iterations > 0 ? i.iterations : 1;
    Json busy = Json::object();
    for (std::size_t k = 0; k < r.resources.size() && k < i.busy.size(); ++k) {
      if (i.busy[k] > 0) {
        busy[r.resources[k]] = i.busy[k] / on;
      }
    }
    result.push_back({{"start_s", time},
                      {"running", i.running / on},
                      {"waiting", i.waiting / on},
                      {"kv_used", i.kv_used / on},
                      {"batch", i.sequences / iterations},
                      {"tokens", json_number(i.tokens)},
                      {"output_tokens", json_number(i.output_tokens)},
                      {"preemptions", json_number(i.preemptions)},
                      {"busy", std::move(busy)}});
    time += r.timeline.width();
  }
  return result;
}

Json binding_json(const serve::ServiceReport& r) {
  std::vector<double> busy(r.resources.size());
  for (const serve::Timeline::Interval& i : r.timeline.intervals()) {
    for (std::size_t k = 0; k < busy.size() && k < i.busy.size(); ++k) {
      busy[k] += i.busy[k];
    }
  }
  Json result = Json::object();
  for (std::size_t k = 0; k < busy.size(); ++k) {
    result[r.resources[k]] = r.on_seconds > 0 ? busy[k] / r.on_seconds : 0;
  }
  return result;
}

Json against_json(const serve::RunComparison& comparison) {
  Json figures = Json::array();
  for (const serve::ComparedFigure& f : comparison.figures) {
    figures.push_back({{"metric", f.metric},
                       {"statistic", f.statistic},
                       {"simulated", f.simulated},
                       {"measured", f.measured},
                       {"error", f.error()}});
  }
  return {{"requests", comparison.measured_requests}, {"figures", std::move(figures)}};
}

Json answer_json(const ServeAnswer& answer) {
  const serve::ServiceReport& r = answer.report;
  const ServingCost cost = serving_cost(r);
  const double span = r.makespan > 0 ? r.makespan : 1;
  Json result = {{"schema", "mansard.serving/1"}, {"model", answer.model}};
  for (const auto& [option, value] : answer.varied) {
    result["varied"][option] = value;
  }
  result["source"] = answer.source;
  result["pools"] = pools_json(answer);
  result["router"] = answer.router;
  result["gpus"] = json_number(r.gpus);
  result["requests"] = requests_json(answer);
  result["ttft_s"] = distribution_json(r.ttft);
  result["tpot_s"] = distribution_json(r.tpot);
  result["itl_s"] = distribution_json(r.itl);
  result["latency_s"] = distribution_json(r.latency);
  result["queueing_s"] = distribution_json(r.queueing);
  result["duration_s"] = r.makespan;
  result["requests_per_second"] = static_cast<double>(r.completed) / span;
  result["input_tokens_per_second"] = static_cast<double>(r.input_tokens) / span;
  result["output_tokens_per_second"] = r.output_tokens_per_second();
  if (answer.objectives.any()) {
    result["goodput"] = {
        {"requests_per_second", static_cast<double>(r.good) / span},
        {"share",
         r.requests > 0 ? static_cast<double>(r.good) / static_cast<double>(r.requests) : 0}};
  }
  result["usd_per_million_output_tokens"] = json_optional(cost.usd_per_million_output);
  result["cost"] = {
      {"usd", json_optional(r.usd)},
      {"usd_per_million_input_tokens", json_optional(cost.usd_per_million_input_share)},
      {"usd_per_million_cached_tokens", json_optional(cost.usd_per_million_cached_share)},
      {"usd_per_million_generated_tokens", json_optional(cost.usd_per_million_output_share)}};
  result["joules"] = r.has_energy ? Json(r.joules) : Json(nullptr);
  result["tokens"] = {{"input", r.input_tokens},
                      {"cached", r.cached_tokens},
                      {"output", r.output_tokens},
                      {"rejected_input", r.rejected_input_tokens},
                      {"rejected_output", r.rejected_output_tokens},
                      {"computed_prompt", r.counts.prompt_tokens},
                      {"recomputed", r.counts.recomputed_tokens}};
  result["iterations"] = r.counts.iterations;
  result["preemptions"] = r.counts.preemptions;
  result["swapped_blocks"] = r.counts.swapped_blocks;
  result["evicted_blocks"] = r.evictions;
  result["drafted_tokens"] = r.counts.drafted;
  result["accepted_tokens"] = r.counts.accepted;
  result["transfers"] = r.transfers;
  result["failures"] = r.failures;
  result["most_replicas"] = r.most_replicas;
  result["utilization"] = r.on_seconds > 0 ? r.busy_seconds / r.on_seconds : 0;
  result["prompt_share"] = r.busy_seconds > 0 ? r.prompt_seconds / r.busy_seconds : 0;
  result["binding"] = binding_json(r);
  result["percentiles_exact"] = r.itl.exact() && r.ttft.exact();
  if (answer.against) {
    result["against"] = against_json(*answer.against);
  }
  result["timeline"] = timeline_json(r);
  result["assumptions"] = answer.assumptions;
  return result;
}

std::optional<double> per_million(double usd, std::uint64_t tokens) {
  return tokens > 0 ? std::optional(usd / static_cast<double>(tokens) * 1e6) : std::nullopt;
}

}  // namespace

ServingCost serving_cost(const serve::ServiceReport& r) {
  ServingCost result;
  if (!r.usd) {
    return result;
  }
  const double prompts = r.busy_seconds > 0 ? r.prompt_seconds / r.busy_seconds : 0;
  result.usd_per_million_output = per_million(*r.usd, r.output_tokens);
  result.usd_per_million_input_share =
      per_million(*r.usd * prompts, r.input_tokens - std::min(r.cached_tokens, r.input_tokens));
  if (r.cached_tokens > 0) {
    result.usd_per_million_cached_share = 0;  // not computed
  }
  result.usd_per_million_output_share = per_million(*r.usd * (1 - prompts), r.output_tokens);
  return result;
}

std::string serving_json(std::span<const ServeAnswer> answers) {
  if (answers.size() == 1) {
    return json_text(answer_json(answers.front()));
  }
  Json list = Json::array();
  for (const ServeAnswer& answer : answers) {
    list.push_back(answer_json(answer));
  }
  return json_text(list);
}

}  // namespace mansard::cli
