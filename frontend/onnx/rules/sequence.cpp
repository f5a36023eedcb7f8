#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

// Sequences hold tensors that stay where they are. The shape of a sequence's value is that of each
// of its tensors, as far as they agree.

ValueId set_sequence(Node& node, int type, std::optional<Shape> element) {
  const ValueId id = node.set(0, type, std::move(element));
  node.importer().value(id).is_sequence = true;
  return id;
}

/// What all tensors of the inputs from `first` on agree on; extents that differ are unknown.
std::optional<Shape> common_shape(const Node& node, std::size_t first, std::size_t end) {
  std::optional<Shape> shape;
  for (std::size_t i = first; i < end; ++i) {
    if (!node.has(i) || !node.in(i).shape) {
      return std::nullopt;
    }
    if (!shape) {
      shape = node.shape(i);
      continue;
    }
    if (shape->size() != node.rank(i)) {
      return std::nullopt;
    }
    for (std::size_t d = 0; d < shape->size(); ++d) {
      if ((*shape)[d] != node.shape(i)[d]) {
        (*shape)[d] = node.unknown(fmt::format(".{}", d),
                                   fmt::format("dimension {} of the tensors of {} '{}', on average",
                                               d, node.type(), node.name()));
      }
    }
  }
  return shape;
}

int type_of(const Node& node, std::size_t i) {
  return node.has(i) ? node.in(i).type : 0;
}

void construct(Node& node) {
  set_sequence(node, type_of(node, 0), common_shape(node, 0, node.inputs()));
}

void empty(Node& node) {
  set_sequence(node, static_cast<int>(node.integer("dtype", pb::TensorProto::FLOAT)), std::nullopt);
}

void insert(Node& node) {
  if (needs_inputs(node, 2)) {
    const bool nothing = !node.in(0).shape;
    set_sequence(node, type_of(node, 1), common_shape(node, nothing ? 1 : 0, 2));
  }
}

void erase(Node& node) {
  if (needs_inputs(node, 1)) {
    set_sequence(node, type_of(node, 0), node.in(0).shape);
  }
}

/// The tensor of a sequence or an optional.
void element(Node& node) {
  if (needs_inputs(node, 1)) {
    node.set(0, type_of(node, 0), node.in(0).shape);
  }
}

/// Parts of one extent, or of as many as a list has.
void split_to_sequence(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  if (!node.in(0).shape) {
    set_sequence(node, type_of(node, 0), std::nullopt);
    return;
  }
  const auto axis = node.axis(node.integer("axis", 0), node.rank(0));
  if (!axis) {
    return;
  }
  Shape shape = node.shape(0);
  const auto sizes = node.content(1);
  const bool equal = sizes && !sizes->empty() &&
                     std::ranges::all_of(*sizes, [&](Expr size) { return size == sizes->front(); });
  if (node.has(1)) {
    shape[*axis] = equal ? sizes->front()
                         : node.unknown(".part", fmt::format("part of SplitToSequence '{}', on "
                                                             "average",
                                                             node.name()));
  } else if (node.integer("keepdims", 1) != 0) {
    shape[*axis] = node.number(1);
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*axis));
  }
  set_sequence(node, type_of(node, 0), std::move(shape));
}

/// How many tensors there are is not known, so their sum along the axis is a symbol.
void concat_from_sequence(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  if (!node.in(0).shape) {
    node.set(0, type_of(node, 0), std::nullopt);
    return;
  }
  Shape shape = node.shape(0);
  const bool stacks = node.integer("new_axis", 0) != 0;
  const auto axis = node.axis(node.integer("axis", 0), shape.size() + (stacks ? 1 : 0));
  if (!axis) {
    return;
  }
  const Expr joined = node.unknown(
      fmt::format(".{}", *axis),
      fmt::format("dimension {} of what ConcatFromSequence '{}' joins", *axis, node.name()));
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(*axis);
  if (stacks) {
    shape.insert(at, joined);
  } else {
    *at = joined;
  }
  const ValueId output = node.set(0, type_of(node, 0), shape);
  const Expr count = elements(node.pool(), shape);
  node.emit_many("move", {node.id(0)}, output, {{"n", count}, {"i", count}},
                 {{"function", node.type()}});
}

void length(Node& node) {
  if (needs_inputs(node, 1)) {
    node.set(0, pb::TensorProto::INT64, Shape(),
             std::vector<Expr>{
                 node.unknown(".length", fmt::format("tensors in {}", node.proto().input(0)))});
  }
}

void has_element(Node& node) {
  node.set(0, pb::TensorProto::BOOL, Shape());
}

/// An optional of a tensor or a sequence is that.
void optional(Node& node) {
  const ValueId id = node.set(0, type_of(node, 0), node.has(0) ? node.in(0).shape : std::nullopt);
  node.importer().value(id).is_sequence = node.has(0) && node.in(0).is_sequence;
}

/// The body runs once for each tensor of the sequences: as many times as a symbol says.
void map(Node& node) {
  const pb::GraphProto* body = node.body("body");
  if (!needs_inputs(node, 1) || body == nullptr) {
    if (!node.failed()) {
      node.error("onnx-attribute", "has no body");
    }
    return;
  }
  Importer& importer = node.importer();
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (!node.has(i)) {
      node.error("onnx-inputs", fmt::format("input {} is missing", i));
      return;
    }
    inputs.push_back(importer.add({.name = fmt::format("{}.element{}", node.name(), i),
                                   .type = node.in(i).type,
                                   .shape = node.in(i).shape}));
  }
  const Expr times = node.unknown(".length", fmt::format("tensors in {}", node.proto().input(0)));
  const auto results =
      importer.walk_body(node, *body, inputs, fmt::format("{}.body", node.name()), times);
  for (std::size_t i = 0; i < node.outputs() && i < results.size(); ++i) {
    if (results[i]) {
      const Value made = importer.value(*results[i]);
      importer.value(node.set(i, made.type, made.shape)).is_sequence = true;
    }
  }
}

constexpr std::array kRules = {
    RuleEntry{"ConcatFromSequence", concat_from_sequence, true, true},
    RuleEntry{"Optional", optional, true, true},
    RuleEntry{"OptionalGetElement", element, true, true},
    RuleEntry{"OptionalHasElement", has_element, true, true},
    RuleEntry{"SequenceAt", element, true, true},
    RuleEntry{"SequenceConstruct", construct, true, true},
    RuleEntry{"SequenceEmpty", empty, true, true},
    RuleEntry{"SequenceErase", erase, true, true},
    RuleEntry{"SequenceInsert", insert, true, true},
    RuleEntry{"SequenceLength", length, true, true},
    RuleEntry{"SequenceMap", map, true, true},
    RuleEntry{"SplitToSequence", split_to_sequence, true, true},
};

}  // namespace

std::span<const RuleEntry> sequence_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
