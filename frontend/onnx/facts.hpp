#pragma once

#include "frontend/onnx/proto.hpp"
#include "ir/graph.hpp"

namespace mansard::frontend::onnx {

/// What stands in the file, counted as it stands there: nodes, ops, initializers.
[[nodiscard]] ir::FileFacts file_facts(const pb::ModelProto& model);

}  // namespace mansard::frontend::onnx
