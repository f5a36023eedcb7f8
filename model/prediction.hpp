#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hardware/machine.hpp"
#include "ir/graph.hpp"
#include "model/calibration.hpp"
#include "model/cost_model.hpp"
#include "model/memory.hpp"
#include "model/plan.hpp"
#include "support/result.hpp"

/// One model on one machine at one workload, in numbers: what `mansard predict` shows.
namespace mansard::model {

struct Workload {
  std::string phase = "decode";  ///< "decode" or "prefill".
  std::int64_t batch = 1;
  std::int64_t context = 2048;             ///< Tokens attended, the new ones included.
  double memory_utilization = 1;           ///< Usable share of device memory.
  std::optional<double> usd_per_gpu_hour;  ///< Instead of the machine's price.

  [[nodiscard]] std::int64_t q_len() const { return phase == "prefill" ? context : 1; }
  [[nodiscard]] ir::Bindings bindings() const;
};

struct TermValue {
  std::string resource;
  double seconds = 0;
  std::string metric;
};

struct OpPrediction {
  std::string name;
  std::string kind;
  double count = 1;
  double flops = 0;
  double vector_flops = 0;
  double special_ops = 0;
  double bytes = 0;
  double main_bytes = 0;
  double intensity = 0;  ///< flops / bytes, FLOP per byte.
  double bound_s = 0;
  double low_s = 0;
  double estimate_s = 0;
  double high_s = 0;
  std::string binding;
  std::vector<TermValue> bound_terms;
  std::vector<TermValue> estimate_terms;
};

struct Prediction {
  struct Model {
    std::string name;
    std::int64_t parameters = 0;
    std::int64_t active_parameters = 0;
    std::int64_t active_parameters_without_embedding = 0;
    double weight_bytes = 0;        ///< Of the whole model.
    double kv_bytes_per_token = 0;  ///< Of the whole model, at this context.
    bool has_batch = true;          ///< Whether the batch changes anything,
    bool has_context = true;        ///< and the context: not of a network on images.
  } model;
  struct Chip {
    std::string name;
    std::string calibration;
  } machine;
  Workload workload;
  Plan plan;
  struct Totals {
    double bound_s = 0;
    double low_s = 0;
    double estimate_s = 0;
    double high_s = 0;
    double ops_s = 0;  ///< What the ops take one after the other.
    std::string
        stretched_by;  ///< Why the estimate is longer than that: "power cap", "host"; or "".
    double flops = 0;
    double vector_flops = 0;
    double bytes = 0;
    double main_bytes = 0;
    double tokens_per_second = 0;
    std::optional<double> tpot_s;  ///< Decode only.
    std::optional<double> joules;
    std::optional<double> usd_per_million_tokens;
    /// Of graphs that are no chain of ops: the slowest chain of dependent ops, as if all others ran
    /// beside it.
    std::optional<double> critical_path_s;
  } totals;
  struct Memory {
    double weight_bytes = 0;
    double kv_bytes = 0;
    double activation_bytes = 0;
    std::optional<double> capacity_bytes;  ///< Usable.
    bool fits = true;
    std::optional<std::int64_t> largest_batch;    ///< At this context.
    std::optional<std::int64_t> largest_context;  ///< At this batch.
  } memory;
  std::optional<std::int64_t> slo_batch;  ///< The largest batch within the service level objective.
  std::vector<OpPrediction> ops;
  std::vector<std::string> assumptions;
};

/// A service level objective: a latency of one step.
struct Objective {
  double tpot_s = 0;
};

/// A model prepared once for a machine, to be asked at many workloads.
class Predictor {
 public:
  /// `model` is the frontend's graph. Errors: plans that cannot run, unknown figures.
  [[nodiscard]] static Result<Predictor> build(const ir::Graph& model,
                                               const hardware::Machine& machine,
                                               const Calibration& calibration, const Plan& plan,
                                               const CostOptions& options);

  [[nodiscard]] Prediction predict(const Workload& workload) const;
  /// The largest batch whose estimate meets the objective and that fits in memory.
  [[nodiscard]] std::optional<std::int64_t> largest_batch(const Workload& workload,
                                                          const Objective& objective) const;

  [[nodiscard]] const CostModel& cost() const { return cost_; }
  [[nodiscard]] const MemoryModel& memory() const { return memory_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const hardware::Machine& machine() const { return machine_; }

 private:
  explicit Predictor(hardware::Machine machine) : machine_(std::move(machine)) {}
  [[nodiscard]] Prediction::Memory memory_at(const Workload& workload) const;
  [[nodiscard]] bool fits(Workload workload) const;
  void prepare_evaluation();
  void add_totals(std::span<const double> values, Prediction& prediction) const;
  void add_ops(std::span<const double> values, Prediction& prediction) const;
  void add_rates(Prediction& prediction) const;

  hardware::Machine machine_;
  bool host_issues_ = false;  ///< Ops wait for the host, not in a graph.
  Prediction::Model facts_;
  ir::Expr kv_per_token_;
  std::string calibration_;
  Plan plan_;
  CostModel cost_;
  MemoryModel memory_;
  std::vector<ir::Expr> totals_;  ///< What `add_totals` reads.
  std::vector<ir::Expr> roots_;   ///< The same, then what `add_ops` reads of each op.
  std::optional<ir::Evaluator> of_totals_;
  std::optional<ir::Evaluator> of_all_;
};

}  // namespace mansard::model
