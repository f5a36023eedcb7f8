#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/cost_model.hpp"
#include "model/serve/point_evaluator.hpp"

/// A part of a step: the ops of a cost model whose cost depends on the same things.
namespace mansard::model::serve {

/// Resources that can bind the ops of one model on one machine.
inline constexpr std::size_t kMostResources = 12;

/// Sums over the ops of a part, each times its count; seconds and joules of one device.
struct PartCost {
  double seconds = 0;
  double host = 0;  ///< Of the host to issue the kernels one by one.
  double joules = 0;
  double dynamic_joules = 0;
  std::array<double, kMostResources> busy{};  ///< Of `seconds`, by the resource that binds.

  /// Adds `share` of another part.
  void add(const PartCost& part, double share = 1);
};

class Part {
 public:
  /// `ops` are indices into `model.ops`; names of resources are added to `resources`.
  Part(const CostModel& model, std::span<const std::size_t> ops,
       std::vector<std::string>& resources);

  [[nodiscard]] bool empty() const { return ops_.empty(); }
  /// The cost where `batch` sequences have `q_len` new tokens each and means as given.
  [[nodiscard]] PartCost at(double batch, double q_len, std::span<const double> means);

 private:
  struct OpRoots {
    double count = 1;
    bool has_energy = false;
    std::vector<std::size_t> resources;  ///< Of each bound term.
  };
  enum class Symbol { kBatch, kNewTokens, kMean };
  struct Slot {
    Symbol symbol = Symbol::kBatch;
    std::size_t mean = 0;
  };

  [[nodiscard]] static std::optional<Slot> slot_of(std::string_view symbol);
  [[nodiscard]] PartCost sum() const;

  std::vector<OpRoots> ops_;
  std::optional<PointEvaluator> evaluator_;  ///< None of an empty part.
  std::vector<Slot> slots_;
  std::vector<double> values_;
  std::vector<double> out_;
};

}  // namespace mansard::model::serve
