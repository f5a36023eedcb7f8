#include "ir/passes/bind.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "ir/expr_text.hpp"
#include "ir/passes/rewrite.hpp"
#include "ir/polynomial.hpp"

namespace mansard::ir {
namespace {

/// Calls `change` with every expression of a graph.
template <typename Change>
void each_expression(Graph& graph, Change change) {
  for (Tensor& tensor : graph.tensors()) {
    for (Expr& extent : tensor.shape) {
      change(extent);
    }
  }
  for (Op& op : graph.ops()) {
    for (auto& [name, value] : op.dims) {
      change(value);
    }
  }
  for (Block& block : graph.blocks()) {
    if (block.repeats) {
      change(block.repeats);
    }
  }
}

std::set<std::string, std::less<>> symbols_read(const Graph& graph) {
  std::vector<Expr> all;
  Graph copy = graph;
  each_expression(copy, [&](Expr e) { all.push_back(e); });
  std::set<std::string, std::less<>> names;
  for (const Expr symbol : symbols_of(all)) {
    names.emplace(symbol->symbol);
  }
  return names;
}

/// Blocks with a number of repetitions get it; those of 0 lose their ops.
void settle_blocks(Graph& graph) {
  std::vector<bool> gone(graph.blocks().size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    Block& block = graph.blocks()[i];
    if (block.repeats && block.repeats.is_constant()) {
      gone[i] = block.repeats.constant() < 1;
      block.count = gone[i] ? 1 : static_cast<std::int64_t>(block.repeats.constant());
      block.repeats = Expr();
    }
  }
  std::erase_if(graph.ops(), [&](const Op& op) { return gone[index(op.block)]; });
}

Diagnostics check(const Graph& graph) {
  Diagnostics problems;
  for (const Tensor& tensor : graph.tensors()) {
    for (const Expr extent : tensor.shape) {
      if (extent.is_constant() && extent.constant() < 0 && problems.size() < 8) {
        problems.push_back({.id = "dimension-negative",
                            .message = fmt::format("with these dimensions '{}' has extent {}",
                                                   tensor.name, extent.constant()),
                            .location = {},
                            .label = {}});
      }
    }
  }
  return problems;
}

/// A name without case and marks: "Past_Sequence_Length" is "pastsequencelength".
std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

enum class Meaning { kNone, kBatch, kNew, kPast, kTotal };

struct Spelling {
  std::string_view plain;
  Meaning meaning;
};

constexpr std::array kSpellings = {
    Spelling{"batch", Meaning::kBatch},
    Spelling{"batchsize", Meaning::kBatch},
    Spelling{"batchdim", Meaning::kBatch},
    Spelling{"bs", Meaning::kBatch},
    Spelling{"n", Meaning::kBatch},
    Spelling{"sequence", Meaning::kNew},
    Spelling{"sequencelength", Meaning::kNew},
    Spelling{"seqlen", Meaning::kNew},
    Spelling{"seqlength", Meaning::kNew},
    Spelling{"seq", Meaning::kNew},
    Spelling{"inputseqlen", Meaning::kNew},
    Spelling{"decodersequencelength", Meaning::kNew},
    Spelling{"decodersequence", Meaning::kNew},
    Spelling{"pastsequencelength", Meaning::kPast},
    Spelling{"pastsequence", Meaning::kPast},
    Spelling{"pastseqlen", Meaning::kPast},
    Spelling{"pastlength", Meaning::kPast},
    Spelling{"pastdecodersequencelength", Meaning::kPast},
    Spelling{"totalsequencelength", Meaning::kTotal},
    Spelling{"totalsequence", Meaning::kTotal},
    Spelling{"totalseqlen", Meaning::kTotal},
};

Meaning meaning_of(std::string_view name) {
  const std::string spelt = plain(name);
  const auto* const found = std::ranges::find(kSpellings, spelt, &Spelling::plain);
  return found == kSpellings.end() ? Meaning::kNone : found->meaning;
}

}  // namespace

Result<Graph> bind_symbols(Graph graph, const SymbolValues& values) {
  each_expression(graph, [&](Expr& e) {
    const Expr bound = substitute(e, graph.pool(), [&](const ExprNode& node) {
      const auto found = values.find(node.symbol);
      return found == values.end() ? Expr() : found->second;
    });
    e = bound == e ? e : canonical(bound);
  });
  settle_blocks(graph);
  if (Diagnostics problems = check(graph); !problems.empty()) {
    return failure(std::move(problems));
  }
  std::erase_if(graph.facts.symbols,
                [&](const DimensionSymbol& symbol) { return values.contains(symbol.name); });
  return graph;
}

SymbolValues workload_meaning(const Graph& graph) {
  ExprPool& pool = graph.pool();
  const std::vector<DimensionSymbol>& symbols = graph.facts.symbols;
  const bool has_past = std::ranges::any_of(symbols, [](const DimensionSymbol& symbol) {
    return meaning_of(symbol.name) == Meaning::kPast;
  });
  SymbolValues values;
  for (const DimensionSymbol& symbol : symbols) {
    switch (meaning_of(symbol.name)) {
      case Meaning::kBatch:
        values.emplace(symbol.name, pool.symbol("batch"));
        break;
      case Meaning::kNew:
        values.emplace(symbol.name, pool.symbol(has_past ? "q_len" : "context"));
        break;
      case Meaning::kPast:
        values.emplace(symbol.name, pool.symbol("context") - pool.symbol("q_len"));
        break;
      case Meaning::kTotal:
        values.emplace(symbol.name, pool.symbol("context"));
        break;
      case Meaning::kNone:
        break;
    }
  }
  return values;
}

std::vector<DimensionSymbol> free_symbols(const Graph& graph) {
  const auto read = symbols_read(graph);
  std::vector<DimensionSymbol> result;
  for (const DimensionSymbol& symbol : graph.facts.symbols) {
    if (read.contains(symbol.name)) {
      result.push_back(symbol);
    }
  }
  return result;
}

bool depends_on(const Graph& graph, std::string_view symbol) {
  return symbols_read(graph).contains(symbol);
}

}  // namespace mansard::ir
