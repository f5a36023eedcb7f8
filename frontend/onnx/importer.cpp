#include "frontend/onnx/importer.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <deque>

#include <fmt/format.h>

#include "frontend/onnx/content.hpp"
#include "frontend/onnx/facts.hpp"
#include "frontend/onnx/rules.hpp"
#include "frontend/onnx/types.hpp"
#include "ir/expr_text.hpp"
#include "ir/verify.hpp"

namespace mansard::frontend::onnx {
namespace {

constexpr std::size_t kMostErrors = 20;
constexpr int kDeepest = 32;                   ///< Of functions and bodies in each other.
constexpr std::size_t kMostNodes = 2'000'000;  ///< Visited, functions inlined.
constexpr double kGreatestExtent = 0x1p53;
constexpr std::string_view kStandard = "ai.onnx";

/// Letters, digits, `_` and `.`, beginning with a letter: what expressions can name.
std::string symbol_name(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    result += fits ? c : '_';
  }
  const std::size_t first = result.find_first_not_of("_.");
  result = first == std::string::npos ? "unnamed" : result.substr(first);
  return std::isdigit(static_cast<unsigned char>(result.front())) != 0 ? "n" + result : result;
}

std::string domain_of(const std::string& domain) {
  return domain.empty() ? std::string(kStandard) : domain;
}

std::string function_key(std::string_view domain, std::string_view name) {
  return fmt::format("{}::{}", domain, name);
}

}  // namespace

std::optional<ValueId> Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    if (const auto found = scope->names.find(name); found != scope->names.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

Importer::Importer(const pb::ModelProto& model, std::string path, std::string name)
    : model_(model), path_(std::move(path)) {
  graph_.facts.name = std::move(name);
  blocks_.push_back(graph_.add_block("graph", 1));
  for (const pb::FunctionProto& function : model.functions()) {
    functions_.emplace(function_key(domain_of(function.domain()), function.name()), &function);
  }
}

Result<ir::Graph> Importer::run() && {
  const pb::GraphProto& graph = model_.graph();
  if (!model_.has_graph() || (graph.node_size() == 0 && graph.output_size() == 0)) {
    return failure("onnx-empty", fmt::format("{}: the model has no graph", path_));
  }
  count_reads(graph, reads_);
  Scope scope;
  for (const pb::OperatorSetIdProto& opset : model_.opset_import()) {
    scope.opsets[domain_of(opset.domain())] = static_cast<int>(opset.version());
  }
  read_initializers(graph, scope);
  read_inputs(graph, scope);
  declare(graph, scope);
  walk(graph.node(), scope);
  check_outputs(graph, scope);
  resolve_unknowns();
  add_facts();
  if (diagnostics_.empty()) {
    for (Diagnostic& problem : ir::verify(graph_)) {
      problem.message = fmt::format("{}: {}", path_, problem.message);
      diagnostics_.push_back(std::move(problem));
    }
  }
  if (!diagnostics_.empty()) {
    return failure(std::move(diagnostics_));
  }
  return std::move(graph_);
}

void Importer::error(const std::string& id, const std::string& message) {
  if (diagnostics_.size() < kMostErrors) {
    const std::string text = fmt::format("{}: {}", path_, message);
    const bool known = std::ranges::any_of(
        diagnostics_, [&](const Diagnostic& other) { return other.message == text; });
    if (!known) {
      diagnostics_.push_back({.id = id, .message = text, .location = {}, .label = {}});
    }
  }
}

void Importer::note(const std::string& sentence) {
  if (std::ranges::find(graph_.facts.notes, sentence) == graph_.facts.notes.end()) {
    graph_.facts.notes.push_back(sentence);
  }
}

ValueId Importer::add(Value value) {
  values_.push_back(std::move(value));
  return values_.size() - 1;
}

Expr Importer::symbol(const std::string& name, const std::string& meaning) {
  const std::string clean = symbol_name(name);
  const bool ours = clean == "batch" || clean == "q_len" || clean == "context";
  std::vector<ir::DimensionSymbol>& symbols = graph_.facts.symbols;
  if (!ours && std::ranges::find(symbols, clean, &ir::DimensionSymbol::name) == symbols.end()) {
    symbols.push_back({clean, meaning});
  }
  return pool().symbol(clean);
}

Expr Importer::fresh_symbol(const std::string& name, const std::string& meaning) {
  std::string clean = symbol_name(name);
  for (int i = 2; pool().find_symbol(clean); ++i) {
    clean = fmt::format("{}.{}", symbol_name(name), i);
  }
  unknown_symbols_.insert(clean);
  return symbol(clean, meaning);
}

std::size_t Importer::add_root(Root root) {
  roots_.push_back(std::move(root));
  return roots_.size() - 1;
}

ValueId Importer::constant(const pb::TensorProto& tensor, const std::string& name,
                           bool is_initializer) {
  Root root{.name = name, .type = tensor.data_type(), .is_initializer = is_initializer};
  Shape shape;
  double elements = 1;
  for (const std::int64_t dim : tensor.dims()) {
    if (dim < 0) {
      error("onnx-dimension", fmt::format("tensor '{}' has dimension {}", name, dim));
      return add({.name = name, .type = tensor.data_type()});
    }
    elements *= static_cast<double>(dim);
    root.dims.push_back(dim);
    shape.push_back(pool().constant(static_cast<double>(dim)));
  }
  if (elements >= kGreatestExtent) {
    error("onnx-dimension",
          fmt::format("tensor '{}' has {:g} elements, more than 2^53", name, elements));
    return add({.name = name, .type = tensor.data_type()});
  }
  std::optional<std::vector<Expr>> content = content_of(tensor, pool(), elements);
  return add({.name = name,
              .type = tensor.data_type(),
              .shape = std::move(shape),
              .content = std::move(content),
              .is_constant = true,
              .root = add_root(std::move(root))});
}

void Importer::read_initializers(const pb::GraphProto& graph, Scope& scope) {
  for (const pb::TensorProto& tensor : graph.initializer()) {
    if (scope.names.contains(tensor.name())) {
      error("onnx-duplicate", fmt::format("a second initializer is called '{}'", tensor.name()));
    }
    scope.names[tensor.name()] = constant(tensor, scope.prefix + tensor.name(), true);
  }
  for (const pb::SparseTensorProto& sparse : graph.sparse_initializer()) {
    pb::TensorProto dense;
    dense.set_data_type(sparse.values().data_type());
    *dense.mutable_dims() = sparse.dims();
    const std::string& name = sparse.values().name();
    scope.names[name] = constant(dense, scope.prefix + name, true);
    note("sparse initializers are counted as dense ones");
  }
}

Expr Importer::extent(const pb::TensorShapeProto::Dimension& dimension, const std::string& name,
                      std::size_t axis) {
  if (dimension.has_dim_value() && dimension.dim_value() >= 0) {
    const auto value = static_cast<double>(dimension.dim_value());
    if (value >= kGreatestExtent) {
      error("onnx-dimension", fmt::format("dimension {} of '{}' is {}, more than 2^53", axis, name,
                                          dimension.dim_value()));
      return pool().constant(1);
    }
    return pool().constant(value);
  }
  const std::string meaning = fmt::format("dimension {} of {}", axis, name);
  const std::string& given = dimension.dim_param();
  if (given.empty()) {
    if (dimension.has_dim_value() && dimension.dim_value() < -1) {
      error("onnx-dimension",
            fmt::format("dimension {} of '{}' is {}", axis, name, dimension.dim_value()));
    }
    return symbol(fmt::format("{}.{}", name, axis), meaning);
  }
  // Exporters write sums and products of symbols as names: "past_sequence_length + 1".
  const bool composed = given.find_first_of("+-*") != std::string::npos &&
                        given.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                            "YZ0123456789_+-* ()") == std::string::npos;
  if (composed) {
    ir::ExprPool trial;
    if (const auto parsed = ir::parse_expr(given, trial)) {
      for (const Expr part : ir::symbols_of(*parsed)) {
        (void)symbol(std::string(part->symbol), meaning);
      }
      return canonical(ir::import(*parsed, pool()));
    }
  }
  return symbol(given, meaning);
}

std::optional<Shape> Importer::declared_shape(const pb::TypeProto& type, const std::string& name) {
  const auto read = [&](const pb::TypeProto::Tensor& tensor) -> std::optional<Shape> {
    if (!tensor.has_shape()) {
      return std::nullopt;
    }
    Shape shape;
    for (const auto& dimension : tensor.shape().dim()) {
      shape.push_back(extent(dimension, name, shape.size()));
    }
    return shape;
  };
  if (type.has_tensor_type()) {
    return read(type.tensor_type());
  }
  if (type.has_optional_type() && type.optional_type().elem_type().has_tensor_type()) {
    return read(type.optional_type().elem_type().tensor_type());
  }
  return std::nullopt;
}

void Importer::read_inputs(const pb::GraphProto& graph, Scope& scope) {
  for (const pb::ValueInfoProto& input : graph.input()) {
    if (scope.names.contains(input.name())) {
      continue;  // Before IR 4 initializers are inputs too.
    }
    const std::string name = scope.prefix + input.name();
    scope.names[input.name()] = add({.name = name,
                                     .type = input.type().tensor_type().elem_type(),
                                     .shape = declared_shape(input.type(), name),
                                     .is_sequence = input.type().has_sequence_type(),
                                     .is_input = true});
  }
}

void Importer::declare(const pb::GraphProto& graph, Scope& scope) {
  for (const auto* infos : {&graph.value_info(), &graph.output()}) {
    for (const pb::ValueInfoProto& info : *infos) {
      scope.declared.emplace(info.name(), &info);
    }
  }
}

/// Nodes in an order in which each follows what it reads; files need not keep it. What cannot be
/// ordered is a cycle.
void Importer::walk(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes, Scope& scope) {
  const std::size_t count = static_cast<std::size_t>(nodes.size());
  std::map<std::string_view, std::size_t> makers;
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::string& output : nodes[static_cast<int>(i)].output()) {
      if (!output.empty() && !makers.emplace(output, i).second) {
        error("onnx-duplicate",
              fmt::format("'{}{}' is written by two nodes", scope.prefix, output));
      }
    }
  }
  std::vector<std::vector<std::size_t>> readers(count);
  std::vector<std::size_t> waiting(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::set<std::string, std::less<>> names;
    reads_of(nodes[static_cast<int>(i)], names);
    for (const std::string& name : names) {
      const auto maker = makers.find(name);
      if (maker != makers.end() && !scope.names.contains(name)) {
        readers[maker->second].push_back(i);
        ++waiting[i];
      }
    }
  }
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (waiting[i] == 0) {
      ready.insert(i);
    }
  }
  std::size_t done = 0;
  while (!ready.empty()) {
    const std::size_t i = *ready.begin();
    ready.erase(ready.begin());
    ++done;
    visit(nodes[static_cast<int>(i)], scope);
    for (const std::size_t reader : readers[i]) {
      if (--waiting[reader] == 0) {
        ready.insert(reader);
      }
    }
  }
  if (done < count) {
    const auto stuck = std::ranges::find_if(waiting, [](std::size_t n) { return n > 0; });
    const pb::NodeProto& node = nodes[static_cast<int>(stuck - waiting.begin())];
    error("onnx-cycle",
          fmt::format("{} nodes wait for each other in a cycle, among them '{}' ({})", count - done,
                      scope.prefix + (node.name().empty() && node.output_size() > 0 ? node.output(0)
                                                                                    : node.name()),
                      node.op_type()));
  }
}

void Importer::visit(const pb::NodeProto& proto, Scope& scope) {
  if (++visited_ > kMostNodes) {
    error("onnx-size", fmt::format("more than {} nodes once functions are inlined", kMostNodes));
    return;
  }
  if (diagnostics_.size() >= kMostErrors) {
    return;
  }
  const auto opset = scope.opsets.find(domain_of(proto.domain()));
  Node node(*this, scope, proto, {opset == scope.opsets.end() ? 0 : opset->second});
  const bool folds = all_constant(node);
  std::optional<std::size_t> root;
  for (std::size_t i = 0; i < node.inputs() && folds; ++i) {
    if (node.has(i) && node.in(i).root && !root) {
      root = node.in(i).root;
    }
  }
  if (!node.failed()) {
    if (folds) {
      silently([&] { apply(node, scope); });
    } else {
      apply(node, scope);
    }
  }
  finish_outputs(node, scope, root, folds);
}

bool Importer::all_constant(const Node& node) const {
  const RuleEntry* rule = find_rule(node.full_type());
  if (rule == nullptr || rule->never_constant) {
    return false;
  }
  bool any = false;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (node.has(i)) {
      any = true;
      if (!node.in(i).is_constant) {
        return false;
      }
    }
  }
  return any;
}

void Importer::apply(Node& node, Scope& scope) {
  const auto function =
      functions_.find(function_key(domain_of(node.proto().domain()), node.type()));
  if (function != functions_.end()) {
    call(node, *function->second, scope);
    return;
  }
  const RuleEntry* rule = find_rule(node.full_type());
  bool ranks = true;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    ranks = ranks && (!node.has(i) || node.in(i).shape);
  }
  if (rule == nullptr || (!ranks && !rule->any_rank)) {
    opaque(node, rule != nullptr);
    return;
  }
  rule->rule(node);
}

void Importer::call(Node& node, const pb::FunctionProto& function, Scope& scope) {
  if (scope.depth >= kDeepest) {
    error("onnx-depth",
          fmt::format("function '{}' calls itself, or functions and bodies are nested "
                      "deeper than {}",
                      function.name(), kDeepest));
    return;
  }
  Scope inner;
  inner.depth = scope.depth + 1;
  inner.prefix = node.name() + ".";
  inner.opsets = scope.opsets;
  for (const pb::OperatorSetIdProto& opset : function.opset_import()) {
    inner.opsets[domain_of(opset.domain())] = static_cast<int>(opset.version());
  }
  for (int i = 0; i < function.input_size(); ++i) {
    if (node.has(static_cast<std::size_t>(i))) {
      inner.names[function.input(i)] = node.id(static_cast<std::size_t>(i));
    }
  }
  const std::deque<pb::AttributeProto> defaults = default_attributes(function);
  for (const pb::AttributeProto& attribute : defaults) {
    inner.attributes[attribute.name()] = &attribute;
  }
  for (const pb::AttributeProto& attribute : node.proto().attribute()) {
    if (const pb::AttributeProto* actual = node.attribute(attribute.name())) {
      inner.attributes[attribute.name()] = actual;
    }
  }
  std::set<std::string, std::less<>> optional(function.input().begin(), function.input().end());
  for (const pb::NodeProto& inside : function.node()) {
    // An input that the call leaves out is absent inside too.
    bool has_absent = false;
    for (const std::string& name : inside.input()) {
      has_absent = has_absent || (optional.contains(name) && !inner.names.contains(name));
    }
    if (has_absent) {
      pb::NodeProto without = inside;
      for (std::string& name : *without.mutable_input()) {
        if (optional.contains(name) && !inner.names.contains(name)) {
          name.clear();
        }
      }
      visit(without, inner);
    } else {
      visit(inside, inner);
    }
  }
  for (int i = 0; i < function.output_size() && i < node.proto().output_size(); ++i) {
    if (const auto made = inner.find(function.output(i))) {
      const Value value = this->value(*made);
      const ValueId id =
          node.set(static_cast<std::size_t>(i), value.type, value.shape, value.content);
      Value& result = this->value(id);
      result.tensor = value.tensor;
      result.is_constant = value.is_constant;
      result.root = value.root;
      result.is_sequence = value.is_sequence;
    }
  }
}

void Importer::finish_outputs(Node& node, Scope& scope, std::optional<std::size_t> root,
                              bool is_constant) {
  for (std::size_t i = 0; i < node.outputs(); ++i) {
    const std::string& name = node.proto().output(static_cast<int>(i));
    if (name.empty()) {
      continue;
    }
    ValueId id = node.results()[i] ? *node.results()[i] : node.set(i, 0, std::nullopt);
    Value& made = values_[id];
    if (is_constant) {
      made.is_constant = true;
      made.root = made.root ? made.root : root;
    }
    scope.names[name] = id;
    if (const auto declared = scope.declared.find(name); declared != scope.declared.end()) {
      refine(id, *declared->second);
    }
  }
}

/// What the file declares of a value fills in what we do not know of it.
void Importer::refine(ValueId id, const pb::ValueInfoProto& declared) {
  if (!declared.type().has_tensor_type() || declared.type().tensor_type().elem_type() == 0) {
    return;
  }
  Value& value = values_[id];
  value.type = value.type == 0 ? declared.type().tensor_type().elem_type() : value.type;
  if (!declared.type().tensor_type().has_shape()) {
    return;
  }
  const auto& dims = declared.type().tensor_type().shape().dim();
  if (!value.shape) {
    value.shape = declared_shape(declared.type(), value.name);
    return;
  }
  if (value.shape->size() != static_cast<std::size_t>(dims.size())) {
    return;
  }
  for (int i = 0; i < dims.size(); ++i) {
    Expr& ours = (*value.shape)[static_cast<std::size_t>(i)];
    const bool made_up =
        ours->kind == ir::ExprKind::kSymbol && unknown_symbols_.contains(std::string(ours->symbol));
    const bool says_more = dims[i].has_dim_value() && dims[i].dim_value() >= 0;
    if (made_up && says_more && !resolved_.contains(ours->symbol)) {
      const Expr known = extent(dims[i], value.name, static_cast<std::size_t>(i));
      resolved_.emplace(std::string(ours->symbol), known);
      ours = known;
    } else if (made_up && resolved_.contains(ours->symbol)) {
      ours = resolved_.find(ours->symbol)->second;
    }
  }
}

ir::TensorId Importer::tensor(ValueId id, bool is_weight) {
  Value& value = values_[id];
  if (value.is_constant && value.root) {
    Root& root = roots_[*value.root];
    Expr held = pool().constant(1);
    Shape dims;
    for (const std::int64_t dim : root.dims) {
      dims.push_back(pool().constant(static_cast<double>(dim)));
      held = product(held, dims.back());
    }
    const Expr needed = value.shape ? elements(pool(), *value.shape) : held;
    const bool grown = needed.is_constant() && needed.constant() > held.constant();
    if (!grown && needed.is_constant()) {
      if (!root.tensor) {
        root.tensor = graph_.add_tensor(
            {.name = root.name,
             .role = ir::Role::kWeight,
             .dtype = root.dtype != nullptr ? root.dtype : dtype_of(root.type),
             .shape = dims,
             .block = blocks_.front(),
             .buffer = !(root.counts || (root.is_initializer && is_float(root.type)))});
        for (int i = 2; !tensor_names_.insert(graph_.tensor(*root.tensor).name).second; ++i) {
          graph_.tensor(*root.tensor).name = fmt::format("{}.{}", root.name, i);
        }
      }
      if (is_weight) {
        graph_.tensor(*root.tensor).buffer = false;
      }
      return *root.tensor;
    }
  }
  if (value.tensor) {
    return *value.tensor;
  }
  const bool workload =
      value.shape && std::ranges::all_of(*value.shape, [](Expr e) { return e.is_constant(); });
  std::string name = value.name.empty() ? "unnamed" : value.name;
  for (int i = 2; !tensor_names_.insert(name).second; ++i) {
    name = fmt::format("{}.{}", value.name, i);
  }
  Shape shape;
  if (value.shape) {
    shape = *value.shape;
  } else {
    shape = {fresh_symbol(value.name + ".elements", fmt::format("elements of {}", value.name))};
  }
  const bool stored = value.is_constant && workload;
  value.tensor = graph_.add_tensor({.name = name,
                                    .role = stored ? ir::Role::kWeight : ir::Role::kActivation,
                                    .dtype = dtype_of(value.type),
                                    .shape = std::move(shape),
                                    .block = stored ? blocks_.front() : blocks_.back(),
                                    .buffer = stored});
  return *value.tensor;
}

void Importer::mark_buffer(ValueId id) {
  if (!is_silent() && values_[id].root && roots_[*values_[id].root].tensor) {
    graph_.tensor(*roots_[*values_[id].root].tensor).buffer = true;
  }
}

void Importer::mark_weight(ValueId id) {
  if (!is_silent() && values_[id].root && roots_[*values_[id].root].tensor) {
    graph_.tensor(*roots_[*values_[id].root].tensor).buffer = false;
  }
}

void Importer::emit(const Node& node, OpSpec spec) {
  if (is_silent() || node.failed()) {
    return;
  }
  const ir::OpDef* def = ir::find_op(spec.kind);
  ir::Op op{.name = node.name() + spec.suffix, .def = def, .block = blocks_.back()};
  for (int i = 2; !op_names_.insert(op.name).second; ++i) {
    op.name = fmt::format("{}{}.{}", node.name(), spec.suffix, i);
  }
  for (const auto& [name, value] : spec.dims) {
    op.dims.insert_or_assign(std::string(name), value);
  }
  op.attributes.emplace("node", node.full_type());
  for (auto& [name, value] : spec.attributes) {
    op.attributes.insert_or_assign(std::string(name), std::move(value));
  }
  for (const ir::OperandDef& operand : def->operands) {
    const auto found = std::ranges::find(spec.operands, operand.name, &OperandOf::name);
    op.operands.push_back(found == spec.operands.end()
                              ? std::nullopt
                              : std::optional(tensor(found->value, found->is_weight)));
  }
  graph_.add_op(std::move(op));
}

void Importer::opaque(Node& node, bool is_known) {
  if (!is_known) {
    ++unknown_operators_[node.full_type()];
  } else if (!is_silent()) {
    note(fmt::format("{}: the rank of an input is not known, so it is counted as bytes only",
                     node.full_type()));
    ++unknown_operators_[node.full_type()];
  }
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (node.has(i)) {
      inputs.push_back(node.id(i));
    }
  }
  for (std::size_t i = 0; i < node.outputs(); ++i) {
    if (!node.wants(i)) {
      continue;
    }
    const auto declared = node.scope().declared.find(node.proto().output(static_cast<int>(i)));
    std::optional<Shape> shape;
    int type = inputs.empty() ? 0 : values_[inputs.front()].type;
    if (declared != node.scope().declared.end()) {
      shape = declared_shape(declared->second->type(), declared->first);
      type = declared->second->type().tensor_type().elem_type();
    }
    const ValueId output = node.set(i, type, std::move(shape));
    if (is_silent() || inputs.empty()) {
      continue;
    }
    // Their elements are those of the tensors, of unknown rank or not.
    std::vector<std::pair<std::string_view, Expr>> dims;
    const auto count = [&](ValueId id) {
      return graph_.elements(graph_.tensor(tensor(id, false)));
    };
    dims.emplace_back("n", count(output));
    for (std::size_t j = 0; j < inputs.size() && j <= ir_more_inputs(); ++j) {
      dims.emplace_back(more_input_dim(j), i == 0 ? count(inputs[j]) : pool().constant(0));
    }
    node.emit_many("custom", inputs, output, std::move(dims), {{"function", node.full_type()}},
                   i == 0 ? "" : fmt::format(".output{}", i));
  }
}

std::vector<std::optional<ValueId>> Importer::walk_body(const Node& node,
                                                        const pb::GraphProto& body,
                                                        const std::vector<ValueId>& inputs,
                                                        const std::string& block, Expr repeats) {
  std::vector<std::optional<ValueId>> results;
  if (node.scope().depth >= kDeepest) {
    error("onnx-depth", fmt::format("bodies are nested deeper than {}", kDeepest));
    return results;
  }
  Scope inner;
  inner.parent = &node.scope();
  inner.depth = node.scope().depth + 1;
  inner.prefix = block + ".";
  inner.opsets = node.scope().opsets;
  inner.attributes = node.scope().attributes;
  const ir::Block outer = graph_.block(blocks_.back());
  const bool opens = !is_silent();
  if (opens) {
    Expr total = product(graph_.repeats(blocks_.back()), repeats);
    std::string name = block;
    for (int i = 2;
         std::ranges::find(graph_.blocks(), name, &ir::Block::name) != graph_.blocks().end(); ++i) {
      name = fmt::format("{}.{}", block, i);
    }
    const bool fixed = total.is_constant() && total.constant() >= 1;
    const ir::BlockId id =
        graph_.add_block(name, fixed ? static_cast<std::int64_t>(total.constant()) : 1);
    if (!fixed) {
      graph_.blocks()[ir::index(id)].repeats = total;
    }
    blocks_.push_back(id);
  }
  read_initializers(body, inner);
  for (int i = 0; i < body.input_size(); ++i) {
    if (static_cast<std::size_t>(i) < inputs.size()) {
      inner.names[body.input(i).name()] = inputs[static_cast<std::size_t>(i)];
    }
  }
  read_inputs(body, inner);
  declare(body, inner);
  walk(body.node(), inner);
  for (const pb::ValueInfoProto& output : body.output()) {
    results.push_back(inner.find(output.name()));
    if (!results.back()) {
      error("onnx-missing-output",
            fmt::format("'{}{}' is an output that no node writes", inner.prefix, output.name()));
    }
  }
  if (opens) {
    blocks_.pop_back();
  }
  return results;
}

void Importer::silently(const std::function<void()>& work) {
  ++silent_;
  work();
  --silent_;
}

bool Importer::is_read_once(std::string_view name) const {
  const auto found = reads_.find(name);
  return found != reads_.end() && found->second == 1;
}

void Importer::check_outputs(const pb::GraphProto& graph, const Scope& scope) {
  for (const pb::ValueInfoProto& output : graph.output()) {
    if (!scope.find(output.name())) {
      error("onnx-missing-output",
            fmt::format("'{}' is an output that no node writes", output.name()));
    }
  }
}

/// Puts in what the file declared of dimensions that we had made up, and forgets symbols that
/// nothing reads.
void Importer::resolve_unknowns() {
  std::set<std::string, std::less<>> read;
  const auto resolve = [&](Expr& e) {
    if (!resolved_.empty()) {
      e = ir::substitute(e, pool(), [&](const ir::ExprNode& node) {
        const auto found = resolved_.find(node.symbol);
        return found == resolved_.end() ? Expr() : found->second;
      });
    }
    for (const Expr part : ir::symbols_of(e)) {
      read.insert(std::string(part->symbol));
    }
  };
  for (ir::Tensor& tensor : graph_.tensors()) {
    for (Expr& extent : tensor.shape) {
      resolve(extent);
    }
  }
  for (ir::Op& op : graph_.ops()) {
    for (auto& [name, value] : op.dims) {
      resolve(value);
    }
  }
  for (ir::Block& block : graph_.blocks()) {
    if (block.repeats) {
      resolve(block.repeats);
    }
  }
  std::erase_if(graph_.facts.symbols,
                [&](const ir::DimensionSymbol& symbol) { return !read.contains(symbol.name); });
}

void Importer::add_facts() {
  graph_.facts.file = file_facts(model_);
  for (const auto& [type, count] : unknown_operators_) {
    graph_.facts.file->unknown_operators.push_back(type);
  }
  std::map<std::string_view, std::size_t> types;
  for (const ir::Op& op : graph_.ops()) {
    if (op.def->engine != ir::Engine::kNone) {
      ++types[graph_.tensor(*op.operands.front()).dtype->name];
    }
  }
  const auto usual = std::ranges::max_element(types, {}, [](const auto& t) { return t.second; });
  graph_.facts.activations = ir::find_dtype(usual == types.end() ? "fp32" : usual->first);
  name_unknown_operators();
  constexpr std::int64_t kCheckedIr = 8;
  if (model_.ir_version() > kCheckedIr) {
    note(
        fmt::format("the file is of IR {}, newer than the IR {} of the message definitions it is "
                    "read with: fields added since are ignored",
                    model_.ir_version(), kCheckedIr));
  }
}

void Importer::name_unknown_operators() {
  if (unknown_operators_.empty()) {
    return;
  }
  std::string list;
  for (const auto& [type, count] : unknown_operators_) {
    list += fmt::format("{}{} x {}", list.empty() ? "" : ", ", type, count);
  }
  note(
      fmt::format("totals are partial: ops of kinds that are not known are counted as bytes only "
                  "({})",
                  list));
}

}  // namespace mansard::frontend::onnx
