#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/views/models.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "ir/expr_eval.hpp"
#include "ir/expr_text.hpp"
#include "ir/graph_totals.hpp"
#include "ir/passes/bind.hpp"
#include "ir/polynomial.hpp"
#include "model/memory.hpp"

/// The card of a graph that a file holds op by op: what it counts, in numbers or in its symbols.
namespace mansard::cli {
namespace {

using ir::Expr;
using ir::Graph;

constexpr auto kLeft = TextTable::Align::kLeft;
constexpr std::size_t kLongest = 44;  ///< Of an expression in a table.

std::optional<double> number_of(Expr e) {
  if (!ir::symbols_of(e).empty()) {
    return std::nullopt;
  }
  return ir::value(e, {});
}

/// Whether it is made of sums and products of plain numbers and one unit only.
bool is_polynomial(Expr e) {
  switch (e->kind) {
    case ir::ExprKind::kAdd:
    case ir::ExprKind::kSub:
    case ir::ExprKind::kMul:
      return is_polynomial(e->operands[0]) && is_polynomial(e->operands[1]);
    case ir::ExprKind::kConstant:
      return true;
    default:
      return e.dimension() == kNumber;
  }
}

/// In one form and without the unit that its constants carry.
std::string formula(Expr e) {
  std::string text = ir::print(is_polynomial(e) ? ir::canonical(e) : e);
  for (const char* unit : {" [FLOP]", " [B]"}) {
    for (std::size_t at = text.find(unit); at != std::string::npos; at = text.find(unit)) {
      text.erase(at, std::string_view(unit).size());
    }
  }
  return text;
}

std::string shortened(const std::string& text) {
  return text.size() <= kLongest ? text : text.substr(0, kLongest - 3) + "...";
}

/// A number, or the formula over the graph's symbols.
Cell quantity(Expr e) {
  if (const auto number = number_of(e)) {
    return *number == 0 ? Cell{.value = 0.0, .shown = "-"}
                        : Cell::number(*number, grouped(*number));
  }
  Cell cell = Cell::text(formula(e));
  cell.shown = shortened(cell.shown);
  return cell;
}

Json quantity_json(Expr e) {
  if (const auto number = number_of(e)) {
    return json_number(*number);
  }
  return formula(e);
}

/// Sums over some ops, each times its repetitions.
struct Sums {
  Expr flops;
  Expr vector_flops;
  Expr special_ops;
  Expr bytes;
  double parameters = 0;
  std::int64_t ops = 0;
};

Sums no_sums(const Graph& graph) {
  ir::ExprPool& pool = graph.pool();
  return {.flops = pool.constant(0, kFlop),
          .vector_flops = pool.constant(0, kFlop),
          .special_ops = pool.constant(0),
          .bytes = pool.constant(0, kByte)};
}

Expr of(const Graph& graph, const ir::Op& op, Expr definition, Expr none) {
  return definition ? graph.instantiate(op, definition) : none;
}

Sums sums_of(const Graph& graph, const ir::Op& op) {
  const Sums none = no_sums(graph);
  Sums sums{.flops = of(graph, op, op.def->flops, none.flops),
            .vector_flops = of(graph, op, op.def->vector_flops, none.vector_flops),
            .special_ops = of(graph, op, op.def->special_ops, none.special_ops),
            .bytes = none.bytes,
            .ops = 1};
  for (const ir::OperandUse& use : ir::uses_of(op)) {
    sums.bytes = sums.bytes + ir::operand_bytes(graph, op, use.position);
    const ir::Tensor& tensor = graph.tensor(use.tensor);
    if (tensor.role == ir::Role::kWeight && !tensor.buffer) {
      sums.parameters += number_of(graph.elements(tensor)).value_or(0);
    }
  }
  return sums;
}

void add(Sums& all, const Sums& one, Expr times) {
  all.flops = all.flops + times * one.flops;
  all.vector_flops = all.vector_flops + times * one.vector_flops;
  all.special_ops = all.special_ops + times * one.special_ops;
  all.bytes = all.bytes + times * one.bytes;
  all.parameters += one.parameters;
  all.ops += one.ops;
}

std::vector<Cell> cells_of(const Sums& sums) {
  return {
      sums.parameters > 0 ? Cell::number(sums.parameters, grouped(sums.parameters)) : Cell::none(),
      quantity(0.5 * sums.flops),
      quantity(sums.flops),
      quantity(sums.vector_flops),
      quantity(sums.special_ops),
      quantity(sums.bytes)};
}

void add_columns(Records& records) {
  records.column({"parameters", "parameters"});
  records.column({"macs", "MAC"});
  records.column({"flops", "FLOP"});
  records.column({"vector_flops", "vector FLOP"});
  records.column({"special_ops", "special"});
  records.column({"bytes", "bytes"});
}

Records by_kind(const Graph& graph) {
  std::map<std::string_view, Sums> kinds;
  for (const ir::Op& op : graph.ops()) {
    auto [at, fresh] = kinds.try_emplace(op.def->name, no_sums(graph));
    add(at->second, sums_of(graph, op), graph.repeats(op.block));
  }
  Records records;
  records.column({"kind", "kind", kLeft});
  records.column({"ops", "ops"});
  add_columns(records);
  for (const auto& [kind, sums] : kinds) {
    std::vector<Cell> cells{
        Cell::text(kind), Cell::number(static_cast<double>(sums.ops), fmt::format("{}", sums.ops))};
    for (Cell& cell : cells_of(sums)) {
      cells.push_back(std::move(cell));
    }
    records.add(std::move(cells));
  }
  return records;
}

/// "1x64x112x112", the shape of what an op writes.
std::string output_shape(const Graph& graph, const ir::Op& op) {
  for (const ir::OperandUse& use : ir::uses_of(op)) {
    if (use.writes()) {
      std::string text;
      for (const Expr extent : graph.tensor(use.tensor).shape) {
        text += fmt::format("{}{}", text.empty() ? "" : "x", ir::print(extent));
      }
      return text;
    }
  }
  return "";
}

Records by_layer(const Graph& graph) {
  Records records;
  records.column({"op", "op", kLeft});
  records.column({"node", "", kLeft});
  records.column({"kind", "kind", kLeft});
  records.column({"block", "", kLeft});
  records.column({"count", "x"});
  add_columns(records);
  records.column({"output", "output", kLeft});
  for (const ir::Op& op : graph.ops()) {
    const auto node = op.attributes.find("node");
    std::vector<Cell> cells{Cell::text(op.name),
                            Cell::text(node == op.attributes.end() ? "" : node->second),
                            Cell::text(op.def->name), Cell::text(graph.block(op.block).name),
                            quantity(graph.repeats(op.block))};
    cells[0].shown = abbreviated(op.name, kLongest);
    for (Cell& cell : cells_of(sums_of(graph, op))) {
      cells.push_back(std::move(cell));
    }
    Cell shape = Cell::text(output_shape(graph, op));
    shape.shown = shortened(shape.shown);
    cells.push_back(std::move(shape));
    records.add(std::move(cells));
  }
  return records;
}

std::string versions(const ir::FileFacts& file) {
  std::string text = file.format;
  for (const auto& [domain, version] : file.opsets) {
    text += fmt::format(", {} {}", domain, version);
  }
  return text;
}

std::string facts(const Graph& graph) {
  const ir::FileFacts& file = *graph.facts.file;
  const ir::GraphTotals totals = ir::totals(graph);
  TextTable table;
  table.column(graph.facts.name, kLeft);
  table.column("");
  const auto add = [&](const char* name, const std::string& value) { table.row({name, value}); };
  add("file", versions(file));
  add("nodes", file.subgraph_nodes > 0
                   ? fmt::format("{} and {} in bodies", file.nodes, file.subgraph_nodes)
                   : fmt::format("{}", file.nodes));
  add("initializers", fmt::format("{}, {} elements, {} external", file.initializers,
                                  grouped(static_cast<double>(file.initializer_elements)),
                                  file.external_initializers));
  for (const auto& [name, shape] : file.inputs) {
    add("input", fmt::format("{} {}", abbreviated(name, kLongest), shape));
    if (&name != &file.inputs.front().first && file.inputs.size() > 8) {
      add("", fmt::format("and {} more", file.inputs.size() - 2));
      break;
    }
  }
  add("parameters", grouped(static_cast<double>(ir::parameter_counts(graph).total)));
  add("weights", bytes(ir::value(ir::weight_bytes(graph), {})));
  add("MAC", quantity(0.5 * totals.flops).shown);
  add("FLOP", quantity(totals.flops).shown);
  add("vector FLOP", quantity(totals.vector_flops).shown);
  add("bytes moved", quantity(totals.bytes).shown);
  const Expr live = model::memory_model(graph, 1).activations.expr();
  add("activations alive at once", number_of(live) ? bytes(*number_of(live)) : "by dimension");
  return table.render();
}

std::string symbols(const Graph& graph) {
  std::string text;
  for (const ir::DimensionSymbol& symbol : ir::free_symbols(graph)) {
    text += paragraph(fmt::format("- {}: {}", symbol.name, symbol.meaning), 2);
  }
  return text.empty() ? "" : "\ndimensions without a value (--set NAME=VALUE):\n" + text;
}

std::string notes(const Graph& graph) {
  std::string text;
  for (const std::string& note : graph.facts.notes) {
    text += "- " + paragraph(note, 2);
  }
  return text.empty() ? "" : "\nnotes:\n" + text;
}

constexpr std::string_view kDefinitions =
    "MAC: multiply-adds of contractions, FLOP: 2 per multiply-add; vector FLOP: elementwise "
    "arithmetic; special: exp, tanh, roots; x: executions; figures of an op are of one execution, "
    "of "
    "a kind of all; bytes: operands moved once";

Json pairs(const std::vector<std::pair<std::string, std::string>>& values) {
  Json list = Json::array();
  for (const auto& [name, shape] : values) {
    list.push_back({{"name", name}, {"shape", shape}});
  }
  return list;
}

Json file_json(const ir::FileFacts& file) {
  return {{"format", file.format},
          {"opsets", file.opsets},
          {"nodes", file.nodes},
          {"subgraph_nodes", file.subgraph_nodes},
          {"initializers", file.initializers},
          {"initializer_elements", file.initializer_elements},
          {"external_initializers", file.external_initializers},
          {"operators", file.operators},
          {"inputs", pairs(file.inputs)},
          {"outputs", pairs(file.outputs)},
          {"unknown_operators", file.unknown_operators}};
}

Json json(const Graph& graph) {
  const ir::GraphTotals totals = ir::totals(graph);
  const ir::ParameterCounts counts = ir::parameter_counts(graph);
  Json unknowns = Json::array();
  for (const ir::DimensionSymbol& symbol : ir::free_symbols(graph)) {
    unknowns.push_back({{"name", symbol.name}, {"meaning", symbol.meaning}});
  }
  const auto live = number_of(model::memory_model(graph, 1).activations.expr());
  return {{"schema", "mansard.model/1"},
          {"name", graph.facts.name},
          {"parameters", counts.total},
          {"active_parameters", counts.active},
          {"weight_bytes", json_number(ir::value(ir::weight_bytes(graph), {}))},
          {"macs", quantity_json(0.5 * totals.flops)},
          {"flops", quantity_json(totals.flops)},
          {"vector_flops", quantity_json(totals.vector_flops)},
          {"special_ops", quantity_json(totals.special_ops)},
          {"bytes", quantity_json(totals.bytes)},
          {"activation_bytes", json_optional(live)},
          {"partial", !graph.facts.file->unknown_operators.empty()},
          {"file", file_json(*graph.facts.file)},
          {"unknowns", unknowns},
          {"kinds", by_kind(graph).json()},
          {"ops", by_layer(graph).json()},
          {"notes", graph.facts.notes}};
}

}  // namespace

std::string network_card(const Graph& graph, Format format) {
  switch (format) {
    case Format::kJson:
      return json_text(json(graph));
    case Format::kCsv:
      return by_layer(graph).csv();
    case Format::kTable:
      break;
  }
  return facts(graph) + symbols(graph) + "\n" + by_kind(graph).table() + "\n" +
         by_layer(graph).table() + notes(graph) + "\n" + paragraph(kDefinitions);
}

}  // namespace mansard::cli
