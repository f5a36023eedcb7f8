#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "ir/expr_eval.hpp"
#include "ir/graph.hpp"
#include "model/calibration.hpp"
#include "model/cost_model.hpp"
#include "model/plan.hpp"
#include "model/serve/memo.hpp"
#include "model/serve/ragged.hpp"
#include "model/serve/step_part.hpp"
#include "model/serve/step_time.hpp"
#include "support/result.hpp"

namespace mansard::model::serve {

/// What a step model is built from. Both graphs are a frontend's; they differ where a model
/// computes prompts otherwise than single tokens (latent attention).
struct StepModelInputs {
  const ir::Graph& decode;
  const ir::Graph& prefill;
  const hardware::Machine& machine;
  const Calibration& calibration;
  Plan plan;
  CostOptions options;
  std::vector<std::uint32_t> captured;  ///< Graph sizes, ascending (EngineSettings::captured).
};

/// The estimate of `predict` for the exact batch of an iteration, part by part:
///
///   ops over tokens (matmuls, norms, experts)    at the number of tokens, padded to the graph's
///   ops over sequences (head, sampling)          at the number of sequences
///   attention and states of those that decode    as that many sequences of the mean keys
///   attention and states of chunks               each its share of as many chunks like itself
///
/// and, as a step's estimate, the greatest of their sum, the host's time to issue what is not in a
/// graph, and the time in which the power cap lets the energy through. Each part is remembered by
/// what it depends on, exactly.
///
/// With pipeline stages, the time is of one stage; with data parallel ranks that share experts, of
/// the rank asked about, the others alike.
class StepModel final : public StepTimer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<StepModel>> build(const StepModelInputs& inputs);

  [[nodiscard]] StepCost cost(const Batch& batch, std::span<double> busy) override;
  [[nodiscard]] std::span<const std::string> resources() const override { return resources_; }
  [[nodiscard]] const std::vector<std::string>& assumptions() const { return assumptions_; }

 private:
  using Key = Memo<PartCost>::Key;

  /// Attention and states: ops whose cost depends on each sequence.
  struct Sequences {
    RaggedGraph ragged;
    std::vector<Part> parts;                  ///< One.
    std::vector<Part> tokens;                 ///< One: ops over tokens of this phase alone.
    std::vector<std::vector<double>> tables;  ///< Of a decoding sequence, by context, by mean.
    std::optional<ir::Evaluator> of_sequence;
  };

  StepModel(const CostModel& decode, const CostModel& prefill, RaggedGraph ragged_decode,
            RaggedGraph ragged_prefill, const StepModelInputs& inputs);

  [[nodiscard]] std::optional<std::uint32_t> graph_size(std::uint64_t tokens) const;
  void add_decodes(const Batch& batch, PartCost& sum);
  void add_chunks(const Batch& batch, PartCost& sum);
  [[nodiscard]] double table_value(Sequences& of, std::size_t mean, std::uint32_t new_tokens,
                                   std::uint32_t context);
  static void evaluate_sequence(Sequences& of, double new_tokens, double context,
                                std::span<double> out);

  std::vector<std::string> resources_;
  std::vector<std::string> assumptions_;
  double ranks_ = 1;
  double devices_ = 1;
  std::vector<std::uint32_t> captured_;
  std::vector<Part> tokens_;  ///< One.
  std::vector<Part> heads_;   ///< One.
  Sequences decode_;
  Sequences prefill_;
  std::optional<ir::Evaluator> totals_;
  std::vector<double> totals_values_;
  bool has_energy_ = false;
  Memo<PartCost> tokens_memo_{14};
  Memo<PartCost> heads_memo_{11};
  Memo<PartCost> decode_memo_{16};
  Memo<PartCost> chunk_memo_{15};
  std::vector<double> sums_;
  std::uint32_t table_tokens_ = 1;
};

}  // namespace mansard::model::serve
