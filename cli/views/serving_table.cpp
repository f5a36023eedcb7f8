#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "cli/views/serving.hpp"
#include "cli/views/text_table.hpp"

namespace mansard::cli {
namespace {

namespace serve = model::serve;

std::string time_text(double value, const serve::Distribution& d) {
  return d.count() == 0 ? "-" : seconds(value);
}

std::string latencies(const serve::ServiceReport& r) {
  TextTable table;
  table.column("", TextTable::Align::kLeft);
  for (const char* heading : {"mean", "p50", "p90", "p95", "p99", "max"}) {
    table.column(heading);
  }
  const auto row = [&](const char* name, const serve::Distribution& d) {
    table.row({name, time_text(d.mean(), d), time_text(d.quantile(0.5), d),
               time_text(d.quantile(0.9), d), time_text(d.quantile(0.95), d),
               time_text(d.quantile(0.99), d), time_text(d.greatest(), d)});
  };
  row("TTFT", r.ttft);
  row("TPOT", r.tpot);
  row("ITL", r.itl);
  row("latency", r.latency);
  row("queueing", r.queueing);
  return table.render();
}

const char* word(bool on) {
  return on ? "on" : "off";
}

std::string engine_text(const serve::EngineSettings& s) {
  constexpr std::array<const char*, 4> kOrders{"fcfs", "priority", "shortest", "fair"};
  return fmt::format(
      "{} sequences, {} tokens an iteration, chunked prefill {}, prefix caching {}, {} first, "
      "{}, preemption by {}, asynchronous scheduling {}, {}{}",
      s.max_num_seqs, s.max_num_batched_tokens, word(s.enable_chunked_prefill),
      word(s.enable_prefix_caching),
      s.precedence == serve::Precedence::kDecodeFirst ? "decode" : "prefill",
      kOrders[static_cast<std::size_t>(s.order)],
      s.preemption == serve::Preemption::kSwap ? "swapping" : "recomputing",
      word(s.async_scheduling),
      s.enforce_eager ? std::string("eager")
                      : fmt::format("graphs up to {} tokens", s.captured().back()),
      s.draft_tokens > 0 ? fmt::format(", {} drafted tokens of which each is accepted by {:g}",
                                       s.draft_tokens, s.acceptance)
                         : "");
}

std::string pool_text(const ServeAnswer::PoolInfo& pool) {
  const auto tokens = static_cast<double>(pool.blocks * pool.settings.block_size);
  return fmt::format(
      "engine    {}"
      "memory    weights {} + KV {} + activations {} + runtime {} of {} per GPU; {} blocks of {} "
      "tokens = {} tokens\n",
      paragraph(engine_text(pool.settings), 10), bytes(pool.memory.weights), bytes(pool.memory.kv),
      bytes(pool.memory.activations), bytes(pool.memory.runtime), bytes(pool.memory.capacity),
      pool.blocks, pool.settings.block_size, grouped(tokens));
}

std::string requests_text(const ServeAnswer& answer) {
  const serve::ServiceReport& r = answer.report;
  std::string text = fmt::format("requests  {} of {} completed", r.completed, r.requests);
  for (const auto& [reason, count] : r.rejected) {
    text += fmt::format(", {} rejected: {}", count, reason);
  }
  if (answer.read && answer.read->unreadable > 0) {
    text += fmt::format("; {} of {} rows unreadable", answer.read->unreadable, answer.read->rows);
  }
  if (answer.read && answer.read->out_of_order > 0) {
    text += fmt::format("; {} rows out of order, {} of them beyond sorting",
                        answer.read->out_of_order, answer.read->too_late);
  }
  if (answer.read && answer.read->failed > 0) {
    text += fmt::format("; {} failed when traced", answer.read->failed);
  }
  return text + "\n";
}

std::string rates_text(const ServeAnswer& answer) {
  const serve::ServiceReport& r = answer.report;
  const double span = r.makespan > 0 ? r.makespan : 1;
  std::string text =
      fmt::format("rates     {} requests/s, {} input tokens/s, {} output tokens/s over {}\n",
                  ratio(static_cast<double>(r.completed) / span),
                  ratio(static_cast<double>(r.input_tokens) / span),
                  ratio(r.output_tokens_per_second()), seconds(r.makespan));
  if (answer.objectives.any()) {
    text += fmt::format(
        "goodput   {} requests/s, {} of the requests within the objectives\n",
        ratio(static_cast<double>(r.good) / span),
        percent(r.requests > 0 ? static_cast<double>(r.good) / static_cast<double>(r.requests)
                               : 0));
  }
  return text;
}

std::string use_text(const serve::ServiceReport& r) {
  double batch = 0;
  double kv = 0;
  double on = 0;
  std::vector<double> busy(r.resources.size());
  for (const serve::Timeline::Interval& i : r.timeline.intervals()) {
    batch += i.sequences;
    kv += i.kv_used;
    on += i.seconds;
    for (std::size_t k = 0; k < busy.size(); ++k) {
      busy[k] += i.busy[k];
    }
  }
  std::string bound;
  for (std::size_t k = 0; k < busy.size(); ++k) {
    if (r.on_seconds > 0 && busy[k] >= 0.005 * r.on_seconds) {
      bound += fmt::format("{}{} {}", bound.empty() ? "" : ", ", r.resources[k],
                           percent(busy[k] / r.on_seconds));
    }
  }
  const auto iterations = static_cast<double>(r.counts.iterations);
  std::string text = fmt::format(
      "use       {} busy (by what binds: {}), {} of it prompts\n"
      "          {} iterations of {} sequences in the mean, KV cache {} full, {} preemptions\n",
      percent(r.on_seconds > 0 ? r.busy_seconds / r.on_seconds : 0), bound.empty() ? "-" : bound,
      percent(r.busy_seconds > 0 ? r.prompt_seconds / r.busy_seconds : 0), r.counts.iterations,
      ratio(iterations > 0 ? batch / iterations : 0), percent(on > 0 ? kv / on : 0),
      r.counts.preemptions);
  if (r.cached_tokens > 0 || r.counts.recomputed_tokens > 0) {
    text += fmt::format("          {} prompt tokens from the prefix cache, {} computed again\n",
                        grouped(static_cast<double>(r.cached_tokens)),
                        grouped(static_cast<double>(r.counts.recomputed_tokens)));
  }
  if (r.counts.drafted > 0) {
    text += fmt::format(
        "          {} of drafted tokens accepted\n",
        percent(static_cast<double>(r.counts.accepted) / static_cast<double>(r.counts.drafted)));
  }
  if (r.failures > 0) {
    text += fmt::format("          {} failures of replicas\n", r.failures);
  }
  return text;
}

std::string cost_text(const serve::ServiceReport& r) {
  const ServingCost cost = serving_cost(r);
  std::string text;
  if (cost.usd_per_million_output) {
    text += fmt::format("cost      {} USD, {} USD per million output tokens", ratio(*r.usd),
                        ratio(*cost.usd_per_million_output));
    if (cost.usd_per_million_input_share && cost.usd_per_million_output_share) {
      text += fmt::format(" (apart: {} input, {} output)", ratio(*cost.usd_per_million_input_share),
                          ratio(*cost.usd_per_million_output_share));
    }
    text += "\n";
  } else {
    text += "cost      price not known (--price)\n";
  }
  if (r.has_energy && r.output_tokens > 0) {
    text += fmt::format("energy    {} J per output token\n",
                        ratio(r.joules / static_cast<double>(r.output_tokens)));
  }
  return text;
}

std::string against_text(const serve::RunComparison& comparison) {
  TextTable table;
  table.column("against the measured run", TextTable::Align::kLeft);
  for (const char* heading : {"simulated", "measured", "error"}) {
    table.column(heading);
  }
  for (const serve::ComparedFigure& f : comparison.figures) {
    const bool rate = f.statistic.empty();
    table.row({rate ? "output tokens/s" : fmt::format("{} {}", f.metric, f.statistic),
               rate ? ratio(f.simulated) : seconds(f.simulated),
               rate ? ratio(f.measured) : seconds(f.measured),
               fmt::format("{:+.1f} %", 100 * f.error())});
  }
  return "\n" + table.render();
}

std::string one(const ServeAnswer& answer) {
  std::string machines;
  for (const ServeAnswer::PoolInfo& pool : answer.pools) {
    machines += fmt::format("{}{} x {}{}", machines.empty() ? "" : " + ", pool.replicas,
                            pool.gpus > 1 ? fmt::format("{:g} ", pool.gpus) : "", pool.machine);
    machines += pool.role == serve::Role::kPrefill  ? " (prefill)"
                : pool.role == serve::Role::kDecode ? " (decode)"
                                                    : "";
  }
  std::string text =
      fmt::format("{} on {}, {}{}\n", answer.model, machines, answer.source,
                  answer.report.most_replicas > 1 ? fmt::format(", routed {}", answer.router) : "");
  for (const ServeAnswer::PoolInfo& pool : answer.pools) {
    text += pool_text(pool);
  }
  text += "\n" + latencies(answer.report) + "\n" + requests_text(answer) + rates_text(answer) +
          use_text(answer.report) + cost_text(answer.report);
  if (answer.against) {
    text += against_text(*answer.against);
  }
  if (!answer.assumptions.empty()) {
    text += "\n";
  }
  for (const std::string& assumption : answer.assumptions) {
    text += paragraph("assumed: " + assumption, 9);
  }
  text += "\n" +
          paragraph(
              "TTFT: first token less arrival; TPOT: last less first token over output tokens less "
              "one; ITL: between one token and the next; latency: last token less arrival; "
              "queueing: first scheduled less arrival; pNN: NN % are not above it, ranks between "
              "two in proportion");
  return text;
}

Records records_of(std::span<const ServeAnswer> answers) {
  Records table;
  for (const auto& [option, value] : answers.front().varied) {
    table.column({option, option, TextTable::Align::kLeft});
  }
  table.column({"gpus", "GPUs"});
  table.column({"completed", "done"});
  table.column({"rejected", "rejected"});
  for (const char* metric : {"ttft", "tpot", "latency"}) {
    table.column({fmt::format("{}_mean_s", metric), fmt::format("{}\nmean", metric)});
    table.column({fmt::format("{}_p90_s", metric), fmt::format("{}\np90", metric)});
    table.column({fmt::format("{}_p99_s", metric), ""});
  }
  table.column({"requests_per_second", "req/s"});
  table.column({"output_tokens_per_second", "tok/s"});
  table.column({"good_share", "good"});
  table.column({"utilization", "busy"});
  table.column({"preemptions", "preempted"});
  table.column({"usd_per_million_output_tokens", "USD/M"});
  for (const ServeAnswer& answer : answers) {
    const serve::ServiceReport& r = answer.report;
    std::vector<Cell> cells;
    for (const auto& [option, value] : answer.varied) {
      cells.push_back(Cell::text(value));
    }
    const auto number = [&](double value, std::string shown) {
      cells.push_back(Cell::number(value, std::move(shown)));
    };
    const auto count = [&](std::uint64_t value) {
      number(static_cast<double>(value), fmt::format("{}", value));
    };
    const double span = r.makespan > 0 ? r.makespan : 1;
    number(r.gpus, fmt::format("{:g}", r.gpus));
    count(r.completed);
    count(r.rejections());
    for (const serve::Distribution* d : {&r.ttft, &r.tpot, &r.latency}) {
      number(d->mean(), seconds(d->mean()));
      number(d->quantile(0.9), seconds(d->quantile(0.9)));
      number(d->quantile(0.99), "");
    }
    number(static_cast<double>(r.completed) / span, ratio(static_cast<double>(r.completed) / span));
    number(r.output_tokens_per_second(), ratio(r.output_tokens_per_second()));
    if (answer.objectives.any() && r.requests > 0) {
      const double share = static_cast<double>(r.good) / static_cast<double>(r.requests);
      number(share, percent(share));
    } else {
      cells.push_back(Cell::none());
    }
    const double busy = r.on_seconds > 0 ? r.busy_seconds / r.on_seconds : 0;
    number(busy, percent(busy));
    count(r.counts.preemptions);
    const ServingCost cost = serving_cost(r);
    cells.push_back(cost.usd_per_million_output ? Cell::number(*cost.usd_per_million_output,
                                                               ratio(*cost.usd_per_million_output))
                                                : Cell::unknown());
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace

std::string serving_table(std::span<const ServeAnswer> answers) {
  if (answers.size() == 1) {
    return one(answers.front());
  }
  const bool one_source = std::ranges::all_of(
      answers, [&](const ServeAnswer& answer) { return answer.source == answers.front().source; });
  return fmt::format("{}{}\n\n", answers.front().model,
                     one_source ? ", " + answers.front().source : "") +
         records_of(answers).table(140);
}

std::string serving_csv(std::span<const ServeAnswer> answers) {
  return records_of(answers).csv();
}

}  // namespace mansard::cli
