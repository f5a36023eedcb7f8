#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/onnx/proto.hpp"
#include "frontend/onnx/shape.hpp"

namespace mansard::frontend::onnx {

/// The elements of a small tensor whose data stand in the file: what shapes are computed with.
/// Absent for large ones, for external data, and for types that are no numbers.
[[nodiscard]] std::optional<std::vector<Expr>> content_of(const pb::TensorProto& tensor,
                                                          ir::ExprPool& pool, double elements);

/// Names that a node reads, those that its bodies read from around them included.
void reads_of(const pb::NodeProto& node, std::set<std::string, std::less<>>& names);
/// How often each name is read, at any depth; outputs count as a read.
void count_reads(const pb::GraphProto& graph,
                 std::map<std::string, std::size_t, std::less<>>& reads);

/// Attributes that a function gives a value where its call does not (field 11, newer than libonnx).
[[nodiscard]] std::deque<pb::AttributeProto> default_attributes(const pb::FunctionProto& function);

/// Further operands of kinds with many: how many, and the dim of the i-th input.
[[nodiscard]] std::size_t ir_more_inputs();
[[nodiscard]] std::string_view more_input_dim(std::size_t i);

}  // namespace mansard::frontend::onnx
