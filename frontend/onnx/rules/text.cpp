#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

// Strings are moved, a byte each: their lengths are not in the file.

void strings(Node& node) {
  if (needs_inputs(node, 1)) {
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < node.inputs(); ++i) {
      inputs.push_back(i);
    }
    if (needs_inputs(node, inputs.size())) {
      elementwise(node, inputs, pb::TensorProto::STRING, {0, 0, "strings"});
    }
  }
}

/// Words of a list of stopwords go: with one, how many stay is known when it runs.
void normalize(Node& node) {
  if (!needs_inputs(node, 1) || !node.has_attribute("stopwords") || node.rank(0) == 0) {
    strings(node);
    return;
  }
  Shape shape = node.shape(0);
  shape.back() =
      node.unknown(".count", fmt::format("strings that StringNormalizer '{}' keeps", node.name()));
  node.emit_move({node.id(0)}, node.set(0, pb::TensorProto::STRING, shape));
}

void match(Node& node) {
  if (needs_inputs(node, 1)) {
    elementwise(node, {0}, pb::TensorProto::BOOL, {1, 0, "regex"});
  }
}

/// As many parts a string as the longest has.
void split(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  Shape shape = node.shape(0);
  shape.push_back(node.unknown(
      ".parts", fmt::format("most parts of a string of {} '{}'", node.type(), node.name())));
  const ValueId output = node.set(0, pb::TensorProto::STRING, shape);
  if (node.type() == "StringSplit") {
    node.set(1, pb::TensorProto::INT64, node.shape(0));
  }
  node.emit_move({node.id(0)}, output);
}

/// Height and width stand in the file's bytes.
void decode_image(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const bool grey = node.text("pixel_format", "RGB") == "Grayscale";
  Shape shape;
  for (const char* extent : {"height", "width"}) {
    shape.push_back(node.unknown(fmt::format(".{}", shape.size()),
                                 fmt::format("{} of the image of '{}'", extent, node.name())));
  }
  shape.push_back(node.number(grey ? 1 : 3));
  node.emit_move({node.id(0)}, node.set(0, pb::TensorProto::UINT8, shape));
}

constexpr std::array kRules = {
    RuleEntry{"ImageDecoder", decode_image}, RuleEntry{"RegexFullMatch", match},
    RuleEntry{"StringConcat", strings},      RuleEntry{"StringNormalizer", normalize},
    RuleEntry{"StringSplit", split},         RuleEntry{"com.microsoft.Tokenizer", split},
};

}  // namespace

std::span<const RuleEntry> text_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
