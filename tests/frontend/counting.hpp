#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "frontend/frontend.hpp"
#include "frontend/hf/hf.hpp"
#include "ir/expr_eval.hpp"
#include "ir/graph.hpp"
#include "support/document.hpp"

/// What the tests of importers share.
namespace mansard::frontend {

/// The folder of shared data, or nothing: then a test says that it skips.
inline const char* shared_folder() {
  return std::getenv("MANSARD_SHARED");
}

/// A config.json given as text.
inline Result<ir::Graph> import_text(const std::string& json, Phase phase = Phase::kDecode) {
  const auto document =
      parse_json(std::make_shared<SourceFile>(SourceFile{.name = "config.json", .text = json}));
  if (!document) {
    return failure(document.error());
  }
  return hf::import_config(*document, "test", phase);
}

/// One step of `batch` sequences at `context`: decode of one token each, or prefill of all.
inline ir::Bindings step(Phase phase, double batch, double context) {
  return {{"batch", batch}, {"q_len", phase == Phase::kDecode ? 1 : context}, {"context", context}};
}

/// Contraction FLOP of a step, exactly.
inline std::string flops(const ir::Graph& graph, const ir::Bindings& at) {
  ir::Count sum = 0;
  for (const ir::Op& op : graph.ops()) {
    if (op.def->flops) {
      sum += graph.block(op.block).count * *count(graph.instantiate(op, op.def->flops), at);
    }
  }
  return ir::to_string(sum);
}

/// Bytes of the weights that matmuls read in a step, exactly.
inline std::string matmul_weight_bytes(const ir::Graph& graph, const ir::Bindings& at) {
  ir::Count sum = 0;
  for (const ir::Op& op : graph.ops()) {
    if (op.def->name == "matmul") {
      const ir::Dtype& dtype = *graph.tensor(*op.operands[1]).dtype;
      const ir::Expr touched = graph.instantiate(op, op.def->operands[1].touched);
      sum += graph.block(op.block).count * *count(bytes_of(dtype, touched), at);
    }
  }
  return ir::to_string(sum);
}

/// Bytes of KV cache that a token adds, exactly.
inline std::string kv_growth(const ir::Graph& graph, double context = 2048) {
  return ir::to_string(*count(ir::kv_bytes_per_token(graph), step(Phase::kDecode, 1, context)));
}

/// The first op of that name within its block, or nullptr.
inline const ir::Op* find(const ir::Graph& graph, const std::string& name) {
  for (const ir::Op& op : graph.ops()) {
    if (op.name == name || op.name.ends_with("." + name)) {
      return &op;
    }
  }
  return nullptr;
}

}  // namespace mansard::frontend
