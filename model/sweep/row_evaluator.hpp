#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/sweep/sweep.hpp"

namespace mansard::model {

/// Evaluates runs of a variant's points in one thread, into buffers that it keeps.
class RowEvaluator {
 public:
  explicit RowEvaluator(const SweepSpace& space) : space_(&space) {}

  /// Fills `block.outputs` and `block.kept`, which stay valid until the next call, and counts.
  void evaluate(SweepBlock& block, SweepCounts& counts);

 private:
  void use(const std::shared_ptr<const SweepVariant>& variant);
  void evaluate_row(std::uint64_t row, std::uint64_t begin, std::size_t count, std::size_t at);
  void set_row(std::uint64_t row);
  const double* column(const AxisGroup& group, const Axis& axis, std::uint64_t stride,
                       std::uint64_t begin, std::size_t count, std::vector<double>& buffer) const;
  void judge(SweepBlock& block, SweepCounts& counts);

  const SweepSpace* space_;
  std::shared_ptr<const SweepVariant> variant_;
  std::optional<BatchFunction::Evaluator> evaluator_;
  std::uint64_t row_ = 0;
  bool row_is_set_ = false;
  std::vector<std::vector<double>> inputs_;
  std::vector<std::vector<double>> results_;
  std::vector<std::uint8_t> kept_;
};

}  // namespace mansard::model
