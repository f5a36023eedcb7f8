#include "model/sweep/row_evaluator.hpp"

#include <algorithm>
#include <cmath>

namespace mansard::model {
namespace {

constexpr const char* kDoesNotFit = "does not fit in memory";
constexpr const char* kNotANumber = "an output is not a number";

bool all_ones(const std::vector<double>& values, std::size_t count) {
  double least = 1;
  for (std::size_t i = 0; i < count; ++i) {
    least = values[i] < least ? values[i] : least;
  }
  return least == 1;
}

/// A sum of finite numbers is finite or overflows; of others never.
bool all_finite(const double* values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += values[i] * 0;
  }
  return sum == 0;
}

}  // namespace

void RowEvaluator::use(const std::shared_ptr<const SweepVariant>& variant) {
  if (variant_ != variant) {
    variant_ = variant;
    evaluator_.emplace(*variant->function);
    row_is_set_ = false;
    inputs_.resize(variant->function->program().point_symbols.size());
    results_.resize(variant->function->program().roots.size());
  }
}

void RowEvaluator::evaluate(SweepBlock& block, SweepCounts& counts) {
  use(block.variant);
  for (std::vector<double>& result : results_) {
    result.resize(std::max(result.size(), block.count));
  }
  const std::uint64_t length = space_->row_length();
  for (std::size_t at = 0; at < block.count;) {
    const std::uint64_t index = block.first + at;
    const std::uint64_t begin = index % length;
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(length - begin, block.count - at));
    evaluate_row(index / length, begin, count, at);
    at += count;
  }
  block.outputs.clear();
  for (std::size_t i = kFirstOutput; i < results_.size(); ++i) {
    block.outputs.push_back(results_[i].data());
  }
  judge(block, counts);
}

void RowEvaluator::set_row(std::uint64_t row) {
  if (row_is_set_ && row_ == row) {
    return;
  }
  const auto groups = std::span(space_->symbolic).first(space_->first_point_group());
  const auto places = SweepSpace::places(groups, row);
  std::vector<double> values;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const Axis& axis : groups[i]) {
      values.push_back(axis.value(places[i]));
    }
  }
  evaluator_->set_row(values);
  row_ = row;
  row_is_set_ = true;
}

void RowEvaluator::evaluate_row(std::uint64_t row, std::uint64_t begin, std::size_t count,
                                std::size_t at) {
  set_row(row);
  const auto groups = std::span(space_->symbolic).subspan(space_->first_point_group());
  std::vector<const double*> columns;
  std::uint64_t stride = space_->row_length();
  for (const AxisGroup& group : groups) {
    stride /= group.front().size();
    for (const Axis& axis : group) {
      columns.push_back(column(group, axis, stride, begin, count, inputs_[columns.size()]));
    }
  }
  std::vector<double*> out;
  for (std::vector<double>& result : results_) {
    out.push_back(result.data() + at);
  }
  evaluator_->evaluate(columns, count, out);
}

/// The values of `axis` at points [begin, begin + count) of a row, which change every `stride`
/// points.
const double* RowEvaluator::column(const AxisGroup& group, const Axis& axis, std::uint64_t stride,
                                   std::uint64_t begin, std::size_t count,
                                   std::vector<double>& buffer) const {
  buffer.resize(std::max(buffer.size(), count));
  const std::uint64_t size = group.front().size();
  std::uint64_t place = begin / stride % size;
  std::uint64_t left = stride - begin % stride;
  for (std::size_t i = 0; i < count;) {
    const std::size_t run = std::min<std::uint64_t>(left, count - i);
    std::fill_n(buffer.begin() + static_cast<std::ptrdiff_t>(i), run, axis.value(place));
    i += run;
    left = stride;
    place = place + 1 == size ? 0 : place + 1;
  }
  return buffer.data();
}

void RowEvaluator::judge(SweepBlock& block, SweepCounts& counts) {
  const bool finite = std::ranges::all_of(
      block.outputs, [&](const double* values) { return all_finite(values, block.count); });
  if (finite && all_ones(results_[0], block.count) && all_ones(results_[1], block.count)) {
    block.kept = nullptr;
    counts.evaluated += block.count;
    return;
  }
  kept_.assign(block.count, 0);
  for (std::size_t i = 0; i < block.count; ++i) {
    const bool is_number = std::ranges::all_of(
        block.outputs, [&](const double* values) { return std::isfinite(values[i]); });
    if (results_[0][i] != 1) {
      ++counts.infeasible[kDoesNotFit];
    } else if (!is_number) {
      ++counts.infeasible[kNotANumber];
    } else {
      ++counts.evaluated;
      kept_[i] = results_[1][i] != 0 ? 1 : 0;
      counts.unwanted += kept_[i] == 0 ? 1 : 0;
    }
  }
  block.kept = kept_.data();
}

}  // namespace mansard::model
