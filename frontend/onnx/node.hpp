#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/onnx/proto.hpp"
#include "frontend/onnx/value.hpp"

namespace mansard::frontend::onnx {

class Importer;
struct Scope;

/// A value as an operand of an op to emit.
struct OperandOf {
  std::string_view name;
  ValueId value;
  bool is_weight = false;  ///< Stands where weights stand: it counts as parameters.
};

/// An op to emit. Operands that are not named stay absent.
struct OpSpec {
  std::string_view kind;
  std::vector<std::pair<std::string_view, Expr>> dims;
  std::vector<OperandOf> operands;
  std::vector<std::pair<std::string_view, std::string>> attributes = {};
  std::string suffix = {};  ///< Of the name, where a node is several ops.
};

/// A node as its rule sees it: inputs with what is known of them, attributes with defaults, and
/// outputs to be described. A rule describes every output and emits the ops; where the importer
/// only infers (constants, the first walk of a loop) emitting does nothing.
class Node {
 public:
  Node(Importer& importer, Scope& scope, const pb::NodeProto& proto, std::vector<int> opsets);

  [[nodiscard]] const pb::NodeProto& proto() const { return proto_; }
  [[nodiscard]] Scope& scope() const { return scope_; }
  [[nodiscard]] Importer& importer() const { return importer_; }
  [[nodiscard]] const std::string& type() const { return proto_.op_type(); }
  /// "MatMul"; of other domains "com.microsoft.Attention".
  [[nodiscard]] std::string full_type() const;
  /// For messages and ops: the node's own name, else its type and first output.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] int opset() const { return opset_; }
  [[nodiscard]] ir::ExprPool& pool() const;
  [[nodiscard]] Expr number(double value) const { return pool().constant(value); }

  // Inputs.
  [[nodiscard]] std::size_t inputs() const { return inputs_.size(); }
  [[nodiscard]] bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i]; }
  [[nodiscard]] ValueId id(std::size_t i) const { return *inputs_[i]; }
  [[nodiscard]] const Value& in(std::size_t i) const;
  /// The shape of an input; rules are only called when the ranks of all inputs are known.
  [[nodiscard]] const Shape& shape(std::size_t i) const { return *in(i).shape; }
  [[nodiscard]] std::size_t rank(std::size_t i) const { return shape(i).size(); }
  [[nodiscard]] Expr elements(std::size_t i) const;
  /// All elements of a small input of known numbers; absent if any is not known.
  [[nodiscard]] std::optional<std::vector<Expr>> content(std::size_t i) const;
  /// The same where all are constants.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::size_t i) const;
  /// An axis counted from the front, errors if out of range [-rank, rank).
  [[nodiscard]] std::optional<std::size_t> axis(std::int64_t axis, std::size_t rank);

  // Attributes.
  [[nodiscard]] const pb::AttributeProto* attribute(std::string_view name) const;
  [[nodiscard]] bool has_attribute(std::string_view name) const {
    return attribute(name) != nullptr;
  }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] double real(std::string_view name, double otherwise) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] std::vector<std::int64_t> list(std::string_view name) const;
  /// The list of an attribute, or of an input in later opsets.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> list_or_input(std::string_view name,
                                                                       std::size_t input) const;
  [[nodiscard]] const pb::GraphProto* body(std::string_view name) const;

  // Outputs.
  [[nodiscard]] std::size_t outputs() const {
    return static_cast<std::size_t>(proto_.output_size());
  }
  [[nodiscard]] bool wants(std::size_t i) const {
    return i < outputs() && !proto_.output(static_cast<int>(i)).empty();
  }
  /// Describes an output: a new value. Where the node has no such output it is made all the same,
  /// so that ops can be emitted into it.
  ValueId set(std::size_t i, int type, std::optional<Shape> shape,
              std::optional<std::vector<Expr>> content = std::nullopt);
  /// The output is an input seen in another shape: the same elements, nothing moves.
  ValueId view(std::size_t output, std::size_t input, Shape shape);
  ValueId view_of(std::size_t output, ValueId value, Shape shape);
  /// A value between two ops of one node.
  ValueId between(int type, Shape shape);
  /// A dimension that is not known before the graph runs, by name.
  [[nodiscard]] Expr unknown(const std::string& what, const std::string& meaning) const;
  [[nodiscard]] const std::vector<std::optional<ValueId>>& results() const { return results_; }

  void emit(OpSpec spec) const;
  /// An op of any number of inputs (elementwise, move, custom): all of `values`, in order.
  void emit_many(std::string_view kind, const std::vector<ValueId>& values, ValueId output,
                 std::vector<std::pair<std::string_view, Expr>> dims,
                 std::vector<std::pair<std::string_view, std::string>> attributes = {},
                 const std::string& suffix = {}) const;
  /// Data movement: all elements of the inputs named are read unless said, all of the output
  /// written.
  void emit_move(const std::vector<ValueId>& values, ValueId output) const;

  void error(const std::string& id, const std::string& message) const;
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  Importer& importer_;
  Scope& scope_;
  const pb::NodeProto& proto_;
  std::vector<std::optional<ValueId>> inputs_;
  std::vector<std::optional<ValueId>> results_;
  int opset_ = 0;
  mutable bool failed_ = false;
};

}  // namespace mansard::frontend::onnx
