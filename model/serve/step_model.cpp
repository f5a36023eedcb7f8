#include "model/serve/step_model.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "ir/expr_text.hpp"

namespace mansard::model::serve {
namespace {

bool reads(const std::vector<ir::Expr>& symbols, std::string_view prefix) {
  return std::ranges::any_of(symbols,
                             [&](ir::Expr symbol) { return symbol->symbol.starts_with(prefix); });
}

std::vector<ir::Expr> roots_of(const OpCost& op) {
  std::vector<ir::Expr> roots{op.estimate.expr(), op.host.expr()};
  for (const Term& term : op.bound_terms) {
    roots.push_back(term.time.expr());
  }
  return roots;
}

/// Whether an op costs the same however its tokens are spread over sequences: tried at spreads of
/// a few and of many tokens.
bool is_over_tokens(const OpCost& op, const CostModel& model, double ranks) {
  const auto at = [&](ir::Evaluator& evaluator, double batch, double q_len) {
    std::vector<double> out(roots_of(op).size());
    evaluator.evaluate(model.bindings({{"batch", ranks * batch}, {"q_len", q_len}}), out);
    return out;
  };
  ir::Evaluator evaluator(roots_of(op));
  const bool few =
      at(evaluator, 12, 1) == at(evaluator, 1, 12) && at(evaluator, 12, 1) == at(evaluator, 6, 2);
  return few && at(evaluator, 1536, 1) == at(evaluator, 1, 1536) &&
         at(evaluator, 1536, 1) == at(evaluator, 512, 3);
}

/// The ops of a model by what their cost depends on.
struct Classes {
  std::vector<std::size_t> tokens, heads, sequences;
};

Classes classes_of(const CostModel& model, double ranks) {
  Classes result;
  for (std::size_t i = 0; i < model.ops.size(); ++i) {
    const std::vector<ir::Expr> symbols = ir::symbols_of(roots_of(model.ops[i]));
    if (reads(symbols, "mean.")) {
      result.sequences.push_back(i);
    } else if (!reads(symbols, "q_len") && reads(symbols, "batch")) {
      result.heads.push_back(i);
    } else if (is_over_tokens(model.ops[i], model, ranks)) {
      result.tokens.push_back(i);
    } else {
      result.sequences.push_back(i);
    }
  }
  return result;
}

/// What makes ops of two graphs the same work.
std::string signature(const CostModel& model, std::size_t index) {
  const ir::Op& op = model.graph->op(model.ops[index].demand.op);
  std::string text = fmt::format("{} {}", op.name, op.def->name);
  for (const auto& [name, extent] : op.dims) {
    text += fmt::format(" {}={}", name, ir::print(extent));
  }
  return text;
}

std::vector<std::size_t> missing_from(const std::vector<std::size_t>& ops, const CostModel& model,
                                      const std::vector<std::size_t>& others,
                                      const CostModel& other, bool keep_common) {
  std::set<std::string> known;
  for (const std::size_t i : others) {
    known.insert(signature(other, i));
  }
  std::vector<std::size_t> result;
  for (const std::size_t i : ops) {
    if (known.contains(signature(model, i)) == keep_common) {
      result.push_back(i);
    }
  }
  return result;
}

Result<CostModel> cost_of(const ir::Graph& graph, const StepModelInputs& inputs) {
  CostOptions options = inputs.options;
  // For the host's times, where no graph is captured; estimates are those of a graph. Compiled
  // pieces issue kernels one after another without the checks of PyTorch's eager mode.
  options.mode = options.mode == Mode::kEager ? Mode::kEager : Mode::kStream;
  options.chained = true;
  return build_cost_model(graph, inputs.machine, inputs.calibration, options);
}

}  // namespace

Result<std::unique_ptr<StepModel>> StepModel::build(const StepModelInputs& inputs) {
  Plan plan = inputs.plan;
  plan.microbatches = 1;  // an iteration is one microbatch
  plan.speculation = {};  // the batch says how many tokens are new
  auto decode = prepare(inputs.decode, plan);
  auto prefill = prepare(inputs.prefill, plan);
  if (!decode || !prefill) {
    return failure(std::move(decode ? prefill.error() : decode.error()));
  }
  RaggedGraph ragged_decode = make_ragged(std::move(*decode));
  RaggedGraph ragged_prefill = make_ragged(std::move(*prefill));
  auto decode_cost = cost_of(ragged_decode.graph, inputs);
  auto prefill_cost = cost_of(ragged_prefill.graph, inputs);
  if (!decode_cost || !prefill_cost) {
    return failure(std::move(decode_cost ? prefill_cost.error() : decode_cost.error()));
  }
  return std::unique_ptr<StepModel>(new StepModel(
      *decode_cost, *prefill_cost, std::move(ragged_decode), std::move(ragged_prefill), inputs));
}

StepModel::StepModel(const CostModel& decode, const CostModel& prefill, RaggedGraph ragged_decode,
                     RaggedGraph ragged_prefill, const StepModelInputs& inputs)
    : ranks_(static_cast<double>(inputs.plan.parallelism.dp)),
      devices_(static_cast<double>(inputs.plan.gpus()) / ranks_),
      captured_(inputs.captured) {
  const Classes d = classes_of(decode, ranks_);
  const Classes p = classes_of(prefill, ranks_);
  const auto common = missing_from(d.tokens, decode, p.tokens, prefill, true);
  const auto of_decode = missing_from(d.tokens, decode, p.tokens, prefill, false);
  const auto of_prefill = missing_from(p.tokens, prefill, d.tokens, decode, false);
  tokens_.emplace_back(decode, common, resources_);
  heads_.emplace_back(decode, d.heads, resources_);
  decode_.ragged = std::move(ragged_decode);
  prefill_.ragged = std::move(ragged_prefill);
  decode_.parts.emplace_back(decode, d.sequences, resources_);
  prefill_.parts.emplace_back(prefill, p.sequences, resources_);
  decode_.tokens.emplace_back(decode, of_decode, resources_);
  prefill_.tokens.emplace_back(prefill, of_prefill, resources_);
  resources_.resize(std::min(resources_.size(), kMostResources));
  for (Sequences* of : {&decode_, &prefill_}) {
    of->tables.resize(of->ragged.means.size());
    if (!of->ragged.means.empty()) {
      of->of_sequence.emplace(of->ragged.of_sequence);
    }
  }
  std::vector<ir::Expr> totals{decode.of_sums.time.expr()};
  if (decode.of_sums.energy) {
    totals.push_back(decode.of_sums.energy.expr());
    has_energy_ = true;
  }
  totals_.emplace(totals);
  for (const ir::Expr symbol : totals_->symbols()) {
    const double* fixed = decode.machine_values.find(symbol->symbol);
    totals_values_.push_back(fixed != nullptr ? *fixed : 0);
  }
  sums_.resize(std::max(decode_.ragged.means.size(), prefill_.ragged.means.size()));
  for (const auto* notes :
       {&inputs.machine.changes, &decode.assumptions, &decode.graph->facts.notes}) {
    assumptions_.insert(assumptions_.end(), notes->begin(), notes->end());
  }
}

std::optional<std::uint32_t> StepModel::graph_size(std::uint64_t tokens) const {
  const auto found = std::ranges::lower_bound(captured_, tokens);
  return found == captured_.end() ? std::nullopt : std::optional(*found);
}

void StepModel::evaluate_sequence(Sequences& of, double new_tokens, double context,
                                  std::span<double> out) {
  if (!of.of_sequence) {
    return;
  }
  std::array<double, 2> values{};
  std::size_t at = 0;
  for (const ir::Expr symbol : of.of_sequence->symbols()) {
    values[at++] = symbol->symbol == "q_len" ? new_tokens : context;
  }
  of.of_sequence->evaluate(std::span(values).first(at), out.first(of.ragged.means.size()));
}

double StepModel::table_value(Sequences& of, std::size_t mean, std::uint32_t new_tokens,
                              std::uint32_t context) {
  if (new_tokens != table_tokens_) {
    for (std::vector<double>& table : of.tables) {
      table.clear();
    }
    table_tokens_ = new_tokens;
  }
  while (of.tables[mean].size() <= context) {
    const auto c = static_cast<double>(std::max<std::size_t>(of.tables[mean].size(), new_tokens));
    std::vector<double> out(of.ragged.means.size());
    evaluate_sequence(of, new_tokens, c, out);
    for (std::size_t k = 0; k < out.size(); ++k) {
      of.tables[k].push_back(out[k]);
    }
  }
  return of.tables[mean][context];
}

void StepModel::add_decodes(const Batch& batch, PartCost& sum) {
  const auto sequences = static_cast<std::uint32_t>(batch.decodes.size());
  if (sequences == 0) {
    return;
  }
  const std::size_t means = decode_.ragged.means.size();
  assert(means <= 6);
  Key key{sequences, batch.decode_tokens};
  for (std::size_t k = 0; k < means; ++k) {
    double total = 0;
    for (const std::uint32_t context : batch.decodes) {
      const std::vector<double>& table = decode_.tables[k];
      total += context < table.size() && batch.decode_tokens == table_tokens_
                   ? table[context]
                   : table_value(decode_, k, batch.decode_tokens, context);
    }
    sums_[k] = std::round(total / sequences);
    if (k < 6) {
      key[2 + k] = static_cast<std::uint32_t>(sums_[k]);
    }
  }
  sum.add(decode_memo_.at(key, [&] {
    PartCost cost = decode_.parts.front().at(ranks_ * sequences, batch.decode_tokens, sums_);
    cost.add(decode_.tokens.front().at(ranks_ * sequences * batch.decode_tokens, 1, {}));
    return cost;
  }));
}

void StepModel::add_chunks(const Batch& batch, PartCost& sum) {
  const auto count = static_cast<std::uint32_t>(batch.chunks.size());
  for (const Chunk& chunk : batch.chunks) {
    const Key key{count, chunk.tokens, chunk.context};
    const PartCost& like_it = chunk_memo_.at(key, [&] {
      evaluate_sequence(prefill_, chunk.tokens, chunk.context, sums_);
      return prefill_.parts.front().at(ranks_ * count, chunk.tokens, sums_);
    });
    sum.add(like_it, 1.0 / count);
  }
  if (count > 0 && !prefill_.tokens.front().empty()) {
    const auto tokens = static_cast<std::uint32_t>(batch.chunk_tokens());
    sum.add(tokens_memo_.at(Key{tokens, 1},
                            [&] { return prefill_.tokens.front().at(ranks_ * tokens, 1, {}); }));
  }
}

StepCost StepModel::cost(const Batch& batch, std::span<double> busy) {
  const std::uint64_t tokens = batch.tokens();
  const std::uint64_t of_chunks = batch.chunk_tokens();
  const auto graph = graph_size(tokens);
  const auto padded = static_cast<std::uint32_t>(graph.value_or(tokens));
  const auto rows =
      static_cast<std::uint32_t>(batch.decodes.size() * batch.decode_tokens + batch.chunks.size());
  const PartCost over_tokens =
      tokens_memo_.at(Key{padded}, [&] { return tokens_.front().at(ranks_ * padded, 1, {}); });
  const PartCost over_rows =
      heads_memo_.at(Key{rows}, [&] { return heads_.front().at(ranks_ * rows, 1, {}); });
  PartCost chunks;
  add_chunks(batch, chunks);
  PartCost sum = chunks;
  add_decodes(batch, sum);
  sum.add(over_tokens);
  sum.add(over_rows);

  std::size_t at = 0;
  for (const ir::Expr symbol : totals_->symbols()) {
    const std::string_view name = symbol->symbol;
    if (name == "sum.estimates") {
      totals_values_[at] = sum.seconds;
    } else if (name == "sum.host") {
      totals_values_[at] = graph ? 0 : sum.host;
    } else if (name == "sum.joules") {
      totals_values_[at] = sum.joules;
    } else if (name == "sum.dynamic") {
      totals_values_[at] = sum.dynamic_joules;
    }
    ++at;
  }
  std::array<double, 2> totals{};
  totals_->evaluate(totals_values_, std::span(totals).first(has_energy_ ? 2 : 1));
  const double share =
      tokens == 0 ? 0 : static_cast<double>(of_chunks) / static_cast<double>(tokens);
  const double prompts = chunks.seconds + share * over_tokens.seconds +
                         over_rows.seconds * static_cast<double>(batch.chunks.size()) / rows;
  for (std::size_t i = 0; i < std::min(busy.size(), resources_.size()); ++i) {
    busy[i] += sum.busy[i];
  }
  return {.seconds = totals[0],
          .prompt_seconds = sum.seconds > 0 ? totals[0] * prompts / sum.seconds : 0,
          .joules = devices_ * totals[1]};
}

}  // namespace mansard::model::serve
