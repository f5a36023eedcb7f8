#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph.hpp"
#include "ir/passes/passes.hpp"
#include "support/result.hpp"

/// How a model is deployed: the passes that turn a model's graph into the graph that one device
/// runs.
namespace mansard::model {

struct Plan {
  ir::Formats formats;
  ir::AttentionForm attention = ir::AttentionForm::kFused;
  ir::Routing routing;
  ir::KvPolicy kv;
  ir::Speculation speculation;
  ir::Parallelism parallelism;
  std::int64_t pp = 1;  ///< Pipeline stages.
  std::int64_t microbatches =
      0;  ///< Parts into which the batch is cut for the pipeline; 0: as many as stages.

  [[nodiscard]] std::int64_t gpus() const {
    return parallelism.tp * pp * parallelism.dp * parallelism.cp;
  }
  /// Executions of each op per step: the microbatches that pass through a stage.
  [[nodiscard]] std::int64_t repeats() const { return microbatches > 0 ? microbatches : pp; }
};

/// The graph of one device (of the slowest pipeline stage). Errors: combinations that cannot run,
/// with the reason.
[[nodiscard]] Result<ir::Graph> prepare(ir::Graph graph, const Plan& plan);

/// One stage of `pp`: the most layers that any stage holds, with what stands outside the layers, on
/// one of `microbatches` parts of the batch, and the transfer of the activations to the next stage.
[[nodiscard]] Result<ir::Graph> pipeline_stage(ir::Graph graph, std::int64_t pp,
                                               std::int64_t microbatches);

}  // namespace mansard::model
