#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "ir/expr_text.hpp"
#include "ir/graph_names.hpp"
#include "ir/graph_text.hpp"

namespace mansard::ir {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Words that some YAML reader takes for something else.
constexpr std::array<std::string_view, 7> kOtherMeanings = {"null", "true", "false", "yes",
                                                            "no",   "on",   "off"};

/// Whether YAML reads it unquoted as the same text and as nothing else.
bool is_plain_word(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, is_word_character) &&
         std::ranges::find(kOtherMeanings, lower) == kOtherMeanings.end();
}

std::string escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F ? fmt::format("\\x{:02X}", byte) : std::string(1, c);
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    result += escape(c);
  }
  return result + '"';
}

std::string word(std::string_view text) {
  return is_plain_word(text) ? std::string(text) : quoted(text);
}

/// An expression; quoted where commas or brackets would end it inside a flow list.
std::string expression(Expr value) {
  const std::string text = print(value);
  const bool plain = text.find_first_of(",[]{}#:\"'") == std::string::npos &&
                     (is_word_character(text.front()) || text.front() == '(') &&
                     text.front() != '-';
  return plain ? text : quoted(text);
}

/// Entries of a flow mapping or list, joined.
class Flow {
 public:
  void entry(std::string_view key, std::string_view value) {
    item(fmt::format("{}: {}", key, value));
  }
  void item(std::string_view text) {
    text_ += text_.empty() ? "" : ", ";
    text_ += text;
  }
  [[nodiscard]] std::string mapping() const { return "{" + text_ + "}"; }
  [[nodiscard]] std::string list() const { return "[" + text_ + "]"; }
  [[nodiscard]] bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

std::string model(const ModelFacts& facts) {
  Flow flow;
  flow.entry("name", word(facts.name));
  flow.entry("layers", std::to_string(facts.layers));
  flow.entry("hidden", std::to_string(facts.hidden));
  flow.entry("heads", std::to_string(facts.heads));
  flow.entry("kv_heads", std::to_string(facts.kv_heads));
  flow.entry("vocabulary", std::to_string(facts.vocabulary));
  flow.entry("max_context", std::to_string(facts.max_context));
  if (facts.activations != nullptr) {
    flow.entry("activations", facts.activations->name);
  }
  return flow.mapping();
}

std::string block(const Block& block) {
  Flow flow;
  flow.entry("name", word(block.name));
  flow.entry("count", std::to_string(block.count));
  if (block.repeats) {
    flow.entry("repeats", expression(block.repeats));
  }
  return flow.mapping();
}

std::string tensor(const Graph& graph, const Tensor& tensor) {
  Flow shape;
  for (const Expr extent : tensor.shape) {
    shape.item(expression(extent));
  }
  Flow flow;
  flow.entry("name", word(tensor.name));
  flow.entry("role", name_of(tensor.role));
  flow.entry("dtype", tensor.dtype->name);
  flow.entry("shape", shape.list());
  flow.entry("block", word(graph.block(tensor.block).name));
  if (tensor.buffer) {
    flow.entry("buffer", "true");
  }
  return flow.mapping();
}

std::string dims(const Op& op) {
  Flow flow;
  for (const auto& [name, value] : op.dims) {
    flow.entry(word(name), expression(value));
  }
  return flow.mapping();
}

std::string operands(const Graph& graph, const Op& op) {
  Flow flow;
  for (const OperandUse& use : uses_of(op)) {
    flow.entry(use.def->name, word(graph.tensor(use.tensor).name));
  }
  return flow.mapping();
}

std::string attributes(const Op& op) {
  Flow flow;
  for (const auto& [name, value] : op.attributes) {
    flow.entry(word(name), word(value));
  }
  return flow.mapping();
}

std::string op(const Graph& graph, const Op& op) {
  Flow flow;
  flow.entry("name", word(op.name));
  flow.entry("kind", op.def->name);
  flow.entry("block", word(graph.block(op.block).name));
  if (op.split != Split::kReplicated) {
    flow.entry("split", name_of(op.split));
  }
  flow.entry("dims", dims(op));
  flow.entry("operands", operands(graph, op));
  if (!op.attributes.empty()) {
    flow.entry("attributes", attributes(op));
  }
  return flow.mapping();
}

std::string symbol(const DimensionSymbol& symbol) {
  Flow flow;
  flow.entry("name", word(symbol.name));
  flow.entry("meaning", word(symbol.meaning));
  return flow.mapping();
}

/// A list of one line per element, or `[]`.
template <typename Elements, typename Line>
std::string lines(std::string_view key, const Elements& elements, Line line) {
  if (elements.empty()) {
    return fmt::format("{}: []\n", key);
  }
  std::string text = fmt::format("{}:\n", key);
  for (const auto& element : elements) {
    text += fmt::format("  - {}\n", line(element));
  }
  return text;
}

}  // namespace

std::string print(const Graph& graph) {
  return "schema: mansard.graph/1\n" + fmt::format("model: {}\n", model(graph.facts)) +
         lines("notes", graph.facts.notes, quoted) +
         (graph.facts.symbols.empty() ? "" : lines("symbols", graph.facts.symbols, symbol)) +
         lines("blocks", graph.blocks(), block) +
         lines("tensors", graph.tensors(), [&](const Tensor& t) { return tensor(graph, t); }) +
         lines("ops", graph.ops(), [&](const Op& o) { return op(graph, o); });
}

}  // namespace mansard::ir
