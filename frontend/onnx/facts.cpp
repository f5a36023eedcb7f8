#include "frontend/onnx/facts.hpp"

#include <fmt/format.h>

namespace mansard::frontend::onnx {
namespace {

std::string operator_name(const pb::NodeProto& node) {
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  return standard ? node.op_type() : fmt::format("{}.{}", node.domain(), node.op_type());
}

std::int64_t nodes_of_bodies(const pb::NodeProto& node) {
  std::int64_t count = 0;
  const auto add = [&](const pb::GraphProto& body) {
    count += body.node_size();
    for (const pb::NodeProto& inside : body.node()) {
      count += nodes_of_bodies(inside);
    }
  };
  for (const pb::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) {
      add(attribute.g());
    }
    for (const pb::GraphProto& graph : attribute.graphs()) {
      add(graph);
    }
  }
  return count;
}

/// "batchx3x224x224"; "?" where nothing is said.
std::string shape_text(const pb::TypeProto& type) {
  if (!type.has_tensor_type()) {
    return type.has_sequence_type() ? "sequence" : "?";
  }
  if (!type.tensor_type().has_shape()) {
    return "?";
  }
  std::string text;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    text += text.empty() ? "" : "x";
    if (dim.has_dim_value()) {
      text += std::to_string(dim.dim_value());
    } else {
      text += dim.dim_param().empty() ? "?" : dim.dim_param();
    }
  }
  return text;
}

}  // namespace

ir::FileFacts file_facts(const pb::ModelProto& model) {
  ir::FileFacts facts{.format = fmt::format("ONNX IR {}", model.ir_version())};
  for (const pb::OperatorSetIdProto& opset : model.opset_import()) {
    facts.opsets[opset.domain().empty() ? "ai.onnx" : opset.domain()] = opset.version();
  }
  const pb::GraphProto& graph = model.graph();
  facts.nodes = graph.node_size();
  for (const pb::NodeProto& node : graph.node()) {
    ++facts.operators[operator_name(node)];
    facts.subgraph_nodes += nodes_of_bodies(node);
  }
  facts.initializers = graph.initializer_size();
  for (const pb::TensorProto& tensor : graph.initializer()) {
    double elements = 1;
    for (const std::int64_t dim : tensor.dims()) {
      elements *= static_cast<double>(dim);
    }
    // Refused elsewhere if there are more than can be counted.
    facts.initializer_elements += elements < 0x1p53 ? static_cast<std::int64_t>(elements) : 0;
    facts.external_initializers += tensor.data_location() == pb::TensorProto::EXTERNAL ? 1 : 0;
  }
  for (const pb::ValueInfoProto& input : graph.input()) {
    facts.inputs.emplace_back(input.name(), shape_text(input.type()));
  }
  for (const pb::ValueInfoProto& output : graph.output()) {
    facts.outputs.emplace_back(output.name(), shape_text(output.type()));
  }
  return facts;
}

}  // namespace mansard::frontend::onnx
