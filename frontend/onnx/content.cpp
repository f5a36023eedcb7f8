#include "frontend/onnx/content.hpp"

#include <cmath>
#include <cstring>

#include <google/protobuf/unknown_field_set.h>

#include "ir/ops/many_inputs.hpp"

namespace mansard::frontend::onnx {
namespace {

constexpr double kMostElements = 4096;
constexpr int kDefaultAttributes = 11;  ///< FunctionProto.attribute_proto.

template <typename T>
std::optional<std::vector<double>> raw(const std::string& bytes, std::size_t elements) {
  if (bytes.size() != elements * sizeof(T)) {
    return std::nullopt;
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < elements; ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    result.push_back(static_cast<double>(element));
  }
  return result;
}

template <typename List>
std::optional<std::vector<double>> listed(const List& list, std::size_t elements) {
  if (static_cast<std::size_t>(list.size()) != elements) {
    return std::nullopt;
  }
  return std::vector<double>(list.begin(), list.end());
}

std::optional<std::vector<double>> numbers(const pb::TensorProto& tensor, std::size_t elements) {
  const bool is_raw = tensor.has_raw_data();
  const std::string& bytes = tensor.raw_data();
  switch (tensor.data_type()) {
    case pb::TensorProto::FLOAT:
      return is_raw ? raw<float>(bytes, elements) : listed(tensor.float_data(), elements);
    case pb::TensorProto::DOUBLE:
      return is_raw ? raw<double>(bytes, elements) : listed(tensor.double_data(), elements);
    case pb::TensorProto::INT64:
      return is_raw ? raw<std::int64_t>(bytes, elements) : listed(tensor.int64_data(), elements);
    case pb::TensorProto::INT32:
      return is_raw ? raw<std::int32_t>(bytes, elements) : listed(tensor.int32_data(), elements);
    case pb::TensorProto::BOOL:
    case pb::TensorProto::UINT8:
      return is_raw ? raw<std::uint8_t>(bytes, elements) : listed(tensor.int32_data(), elements);
    case pb::TensorProto::INT8:
      return is_raw ? raw<std::int8_t>(bytes, elements) : listed(tensor.int32_data(), elements);
    default:
      return std::nullopt;
  }
}

/// What a body reads that it does not define itself.
void reads_from_around(const pb::GraphProto& body, std::set<std::string, std::less<>>& names) {
  std::set<std::string, std::less<>> read;
  for (const pb::NodeProto& inside : body.node()) {
    reads_of(inside, read);
  }
  for (const pb::ValueInfoProto& output : body.output()) {
    read.insert(output.name());
  }
  for (const pb::NodeProto& inside : body.node()) {
    for (const std::string& output : inside.output()) {
      read.erase(output);
    }
  }
  for (const pb::ValueInfoProto& input : body.input()) {
    read.erase(input.name());
  }
  for (const pb::TensorProto& tensor : body.initializer()) {
    read.erase(tensor.name());
  }
  names.merge(read);
}

}  // namespace

std::optional<std::vector<Expr>> content_of(const pb::TensorProto& tensor, ir::ExprPool& pool,
                                            double elements) {
  if (elements > kMostElements || tensor.data_location() == pb::TensorProto::EXTERNAL) {
    return std::nullopt;
  }
  const auto found = numbers(tensor, static_cast<std::size_t>(elements));
  if (!found) {
    return std::nullopt;
  }
  std::vector<Expr> result;
  for (const double number : *found) {
    result.push_back(std::isfinite(number) ? pool.constant(number) : Expr());
  }
  return result;
}

void reads_of(const pb::NodeProto& node, std::set<std::string, std::less<>>& names) {
  for (const std::string& name : node.input()) {
    if (!name.empty()) {
      names.insert(name);
    }
  }
  for (const pb::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) {
      reads_from_around(attribute.g(), names);
    }
    for (const pb::GraphProto& graph : attribute.graphs()) {
      reads_from_around(graph, names);
    }
  }
}

void count_reads(const pb::GraphProto& graph,
                 std::map<std::string, std::size_t, std::less<>>& reads) {
  for (const pb::NodeProto& node : graph.node()) {
    for (const std::string& name : node.input()) {
      ++reads[name];
    }
    for (const pb::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) {
        count_reads(attribute.g(), reads);
      }
    }
  }
  for (const pb::ValueInfoProto& output : graph.output()) {
    ++reads[output.name()];
  }
}

std::deque<pb::AttributeProto> default_attributes(const pb::FunctionProto& function) {
  std::deque<pb::AttributeProto> result;
  const google::protobuf::UnknownFieldSet& unknown =
      function.GetReflection()->GetUnknownFields(function);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const google::protobuf::UnknownField& field = unknown.field(i);
    const bool fits = field.number() == kDefaultAttributes &&
                      field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    pb::AttributeProto attribute;
    if (fits && attribute.ParseFromString(field.length_delimited())) {
      result.push_back(std::move(attribute));
    }
  }
  return result;
}

std::size_t ir_more_inputs() {
  return ir::ops::kMoreInputs.size();
}

std::string_view more_input_dim(std::size_t i) {
  return i == 0 ? std::string_view("i") : ir::ops::kMoreInputs.at(i - 1).dim;
}

}  // namespace mansard::frontend::onnx
