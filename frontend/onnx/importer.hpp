#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/onnx/node.hpp"
#include "support/result.hpp"

namespace mansard::frontend::onnx {

/// Names of a graph, a body or a function, and how they are found.
struct Scope {
  const Scope* parent = nullptr;  ///< Bodies see the names around them; functions do not.
  std::map<std::string, ValueId, std::less<>> names;
  std::map<std::string, const pb::ValueInfoProto*, std::less<>> declared;
  std::map<std::string, const pb::AttributeProto*, std::less<>>
      attributes;  ///< Of a function's call.
  std::map<std::string, int, std::less<>> opsets;
  std::string prefix;  ///< Of names of ops and symbols: "loop_body."
  int depth = 0;

  [[nodiscard]] std::optional<ValueId> find(std::string_view name) const;
};

/// Walks a model's nodes in order and builds the graph.
class Importer {
 public:
  Importer(const pb::ModelProto& model, std::string path, std::string name);

  Result<ir::Graph> run() &&;

  // For nodes and rules.
  [[nodiscard]] ir::Graph& graph() { return graph_; }
  [[nodiscard]] ir::ExprPool& pool() const { return graph_.pool(); }
  [[nodiscard]] const Value& value(ValueId id) const { return values_[id]; }
  [[nodiscard]] Value& value(ValueId id) { return values_[id]; }
  ValueId add(Value value);
  /// The graph's tensor of a value, made when first asked for.
  ir::TensorId tensor(ValueId id, bool is_weight);
  void emit(const Node& node, OpSpec spec);
  void error(const std::string& id, const std::string& message);
  void note(const std::string& sentence);
  /// The symbol of that name, declared with its meaning.
  Expr symbol(const std::string& name, const std::string& meaning);
  /// A name that no symbol has yet.
  Expr fresh_symbol(const std::string& name, const std::string& meaning);

  /// The value of a tensor that stands in the file.
  ValueId constant(const pb::TensorProto& tensor, const std::string& name, bool is_initializer);
  /// A tensor whose elements are not stored: ConstantOfShape.
  std::size_t add_root(Root root);
  [[nodiscard]] const Root& root(std::size_t i) const { return roots_[i]; }

  /// A constant that is stored with the weights but is no parameter (running statistics), or is
  /// one.
  void mark_buffer(ValueId id);
  void mark_weight(ValueId id);
  [[nodiscard]] Root& root(std::size_t i) { return roots_[i]; }

  /// Walks a body in a scope of its own and returns its outputs. Ops count `repeats` times.
  std::vector<std::optional<ValueId>> walk_body(const Node& node, const pb::GraphProto& body,
                                                const std::vector<ValueId>& inputs,
                                                const std::string& block, Expr repeats);
  /// Runs `work` without emitting.
  void silently(const std::function<void()>& work);
  [[nodiscard]] bool is_silent() const { return silent_ > 0; }
  [[nodiscard]] bool is_read_once(std::string_view name) const;
  /// A node whose op no rule knows: bytes only.
  void opaque(Node& node, bool is_known);

 private:
  void read_inputs(const pb::GraphProto& graph, Scope& scope);
  void read_initializers(const pb::GraphProto& graph, Scope& scope);
  void declare(const pb::GraphProto& graph, Scope& scope);
  void walk(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes, Scope& scope);
  void visit(const pb::NodeProto& proto, Scope& scope);
  void apply(Node& node, Scope& scope);
  void call(Node& node, const pb::FunctionProto& function, Scope& scope);
  void finish_outputs(Node& node, Scope& scope, std::optional<std::size_t> root, bool is_constant);
  void refine(ValueId id, const pb::ValueInfoProto& declared);
  [[nodiscard]] bool all_constant(const Node& node) const;
  [[nodiscard]] std::optional<Shape> declared_shape(const pb::TypeProto& type,
                                                    const std::string& name);
  Expr extent(const pb::TensorShapeProto::Dimension& dimension, const std::string& name,
              std::size_t axis);
  void check_outputs(const pb::GraphProto& graph, const Scope& scope);
  void resolve_unknowns();
  void add_facts();
  void name_unknown_operators();

  const pb::ModelProto& model_;
  std::string path_;
  ir::Graph graph_;
  std::deque<Value> values_;  ///< Stay where they are: rules hold references.
  std::deque<Root> roots_;
  std::map<std::string, const pb::FunctionProto*, std::less<>> functions_;
  std::map<std::string, std::size_t, std::less<>> reads_;  ///< How often a name is read.
  std::set<std::string, std::less<>> op_names_;
  std::set<std::string, std::less<>> tensor_names_;
  std::set<std::string, std::less<>> unknown_symbols_;  ///< Those that we made up.
  std::map<std::string, Expr, std::less<>> resolved_;   ///< Of them, those that the file declares.
  std::map<std::string, std::size_t, std::less<>> unknown_operators_;
  std::vector<ir::BlockId> blocks_;
  Diagnostics diagnostics_;
  std::size_t visited_ = 0;
  int silent_ = 0;
};

}  // namespace mansard::frontend::onnx
