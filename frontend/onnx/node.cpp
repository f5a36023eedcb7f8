#include "frontend/onnx/node.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/importer.hpp"
#include "ir/ops/many_inputs.hpp"

namespace mansard::frontend::onnx {
namespace {

std::optional<std::vector<std::int64_t>> whole(const std::optional<std::vector<Expr>>& content) {
  constexpr double kLargest = 9.2e18;
  if (!content) {
    return std::nullopt;
  }
  std::vector<std::int64_t> result;
  for (const Expr element : *content) {
    if (!element || !element.is_constant() || !(std::abs(element.constant()) <= 1e19)) {
      return std::nullopt;
    }
    // INT64_MAX stands for "to the end" and is no double.
    result.push_back(
        static_cast<std::int64_t>(std::clamp(element.constant(), -kLargest, kLargest)));
  }
  return result;
}

}  // namespace

Node::Node(Importer& importer, Scope& scope, const pb::NodeProto& proto, std::vector<int> opsets)
    : importer_(importer),
      scope_(scope),
      proto_(proto),
      results_(static_cast<std::size_t>(proto.output_size())),
      opset_(opsets.empty() ? 0 : opsets.front()) {
  for (const std::string& name : proto.input()) {
    inputs_.push_back(name.empty() ? std::nullopt : scope.find(name));
    if (!name.empty() && !inputs_.back()) {
      error("onnx-missing-input",
            fmt::format("reads '{}', which no input, initializer or node defines", name));
    }
  }
}

std::string Node::full_type() const {
  const std::string& domain = proto_.domain();
  return domain.empty() || domain == "ai.onnx" ? type() : domain + "." + type();
}

std::string Node::name() const {
  if (!proto_.name().empty()) {
    return scope_.prefix + proto_.name();
  }
  const std::string output = proto_.output_size() > 0 ? proto_.output(0) : std::string();
  return fmt::format("{}{}:{}", scope_.prefix, type(), output);
}

ir::ExprPool& Node::pool() const {
  return importer_.pool();
}

const Value& Node::in(std::size_t i) const {
  return importer_.value(*inputs_[i]);
}

Expr Node::elements(std::size_t i) const {
  return onnx::elements(pool(), shape(i));
}

std::optional<std::vector<Expr>> Node::content(std::size_t i) const {
  if (!has(i) || !in(i).content) {
    return std::nullopt;
  }
  const std::vector<Expr>& content = *in(i).content;
  const bool all = std::ranges::all_of(content, [](Expr e) { return static_cast<bool>(e); });
  return all ? std::optional(content) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> Node::integers(std::size_t i) const {
  return has(i) ? whole(in(i).content) : std::nullopt;
}

std::optional<std::size_t> Node::axis(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) {
    error("onnx-axis", fmt::format("axis {} of a tensor of rank {}", axis, rank));
    return std::nullopt;
  }
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

const pb::AttributeProto* Node::attribute(std::string_view name) const {
  for (const pb::AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() != name) {
      continue;
    }
    if (attribute.ref_attr_name().empty()) {
      return &attribute;
    }
    const auto found = scope_.attributes.find(attribute.ref_attr_name());
    return found == scope_.attributes.end() ? nullptr : found->second;
  }
  return nullptr;
}

std::int64_t Node::integer(std::string_view name, std::int64_t otherwise) const {
  const pb::AttributeProto* found = attribute(name);
  return found != nullptr && found->has_i() ? found->i() : otherwise;
}

double Node::real(std::string_view name, double otherwise) const {
  const pb::AttributeProto* found = attribute(name);
  return found != nullptr && found->has_f() ? found->f() : otherwise;
}

std::string Node::text(std::string_view name, std::string_view otherwise) const {
  const pb::AttributeProto* found = attribute(name);
  return found != nullptr && found->has_s() ? found->s() : std::string(otherwise);
}

std::vector<std::int64_t> Node::list(std::string_view name) const {
  const pb::AttributeProto* found = attribute(name);
  return found == nullptr ? std::vector<std::int64_t>()
                          : std::vector<std::int64_t>(found->ints().begin(), found->ints().end());
}

std::optional<std::vector<std::int64_t>> Node::list_or_input(std::string_view name,
                                                             std::size_t input) const {
  return has_attribute(name) ? std::optional(list(name)) : integers(input);
}

const pb::GraphProto* Node::body(std::string_view name) const {
  const pb::AttributeProto* found = attribute(name);
  return found != nullptr && found->has_g() ? &found->g() : nullptr;
}

ValueId Node::set(std::size_t i, int type, std::optional<Shape> shape,
                  std::optional<std::vector<Expr>> content) {
  const std::string name = wants(i) ? scope_.prefix + proto_.output(static_cast<int>(i))
                                    : fmt::format("{}.output{}", this->name(), i);
  const ValueId id = importer_.add(
      {.name = name, .type = type, .shape = std::move(shape), .content = std::move(content)});
  if (i < results_.size()) {
    results_[i] = id;
  }
  return id;
}

ValueId Node::view(std::size_t output, std::size_t input, Shape shape) {
  return view_of(output, id(input), std::move(shape));
}

ValueId Node::view_of(std::size_t output, ValueId value, Shape shape) {
  if (!importer_.is_silent() && !importer_.value(value).is_constant) {
    (void)importer_.tensor(value, false);
  }
  const Value source = importer_.value(value);
  const ValueId result = set(output, source.type, std::move(shape), source.content);
  Value& made = importer_.value(result);
  made.tensor = source.tensor;
  made.is_input = source.is_input;
  return result;
}

ValueId Node::between(int type, Shape shape) {
  return importer_.add({.name = name() + ".between", .type = type, .shape = std::move(shape)});
}

Expr Node::unknown(const std::string& what, const std::string& meaning) const {
  const std::string output = proto_.output_size() > 0 ? proto_.output(0) : type();
  return importer_.fresh_symbol(fmt::format("{}{}{}", scope_.prefix, output, what), meaning);
}

void Node::emit(OpSpec spec) const {
  importer_.emit(*this, std::move(spec));
}

void Node::emit_many(std::string_view kind, const std::vector<ValueId>& values, ValueId output,
                     std::vector<std::pair<std::string_view, Expr>> dims,
                     std::vector<std::pair<std::string_view, std::string>> attributes,
                     const std::string& suffix) const {
  OpSpec spec{.kind = kind,
              .dims = std::move(dims),
              .operands = {{"o", output}},
              .attributes = std::move(attributes),
              .suffix = suffix};
  const auto read = [&](ValueId id) {
    return onnx::elements(pool(), importer_.value(id).shape.value_or(Shape()));
  };
  for (std::size_t i = 0; i < values.size() && i <= ir::ops::kMoreInputs.size(); ++i) {
    const auto more = i == 0 ? ir::ops::MoreInput{"x", "i"} : ir::ops::kMoreInputs.at(i - 1);
    spec.operands.push_back({more.operand, values[i]});
    const bool given =
        std::ranges::any_of(spec.dims, [&](const auto& dim) { return dim.first == more.dim; });
    if (!given) {
      spec.dims.emplace_back(more.dim, read(values[i]));
    }
  }
  emit(std::move(spec));
}

void Node::emit_move(const std::vector<ValueId>& values, ValueId output) const {
  emit_many("move", values, output,
            {{"n", onnx::elements(pool(), importer_.value(output).shape.value_or(Shape()))}},
            {{"function", type()}});
}

void Node::error(const std::string& id, const std::string& message) const {
  failed_ = true;
  importer_.error(id, fmt::format("node '{}' ({}): {}", name(), full_type(), message));
}

}  // namespace mansard::frontend::onnx
