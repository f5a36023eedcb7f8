#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/views/models.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "ir/expr_eval.hpp"
#include "ir/expr_text.hpp"

namespace mansard::cli {
namespace {

using ir::Graph;

const ir::Bindings kFirstToken{{"batch", 1}, {"context", 1}, {"q_len", 1}};
constexpr auto kLeft = TextTable::Align::kLeft;

/// What the model stores in one number format.
struct Stored {
  std::string dtype;
  double elements = 0;
  double bytes = 0;
};

/// Weights by dtype, the largest share first.
std::vector<Stored> weights_by_dtype(const Graph& model) {
  std::map<std::string, Stored, std::less<>> by_dtype;
  for (const ir::Tensor& tensor : model.tensors()) {
    if (tensor.role != ir::Role::kWeight) {
      continue;
    }
    const auto copies = static_cast<double>(model.block(tensor.block).count);
    const ir::Expr elements = model.elements(tensor);
    Stored& stored = by_dtype[std::string(tensor.dtype->name)];
    stored.dtype = tensor.dtype->name;
    stored.elements += copies * ir::value(elements, kFirstToken);
    stored.bytes += copies * ir::value(ir::bytes_of(*tensor.dtype, elements), kFirstToken);
  }
  std::vector<Stored> result;
  for (auto& [name, stored] : by_dtype) {
    result.push_back(std::move(stored));
  }
  std::ranges::sort(result, {}, [](const Stored& stored) {
    return std::pair(-stored.bytes, std::string_view(stored.dtype));
  });
  return result;
}

/// The dtypes of the KV cache: "bf16", "fp8, bf16".
std::string kv_dtypes(const Graph& model) {
  std::set<std::string_view> names;
  for (const ir::Tensor& tensor : model.tensors()) {
    if (tensor.role == ir::Role::kKvCache) {
      names.insert(tensor.dtype->name);
    }
  }
  std::string text;
  for (const std::string_view name : names) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  }
  return text;
}

/// "m=batch * q_len n=6144 k=4096"; dims that are zero say nothing.
std::string dims_text(const ir::Op& op) {
  std::string text;
  for (const ir::DimDef& dim : op.def->dims) {
    const auto bound = op.dims.find(dim.name);
    if (bound == op.dims.end() || (bound->second.is_constant() && bound->second.constant() == 0)) {
      continue;
    }
    text += fmt::format("{}{}={}", text.empty() ? "" : "  ", dim.name, ir::print(bound->second));
  }
  return text;
}

/// The weights that an op reads: how many, in which format.
struct OpWeights {
  double elements = 0;
  std::string dtype;
};

OpWeights weights_of(const Graph& model, const ir::Op& op) {
  OpWeights result;
  for (const auto& operand : op.operands) {
    if (!operand || model.tensor(*operand).role != ir::Role::kWeight) {
      continue;
    }
    const ir::Tensor& tensor = model.tensor(*operand);
    result.elements += ir::value(model.elements(tensor), kFirstToken);
    result.dtype = result.dtype.empty() ? std::string(tensor.dtype->name) : result.dtype;
  }
  return result;
}

Records ops(const Graph& model) {
  Records records;
  records.column({"op", "op", kLeft});
  records.column({"kind", "kind", kLeft});
  records.column({"block", "", kLeft});
  records.column({"count", "x"});
  records.column({"parameters", "parameters"});
  records.column({"dtype", "dtype", kLeft});
  records.column({"dims", "dims", kLeft});
  for (const ir::Op& op : model.ops()) {
    const ir::Block& block = model.block(op.block);
    const OpWeights weights = weights_of(model, op);
    const bool any = weights.elements > 0;
    records.add({Cell::text(op.name), Cell::text(op.def->name), Cell::text(block.name),
                 Cell::number(static_cast<double>(block.count), fmt::format("{}", block.count)),
                 any ? Cell::number(weights.elements, grouped(weights.elements)) : Cell::none(),
                 any ? Cell::text(weights.dtype) : Cell::none(), Cell::text(dims_text(op))});
  }
  return records;
}

/// The two columns of facts at the top.
std::string facts(const Graph& model) {
  const ir::ModelFacts& f = model.facts;
  const ir::ParameterCounts counts = ir::parameter_counts(model);
  TextTable table;
  table.column(f.name, kLeft);
  table.column("");
  const auto add = [&](const char* name, const std::string& value) { table.row({name, value}); };
  const auto add_count = [&](const char* name, std::int64_t count) {
    if (count != 0) {
      add(name, grouped(static_cast<double>(count)));
    }
  };
  add_count("parameters", counts.total);
  add_count("active parameters, embedding and head included", counts.active);
  add_count("active parameters without the input embedding", counts.active_without_embedding);
  add_count("layers", f.layers);
  add_count("hidden size", f.hidden);
  add_count("query heads", f.heads);
  add_count("KV heads", f.kv_heads);
  add_count("vocabulary", f.vocabulary);
  add_count("longest context", f.max_context);
  for (const Stored& stored : weights_by_dtype(model)) {
    table.row({fmt::format("weights in {}", stored.dtype), bytes(stored.bytes)});
  }
  const double kv = ir::value(ir::kv_bytes_per_token(model), kFirstToken);
  if (kv > 0) {
    table.row({fmt::format("KV cache of a token ({})", kv_dtypes(model)),
               fmt::format("{} B", grouped(kv))});
  }
  return table.render();
}

std::string blocks(const Graph& model) {
  std::string text;
  for (const ir::Block& block : model.blocks()) {
    text += block.count > 1
                ? fmt::format("{}{} x {}", text.empty() ? "" : ", ", block.name, block.count)
                : "";
  }
  return text.empty() ? "" : "layers: " + paragraph(text, 8);
}

std::string notes(const Graph& model) {
  std::string text;
  for (const std::string& note : model.facts.notes) {
    text += "- " + paragraph(note, 2);
  }
  return text.empty() ? "" : "\nnotes:\n" + text;
}

constexpr std::string_view kDefinitions =
    "x: executions in a step; parameters: of one execution; dims: those of the op's kind (mansard "
    "ops "
    "KIND), over batch (sequences), q_len (new tokens of each) and context (tokens attended)";

std::string table(const Graph& model) {
  return facts(model) + "\n" + blocks(model) + "\n" + ops(model).table() + notes(model) + "\n" +
         paragraph(kDefinitions);
}

Json json(const Graph& model) {
  const ir::ModelFacts& f = model.facts;
  const ir::ParameterCounts counts = ir::parameter_counts(model);
  Json by_dtype = Json::object();
  for (const Stored& stored : weights_by_dtype(model)) {
    by_dtype[stored.dtype] = json_number(stored.bytes);
  }
  Json blocks = Json::array();
  for (const ir::Block& block : model.blocks()) {
    blocks.push_back({{"name", block.name}, {"count", block.count}});
  }
  return {
      {"schema", "mansard.model/1"},
      {"name", f.name},
      {"parameters", counts.total},
      {"active_parameters", counts.active},
      {"active_parameters_without_embedding", counts.active_without_embedding},
      {"layers", f.layers},
      {"hidden", f.hidden},
      {"heads", f.heads},
      {"kv_heads", f.kv_heads},
      {"vocabulary", f.vocabulary},
      {"max_context", f.max_context},
      {"weight_bytes", json_number(ir::value(ir::weight_bytes(model), kFirstToken))},
      {"weight_bytes_by_dtype", by_dtype},
      {"kv_bytes_per_token", json_number(ir::value(ir::kv_bytes_per_token(model), kFirstToken))},
      {"blocks", blocks},
      {"ops", ops(model).json()},
      {"notes", f.notes}};
}

}  // namespace

std::string model_card(const Graph& model, Format format) {
  if (model.facts.file) {
    return network_card(model, format);
  }
  switch (format) {
    case Format::kJson:
      return json_text(json(model));
    case Format::kCsv:
      return ops(model).csv();
    case Format::kTable:
      break;
  }
  return table(model);
}

}  // namespace mansard::cli
