#include "tests/onnx/single_op.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "frontend/onnx/onnx.hpp"
#include "frontend/onnx/proto.hpp"
#include "ir/expr_eval.hpp"
#include "ir/expr_text.hpp"
#include "ir/graph_totals.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>
#pragma GCC diagnostic pop

namespace mansard::onnx_test {
namespace {

namespace pb = ::onnx;

constexpr std::string_view kProbe = "probe.Probe";

std::vector<std::string> words(std::string_view text, char separator = ' ') {
  std::vector<std::string> result;
  std::istringstream stream{std::string(text)};
  for (std::string word; std::getline(stream, word, separator);) {
    if (!word.empty()) {
      result.push_back(word);
    }
  }
  return result;
}

std::int64_t whole(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == std::string::npos;
}

int type_of(char letter) {
  switch (letter) {
    case 'h':
      return pb::TensorProto::FLOAT16;
    case 'd':
      return pb::TensorProto::DOUBLE;
    case 'i':
      return pb::TensorProto::INT64;
    case 'j':
      return pb::TensorProto::INT32;
    case 'u':
      return pb::TensorProto::UINT8;
    case 's':
      return pb::TensorProto::INT8;
    case 'b':
      return pb::TensorProto::BOOL;
    case 't':
      return pb::TensorProto::STRING;
    default:
      return pb::TensorProto::FLOAT;
  }
}

std::string inside(const std::string& text) {
  return text.substr(2, text.size() - 3);
}

/// "i{1,2}", "f=0.5".
void fill_constant(pb::TensorProto& tensor, const std::string& text) {
  tensor.set_data_type(type_of(text.front()));
  const bool scalar = text[1] == '=';
  const std::vector<std::string> numbers =
      scalar ? std::vector{text.substr(2)} : words(inside(text), ',');
  if (!scalar) {
    tensor.add_dims(static_cast<std::int64_t>(numbers.size()));
  }
  for (const std::string& number : numbers) {
    if (tensor.data_type() == pb::TensorProto::FLOAT) {
      tensor.add_float_data(std::stof(number));
    } else if (tensor.data_type() == pb::TensorProto::INT64) {
      tensor.add_int64_data(whole(number));
    } else {
      tensor.add_int32_data(static_cast<std::int32_t>(whole(number)));
    }
  }
}

void add_input(pb::GraphProto& graph, const std::string& name, std::string text) {
  const bool weight = text.starts_with("w:");
  text = weight ? text.substr(2) : text;
  if (text[1] != '[') {
    pb::TensorProto& tensor = *graph.add_initializer();
    fill_constant(tensor, text);
    tensor.set_name(name);
    return;
  }
  const std::vector<std::string> dims = words(inside(text), ',');
  if (weight) {
    pb::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type_of(text.front()));
    for (const std::string& dim : dims) {
      tensor.add_dims(whole(dim));
    }
    tensor.set_data_location(pb::TensorProto::EXTERNAL);
    return;
  }
  pb::ValueInfoProto& info = *graph.add_input();
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(type_of(text.front()));
  type.mutable_shape();
  for (const std::string& dim : dims) {
    auto& added = *type.mutable_shape()->add_dim();
    if (is_number(dim)) {
      added.set_dim_value(whole(dim));
    } else {
      added.set_dim_param(dim);
    }
  }
}

/// "pads=[1,1]", "axis=1", "alpha=0.5", "scales=[1.0,2.0]", "mode='linear'", "classes=['a','b']".
void add_attribute(pb::NodeProto& node, const std::string& text) {
  const std::size_t equals = text.find('=');
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(text.substr(0, equals));
  const std::string value = text.substr(equals + 1);
  const auto unquoted = [](const std::string& quoted) {
    return quoted.substr(1, quoted.size() - 2);
  };
  const bool quotes = value.find('\'') != std::string::npos;
  const bool real = !quotes && value.find('.') != std::string::npos;
  if (value.front() != '[') {
    if (quotes) {
      attribute.set_s(unquoted(value));
      attribute.set_type(pb::AttributeProto::STRING);
    } else if (real) {
      attribute.set_f(std::stof(value));
      attribute.set_type(pb::AttributeProto::FLOAT);
    } else {
      attribute.set_i(whole(value));
      attribute.set_type(pb::AttributeProto::INT);
    }
    return;
  }
  attribute.set_type(quotes ? pb::AttributeProto::STRINGS
                     : real ? pb::AttributeProto::FLOATS
                            : pb::AttributeProto::INTS);
  for (const std::string& element : words(unquoted(value), ',')) {
    if (quotes) {
      attribute.add_strings(unquoted(element));
    } else if (real) {
      attribute.add_floats(std::stof(element));
    } else {
      attribute.add_ints(whole(element));
    }
  }
}

std::pair<std::string, std::string> domain_and_type(std::string_view op) {
  const std::size_t dot = op.rfind('.');
  return dot == std::string_view::npos
             ? std::pair(std::string(), std::string(op))
             : std::pair(std::string(op.substr(0, dot)), std::string(op.substr(dot + 1)));
}

void add_opset(pb::ModelProto& model, const std::string& domain, int version) {
  pb::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain(domain);
  opset.set_version(version);
}

std::size_t output_count(const Row& row) {
  return std::max<std::size_t>(words(row.outputs).size(), 1);
}

pb::ModelProto build(const Row& row) {
  pb::ModelProto model;
  model.set_ir_version(8);
  const auto [domain, type] = domain_and_type(row.op);
  add_opset(model, "", row.opset);
  if (!domain.empty()) {
    add_opset(model, domain, 1);
  }
  pb::GraphProto& graph = *model.mutable_graph();
  graph.set_name("single");
  pb::NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  node.set_domain(domain);
  node.set_name("node");
  std::size_t i = 0;
  for (const std::string& input : words(row.inputs)) {
    const std::string name = input == "-" ? std::string() : fmt::format("x{}", i);
    node.add_input(name);
    if (!name.empty()) {
      add_input(graph, name, input);
    }
    ++i;
  }
  for (const std::string& attribute : words(row.attributes)) {
    add_attribute(node, attribute);
  }
  for (std::size_t o = 0; o < output_count(row); ++o) {
    node.add_output(fmt::format("y{}", o));
  }
  return model;
}

void add_node(pb::GraphProto& graph, const char* type, const char* domain, const std::string& from,
              const std::string& to) {
  pb::NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  node.set_domain(domain);
  node.set_name("probe_" + to);
  node.add_input(from);
  node.add_output(to);
}

/// A tensor of the same shape that something writes, whatever the output is (a view, a constant).
void add_probe(pb::GraphProto& graph, std::size_t output) {
  const auto name = [&](const char* what) { return fmt::format("{}{}", what, output); };
  add_node(graph, "Shape", "", name("y"), name("shape"));
  add_node(graph, "ConstantOfShape", "", name("shape"), name("probed"));
  add_node(graph, "Probe", "probe", name("probed"), name("end"));
  graph.add_output()->set_name(name("end"));
}

std::string text_of(const std::vector<ir::Expr>& shape) {
  std::string text;
  for (const ir::Expr extent : shape) {
    text += (text.empty() ? "" : "x") + ir::print(extent);
  }
  return text.empty() ? "()" : text;
}

std::string text_of(const pb::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) {
    return "?";
  }
  std::string text;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (!dim.has_dim_value()) {
      return "?";
    }
    text += (text.empty() ? "" : "x") + std::to_string(dim.dim_value());
  }
  return text.empty() ? "()" : text;
}

double number_of(ir::Expr e) {
  return e.is_constant() ? e.constant() : -2;
}

}  // namespace

std::string model_of(const Row& row, bool probes) {
  pb::ModelProto model = build(row);
  for (std::size_t o = 0; probes && o < output_count(row); ++o) {
    add_probe(*model.mutable_graph(), o);
  }
  if (!probes) {
    model.mutable_graph()->add_output()->set_name("y0");
  }
  return model.SerializeAsString();
}

Result<ir::Graph> import_row(const Row& row, bool probes) {
  return frontend::onnx::import_bytes(model_of(row, probes), "row.onnx", "row");
}

Seen seen(const ir::Graph& graph, const Row& row) {
  Seen result;
  for (std::size_t o = 0; o < output_count(row); ++o) {
    const std::string name = fmt::format("probed{}", o);
    const auto& tensors = graph.tensors();
    const auto found = std::ranges::find(tensors, name, &ir::Tensor::name);
    result.shapes.push_back(found == tensors.end() ? "absent" : text_of(found->shape));
  }
  for (const ir::Op& op : graph.ops()) {
    const auto node = op.attributes.find("node");
    if (node == op.attributes.end() || op.name.starts_with("probe_")) {
      continue;
    }
    const auto of = [&](ir::Expr e) { return e ? number_of(graph.instantiate(op, e)) : 0; };
    result.flops += of(op.def->flops) + of(op.def->vector_flops);
    result.special += of(op.def->special_ops);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      result.bytes += op.operands[i] ? number_of(ir::operand_bytes(graph, op, i)) : 0;
    }
  }
  for (const std::string& kind : graph.facts.file->unknown_operators) {
    if (kind != kProbe) {
      result.unknown.push_back(kind);
    }
  }
  return result;
}

std::vector<std::string> oracle(const Row& row) {
  pb::ModelProto model = build(row);
  std::vector<std::string> result(output_count(row), "?");
  const auto [domain, type] = domain_and_type(row.op);
  constexpr int kNewest = 17;  // Of the installed libonnx.
  if (row.opset > kNewest || pb::OpSchemaRegistry::Schema(type, row.opset, domain) == nullptr) {
    return result;
  }
  pb::shape_inference::InferShapes(model);
  for (const pb::ValueInfoProto& info : model.graph().value_info()) {
    if (info.name().starts_with('y')) {
      result.at(static_cast<std::size_t>(whole(info.name().substr(1)))) = text_of(info.type());
    }
  }
  return result;
}

void check(const Row& row) {
  INFO(fmt::format("{}-{} ({}; {})", row.op, row.opset, row.inputs, row.attributes));
  const Result<ir::Graph> graph = import_row(row);
  if (!graph) {
    FAIL_CHECK(render(graph.error()));
    return;
  }
  const Seen result = seen(*graph, row);
  CHECK(result.unknown.empty());
  const std::vector<std::string> expected = words(row.outputs);
  const std::vector<std::string> inferred = oracle(row);
  for (std::size_t o = 0; o < result.shapes.size(); ++o) {
    const bool written = o < expected.size() && expected[o] != "?";
    CAPTURE(o);
    CHECK((written || inferred[o] != "?"));
    if (written) {
      CHECK(result.shapes[o] == expected[o]);
    }
    if (inferred[o] != "?") {
      CHECK(result.shapes[o] == inferred[o]);
    }
  }
  if (row.flops != kAny) {
    CHECK(result.flops == row.flops);
  }
}

}  // namespace mansard::onnx_test
