#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/expr_text.hpp"
#include "ir/graph_names.hpp"
#include "ir/graph_text.hpp"
#include "ir/verify.hpp"
#include "support/suggest.hpp"

namespace mansard::ir {
namespace {

constexpr std::string_view kSchema = "mansard.graph/1";

/// The start of a line's mapping: underlining the whole line would say nothing.
Location start_of(const Node& node) {
  Location location = node.location;
  location.end = std::min(location.end, location.begin + 1);
  return location;
}

/// What stands between the quotes of a quoted scalar.
Location inside(const Node& scalar) {
  Location location = scalar.location;
  if (scalar.quoted && location.end > location.begin + 1) {
    ++location.begin;
    --location.end;
  }
  return location;
}

/// Elements by name, and the names for suggestions.
template <typename Id>
class Names {
 public:
  /// False if the name is taken.
  bool add(const std::string& name, Id id) {
    const bool added = ids_.emplace(name, id).second;
    if (added) {
      names_.push_back(name);
    }
    return added;
  }
  [[nodiscard]] std::optional<Id> find(std::string_view name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }

 private:
  std::map<std::string, Id, std::less<>> ids_;
  std::vector<std::string> names_;
};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const OpDef& def : op_registry()) {
    names.emplace_back(def.name);
  }
  return names;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const Dtype& dtype : dtypes()) {
    names.emplace_back(dtype.name);
  }
  return names;
}

class Parser {
 public:
  Result<Graph> parse(const Node& document) {
    Reader reader(document, diagnostics_);
    schema(reader);
    model(reader);
    notes(reader);
    each(reader, "symbols", [this](Reader& entry) { symbol(entry); });
    each(reader, "blocks", [this](Reader& entry) { block(entry); });
    each(reader, "tensors", [this](Reader& entry) { tensor(entry); });
    each(reader, "ops", [this](Reader& entry) { op(entry); });
    reader.finish();
    if (diagnostics_.empty()) {
      diagnostics_ = verify(graph_, locations_);
    }
    if (!diagnostics_.empty()) {
      return failure(std::move(diagnostics_));
    }
    return std::move(graph_);
  }

 private:
  void error(std::string id, std::string message, const Location& location,
             std::string label = {}) {
    diagnostics_.push_back({.id = std::move(id),
                            .message = std::move(message),
                            .location = location,
                            .label = std::move(label)});
  }

  void unknown(std::string_view what, const Node& found, const std::vector<std::string>& known) {
    const auto meant = did_you_mean(found.scalar, known);
    error(fmt::format("unknown-{}", what), fmt::format("unknown {} '{}'", what, found.scalar),
          found.location, meant ? fmt::format("did you mean '{}'?", *meant) : "");
  }

  /// A required scalar, looked up by `find`; absent after an error.
  template <typename Find>
  auto look_up(Reader& reader, std::string_view key, std::string_view what, Find find,
               const std::vector<std::string>& known) -> decltype(find(std::string_view())) {
    const Node* node = reader.require(key);
    if (node == nullptr) {
      return {};
    }
    auto found = node->is_scalar() ? find(std::string_view(node->scalar))
                                   : decltype(find(std::string_view()))();
    if (!found) {
      unknown(what, *node, known);
    }
    return found;
  }

  template <typename Parse>
  void each(Reader& reader, std::string_view key, Parse parse) {
    const Node* list = reader.sequence(key);
    if (list == nullptr) {
      return;
    }
    for (const Node& item : list->items) {
      Reader entry(item, diagnostics_);
      if (item.is_mapping()) {
        parse(entry);
        entry.finish();
      }
    }
  }

  void schema(Reader& reader) {
    const Node* node = reader.require("schema");
    if (node != nullptr && node->scalar != kSchema) {
      error("graph-schema", fmt::format("unknown schema '{}'", node->scalar), node->location,
            fmt::format("expected {}", kSchema));
    }
  }

  void model(Reader& reader) {
    const Node* node = reader.mapping("model");
    if (node == nullptr) {
      return;
    }
    Reader facts(*node, diagnostics_);
    graph_.facts.name = facts.string("name").value_or("");
    graph_.facts.layers = facts.integer("layers").value_or(0);
    graph_.facts.hidden = facts.integer("hidden").value_or(0);
    graph_.facts.heads = facts.integer("heads").value_or(0);
    graph_.facts.kv_heads = facts.integer("kv_heads").value_or(0);
    graph_.facts.vocabulary = facts.integer("vocabulary").value_or(0);
    graph_.facts.max_context = facts.integer("max_context").value_or(0);
    if (facts.has("activations")) {
      graph_.facts.activations = dtype(facts, "activations");
    }
    facts.finish();
  }

  void notes(Reader& reader) {
    if (const Node* list = reader.sequence("notes")) {
      for (const Node& note : list->items) {
        graph_.facts.notes.push_back(note.scalar);
      }
    }
  }

  void symbol(Reader& entry) {
    graph_.facts.symbols.push_back(
        {.name = entry.required_string("name"), .meaning = entry.string("meaning").value_or("")});
  }

  void block(Reader& entry) {
    const std::string name = entry.required_string("name");
    const BlockId id = graph_.add_block(name, entry.required_integer("count"));
    if (const Node* repeats = entry.find("repeats")) {
      graph_.blocks()[index(id)].repeats = expression(*repeats);
    }
    locations_.blocks.push_back(start_of(entry.node()));
    if (!blocks_.add(name, id)) {
      error("duplicate-name", fmt::format("a second block is called '{}'", name),
            name_place(entry));
    }
  }

  /// Where an entry's name stands; the entry itself if it has none.
  static Location name_place(Reader& entry) {
    const Node* name = entry.find("name");
    return name != nullptr ? name->location : entry.node().location;
  }

  void tensor(Reader& entry) {
    Tensor tensor{.name = entry.required_string("name")};
    tensor.role = role(entry);
    tensor.dtype = dtype(entry, "dtype");
    tensor.shape = shape(entry);
    tensor.block = block_of(entry);
    tensor.buffer = entry.boolean("buffer").value_or(false);
    const std::string name = tensor.name;
    const TensorId id = graph_.add_tensor(std::move(tensor));
    locations_.tensors.push_back(start_of(entry.node()));
    if (!tensors_.add(name, id)) {
      error("duplicate-name", fmt::format("a second tensor is called '{}'", name),
            name_place(entry));
    }
  }

  void op(Reader& entry) {
    Op op{.name = entry.required_string("name")};
    op.def = look_up(entry, "kind", "kind", find_op, kind_names());
    op.block = block_of(entry);
    op.split = split(entry);
    op.dims = dims(entry, op.def);
    op.operands = operands(entry, op.def);
    op.attributes = attributes(entry);
    graph_.add_op(std::move(op));
    locations_.ops.push_back(start_of(entry.node()));
  }

  Role role(Reader& entry) {
    if (!entry.has("role")) {
      return Role::kActivation;
    }
    return look_up(entry, "role", "role", find_role, role_names()).value_or(Role::kActivation);
  }

  Split split(Reader& entry) {
    if (!entry.has("split")) {
      return Split::kReplicated;
    }
    return look_up(entry, "split", "split", find_split, split_names()).value_or(Split::kReplicated);
  }

  const Dtype* dtype(Reader& entry, std::string_view key) {
    return look_up(entry, key, "dtype", find_dtype, dtype_names());
  }

  BlockId block_of(Reader& entry) {
    const auto find = [this](std::string_view name) { return blocks_.find(name); };
    return look_up(entry, "block", "block", find, blocks_.all()).value_or(BlockId{});
  }

  Expr expression(const Node& node) {
    if (!node.is_scalar()) {
      error("graph-expression", "expected an expression", start_of(node));
      return {};
    }
    Result<Expr> parsed = parse_expr(node.scalar, graph_.pool(), inside(node));
    if (!parsed) {
      std::ranges::move(parsed.error(), std::back_inserter(diagnostics_));
      return {};
    }
    return *parsed;
  }

  std::vector<Expr> shape(Reader& entry) {
    std::vector<Expr> result;
    const Node* list = entry.require("shape") != nullptr ? entry.sequence("shape") : nullptr;
    if (list != nullptr) {
      for (const Node& extent : list->items) {
        result.push_back(expression(extent));
      }
    }
    return result;
  }

  std::map<std::string, Expr, std::less<>> dims(Reader& entry, const OpDef* def) {
    std::map<std::string, Expr, std::less<>> result;
    const Node* mapping = entry.mapping("dims");
    if (mapping == nullptr || def == nullptr) {
      return result;
    }
    Reader reader(*mapping, diagnostics_);
    for (const DimDef& dim : def->dims) {
      const Node* value = dim.otherwise ? reader.find(dim.name) : reader.require(dim.name);
      if (value != nullptr) {
        result.emplace(dim.name, expression(*value));
      }
    }
    reader.finish();
    return result;
  }

  std::vector<std::optional<TensorId>> operands(Reader& entry, const OpDef* def) {
    std::vector<std::optional<TensorId>> result;
    const Node* mapping = entry.mapping("operands");
    if (mapping == nullptr || def == nullptr) {
      return result;
    }
    const auto find = [this](std::string_view name) { return tensors_.find(name); };
    Reader reader(*mapping, diagnostics_);
    for (const OperandDef& operand : def->operands) {
      const bool absent = operand.optional && !reader.has(operand.name);
      result.push_back(absent ? std::nullopt
                              : look_up(reader, operand.name, "tensor", find, tensors_.all()));
    }
    reader.finish();
    return result;
  }

  static std::map<std::string, std::string, std::less<>> attributes(Reader& entry) {
    std::map<std::string, std::string, std::less<>> result;
    if (const Node* mapping = entry.mapping("attributes")) {
      for (const Node::Entry& attribute : mapping->entries) {
        result.emplace(attribute.key, attribute.value.scalar);
      }
    }
    return result;
  }

  Diagnostics diagnostics_;
  Graph graph_;
  GraphLocations locations_;
  Names<BlockId> blocks_;
  Names<TensorId> tensors_;
};

}  // namespace

Result<Graph> parse_graph(const Node& document) {
  return Parser().parse(document);
}

}  // namespace mansard::ir
