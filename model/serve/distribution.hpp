#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mansard::model::serve {

/// Values from 0, in bounded memory: exact up to 2^20 distinct runs of equal values, then counted
/// in classes 1/1024 of an octave wide (percentiles within 0.1 %; count, mean, least and greatest
/// stay exact).
class Distribution {
 public:
  void add(double value, std::uint64_t count = 1);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double mean() const;
  [[nodiscard]] double least() const { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] double greatest() const { return count_ == 0 ? 0 : greatest_; }
  /// The value at rank q (count - 1) from the least, between two ranks in proportion. 0 of none.
  [[nodiscard]] double quantile(double q) const;
  [[nodiscard]] bool exact() const { return classes_.empty(); }

 private:
  void fold();
  void classify(double value, std::uint64_t count);
  [[nodiscard]] double at_rank(std::uint64_t rank) const;

  std::uint64_t count_ = 0;
  double sum_ = 0;
  double compensation_ = 0;  ///< Of Neumaier's summation.
  double least_ = 0;
  double greatest_ = 0;
  mutable bool sorted_ = false;
  mutable std::vector<std::pair<double, std::uint64_t>> runs_;
  std::vector<std::uint64_t> classes_;
};

}  // namespace mansard::model::serve
