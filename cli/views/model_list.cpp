#include <fmt/format.h>

#include "cli/views/models.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "ir/expr_eval.hpp"

namespace mansard::cli {
namespace {

using ir::Graph;

constexpr double kBillion = 1e9;
/// KV bytes of a token are those of the first one of a sequence, before any window is full.
const ir::Bindings kFirstToken{{"batch", 1}, {"context", 1}, {"q_len", 1}};

Cell billions(std::int64_t count) {
  const auto value = static_cast<double>(count);
  return Cell::number(value, ratio(value / kBillion));
}

Cell count_or_none(std::int64_t count) {
  const auto value = static_cast<double>(count);
  return count == 0 ? Cell::none() : Cell::number(value, fmt::format("{}", count));
}

Records list(std::span<const Graph> models) {
  Records records;
  records.column({"name", "model", TextTable::Align::kLeft});
  records.column({"parameters", "total\n(1e9)"});
  records.column({"active_parameters", "active\n(1e9)"});
  records.column({"layers", "layers"});
  records.column({"hidden", ""});
  records.column({"heads", "heads"});
  records.column({"kv_heads", "KV\nheads"});
  records.column({"vocabulary", ""});
  records.column({"max_context", "longest\ncontext"});
  records.column({"weight_bytes", "weights"});
  records.column({"kv_bytes_per_token", "KV of\na token"});
  for (const Graph& model : models) {
    const ir::ParameterCounts counts = ir::parameter_counts(model);
    const ir::ModelFacts& facts = model.facts;
    const double weights = ir::value(ir::weight_bytes(model), kFirstToken);
    const double kv = ir::value(ir::kv_bytes_per_token(model), kFirstToken);
    records.add({Cell::text(facts.name), billions(counts.total), billions(counts.active),
                 count_or_none(facts.layers), count_or_none(facts.hidden),
                 count_or_none(facts.heads), count_or_none(facts.kv_heads),
                 count_or_none(facts.vocabulary), count_or_none(facts.max_context),
                 Cell::number(weights, bytes(weights)), Cell::number(kv, bytes(kv))});
  }
  return records;
}

constexpr std::string_view kDefinitions =
    "active: parameters that one token uses, embedding and head included; weights: bytes as "
    "stored, "
    "with scales; KV of a token: bytes that one more token of context adds to the cache of a "
    "sequence; a "
    "suffix -fp8 (llama3-8b-fp8) is the model with fp8 weights and activations";

}  // namespace

std::string model_list(std::span<const Graph> models, Format format) {
  const Records records = list(models);
  switch (format) {
    case Format::kJson:
      return json_text({{"schema", "mansard.models/1"}, {"models", records.json()}});
    case Format::kCsv:
      return records.csv();
    case Format::kTable:
      break;
  }
  return records.table() + "\n" + paragraph(kDefinitions) + "see: mansard models show MODEL\n";
}

}  // namespace mansard::cli
