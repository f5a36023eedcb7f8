#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

constexpr double kMostTrips = 1e15;  ///< Loops "until the condition fails" have INT64_MAX trips.

/// What a value looks like from outside: another value with the same facts.
ValueId copy_of(Node& node, ValueId id, std::size_t output, std::optional<Shape> shape) {
  const Value source = node.importer().value(id);
  const ValueId result = node.set(output, source.type, std::move(shape));
  Value& made = node.importer().value(result);
  made.tensor = source.tensor;
  made.is_sequence = source.is_sequence;
  return result;
}

/// The extents of two branches, those that differ as unknowns.
std::optional<Shape> joined(Node& node, const Value& a, const Value& b, std::size_t output) {
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) {
    return std::nullopt;
  }
  Shape shape = *a.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != (*b.shape)[i]) {
      shape[i] =
          node.unknown(fmt::format(".output{}.{}", output, i),
                       fmt::format("dimension {} of output {} of If '{}', which its branches "
                                   "do not agree on",
                                   i, output, node.name()));
    }
  }
  return shape;
}

/// A condition known when loading takes its branch; else both are there, each as often as the
/// condition's symbol says (1: the then branch).
void branch(Node& node) {
  const pb::GraphProto* yes = node.body("then_branch");
  const pb::GraphProto* no = node.body("else_branch");
  if (!needs_inputs(node, 1) || yes == nullptr || no == nullptr) {
    node.error("onnx-attribute", "has no then_branch and else_branch");
    return;
  }
  Importer& importer = node.importer();
  const auto known = node.content(0);
  const bool decided = known && known->size() == 1 && known->front().is_constant();
  const auto walk = [&](const pb::GraphProto& body, const char* name, Expr times) {
    return importer.walk_body(node, body, {}, fmt::format("{}.{}", node.name(), name), times);
  };
  if (decided) {
    const bool taken = known->front().constant() != 0;
    const auto results =
        taken ? walk(*yes, "then", node.number(1)) : walk(*no, "else", node.number(1));
    for (std::size_t i = 0; i < node.outputs() && i < results.size(); ++i) {
      if (results[i]) {
        const Value source = importer.value(*results[i]);
        const ValueId id = copy_of(node, *results[i], i, source.shape);
        importer.value(id).content = source.content;
        importer.value(id).is_constant = source.is_constant;
        importer.value(id).root = source.root;
      }
    }
    return;
  }
  const Value condition = node.in(0);
  const std::string meaning =
      fmt::format("1 where If '{}' takes its then branch, 0 where its else branch", node.name());
  const Expr times = condition.is_input ? importer.symbol(condition.name, meaning)
                                        : node.unknown(".then", meaning);
  const auto yes_results = walk(*yes, "then", times);
  const auto no_results = walk(*no, "else", difference(node.number(1), times));
  for (std::size_t i = 0; i < node.outputs(); ++i) {
    if (i >= yes_results.size() || i >= no_results.size() || !yes_results[i] || !no_results[i]) {
      continue;
    }
    const auto shape =
        joined(node, importer.value(*yes_results[i]), importer.value(*no_results[i]), i);
    copy_of(node, *yes_results[i], i, shape);
  }
}

/// Carried values whose extents a body changes are unknown after it: each such extent becomes a
/// symbol.
bool settle(Node& node, std::vector<ValueId>& carried,
            const std::vector<std::optional<ValueId>>& results, std::size_t first_result,
            std::size_t first_carried) {
  bool changed = false;
  for (std::size_t i = first_carried; i < carried.size(); ++i) {
    const std::size_t r = first_result + i - first_carried;
    if (r >= results.size() || !results[r]) {
      continue;
    }
    const Value before = node.importer().value(carried[i]);
    const Value after = node.importer().value(*results[r]);
    Value now = before;
    now.content.reset();
    now.is_constant = false;
    if (before.shape && (!after.shape || after.shape->size() != before.shape->size())) {
      now.shape.reset();
      changed = true;
    } else if (before.shape) {
      for (std::size_t d = 0; d < before.shape->size(); ++d) {
        if ((*before.shape)[d] != (*after.shape)[d]) {
          (*now.shape)[d] =
              node.unknown(fmt::format(".carried{}.{}", i - first_carried, d),
                           fmt::format("dimension {} of what {} '{}' carries, on average", d,
                                       node.type(), node.name()));
          changed = true;
        }
      }
    }
    carried[i] = node.importer().add(std::move(now));
  }
  return changed;
}

std::vector<std::optional<ValueId>> walk_twice(Node& node, const pb::GraphProto& body,
                                               std::vector<ValueId> inputs,
                                               std::size_t first_result, std::size_t first_carried,
                                               std::size_t carried, Expr trips) {
  Importer& importer = node.importer();
  const std::string name = fmt::format("{}.body", node.name());
  std::vector<std::optional<ValueId>> results;
  std::vector<ValueId> state(inputs.begin() + static_cast<std::ptrdiff_t>(first_carried),
                             inputs.begin() + static_cast<std::ptrdiff_t>(first_carried + carried));
  importer.silently([&] { results = importer.walk_body(node, body, inputs, name, trips); });
  settle(node, state, results, first_result, 0);
  std::ranges::copy(state, inputs.begin() + static_cast<std::ptrdiff_t>(first_carried));
  return importer.walk_body(node, body, inputs, name, trips);
}

/// Trips: the count given, unless a condition may end it earlier.
Expr loop_trips(Node& node, const pb::GraphProto& body) {
  const auto most = node.content(0);
  const auto go = node.content(1);
  // A body whose condition is what came in, or a constant, does not end it.
  const std::string condition = body.output_size() > 0 ? body.output(0).name() : std::string();
  bool runs_on = body.input_size() > 1 && condition == body.input(1).name();
  for (const pb::NodeProto& inside : body.node()) {
    if (inside.output_size() == 1 && inside.output(0) == condition) {
      runs_on = runs_on || inside.op_type() == "Constant" ||
                (inside.op_type() == "Identity" && body.input_size() > 1 &&
                 inside.input(0) == body.input(1).name());
    }
  }
  for (const pb::TensorProto& tensor : body.initializer()) {
    runs_on = runs_on || tensor.name() == condition;
  }
  const bool finite = most && most->size() == 1 &&
                      !(most->front().is_constant() && most->front().constant() > kMostTrips);
  if (finite && runs_on) {
    const Expr trips = most->front();
    return trips.is_constant() ? node.number(std::max(trips.constant(), 0.0)) : trips;
  }
  std::string meaning = fmt::format("times that Loop '{}' runs", node.name());
  if (finite && most->front().is_constant()) {
    meaning += fmt::format(", at most {}", most->front().constant());
  }
  return node.unknown(".trips", meaning);
}

/// Iteration, condition and carried values in; condition, carried and scanned values out.
void loop(Node& node) {
  const pb::GraphProto* body = node.body("body");
  if (body == nullptr) {
    node.error("onnx-attribute", "has no body");
    return;
  }
  Importer& importer = node.importer();
  const Expr trips = loop_trips(node, *body);
  const std::size_t carried = node.inputs() > 2 ? node.inputs() - 2 : 0;
  std::vector<ValueId> inputs;
  inputs.push_back(importer.add(
      {.name = node.name() + ".iteration", .type = pb::TensorProto::INT64, .shape = Shape()}));
  inputs.push_back(importer.add(
      {.name = node.name() + ".condition", .type = pb::TensorProto::BOOL, .shape = Shape()}));
  for (std::size_t i = 2; i < node.inputs(); ++i) {
    if (!node.has(i)) {
      node.error("onnx-inputs", fmt::format("carried input {} is missing", i));
      return;
    }
    inputs.push_back(node.id(i));
  }
  const auto results = walk_twice(node, *body, inputs, 1, 2, carried, trips);
  for (std::size_t i = 0; i < node.outputs(); ++i) {
    if (i + 1 >= results.size() || !results[i + 1]) {
      continue;
    }
    const ValueId result = *results[i + 1];
    std::optional<Shape> shape = importer.value(result).shape;
    if (i < carried) {
      copy_of(node, result, i, std::move(shape));
    } else {
      if (shape) {
        shape->insert(shape->begin(), trips);
      }
      node.set(i, importer.value(result).type, std::move(shape));
    }
  }
}

/// States and scanned inputs in; states and scanned outputs out. An axis gives the trips.
void scan(Node& node) {
  const pb::GraphProto* body = node.body("body");
  const auto scanned =
      static_cast<std::size_t>(std::max<std::int64_t>(node.integer("num_scan_inputs", 0), 0));
  const std::size_t skipped = node.opset() == 8 ? 1 : 0;  // Lengths of sequences came first.
  if (body == nullptr || scanned + skipped > node.inputs() || scanned == 0) {
    node.error("onnx-attribute", "has no body or no num_scan_inputs that fits its inputs");
    return;
  }
  Importer& importer = node.importer();
  const std::size_t states = node.inputs() - skipped - scanned;
  const std::vector<std::int64_t> axes = node.list("scan_input_axes");
  std::vector<ValueId> inputs;
  Expr trips = node.number(1);
  for (std::size_t i = skipped; i < node.inputs(); ++i) {
    if (!node.has(i)) {
      node.error("onnx-inputs", fmt::format("input {} is missing", i));
      return;
    }
    if (i < skipped + states) {
      inputs.push_back(node.id(i));
      continue;
    }
    const std::size_t which = i - skipped - states;
    const auto axis = node.axis(
        which < axes.size() ? axes[which] : static_cast<std::int64_t>(skipped), node.rank(i));
    if (!axis) {
      return;
    }
    Shape shape = node.shape(i);
    trips = shape[*axis];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*axis));
    inputs.push_back(importer.add({.name = fmt::format("{}.scanned{}", node.name(), which),
                                   .type = node.in(i).type,
                                   .shape = std::move(shape)}));
  }
  const auto results = walk_twice(node, *body, inputs, 0, 0, states, trips);
  const std::vector<std::int64_t> out_axes = node.list("scan_output_axes");
  for (std::size_t i = 0; i < node.outputs() && i < results.size(); ++i) {
    if (!results[i]) {
      continue;
    }
    std::optional<Shape> shape = importer.value(*results[i]).shape;
    if (i < states) {
      copy_of(node, *results[i], i, std::move(shape));
      continue;
    }
    if (shape) {
      const std::size_t which = i - states;
      const auto axis = node.axis(which < out_axes.size() ? out_axes[which] : 0, shape->size() + 1);
      shape->insert(shape->begin() + static_cast<std::ptrdiff_t>(axis.value_or(0)), trips);
    }
    node.set(i, importer.value(*results[i]).type, std::move(shape));
  }
}

constexpr std::array kRules = {
    RuleEntry{"If", branch, true, true},
    RuleEntry{"Loop", loop, true, true},
    RuleEntry{"Scan", scan, true, true},
};

}  // namespace

std::span<const RuleEntry> control_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
