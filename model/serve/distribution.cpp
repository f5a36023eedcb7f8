#include "model/serve/distribution.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mansard::model::serve {
namespace {

constexpr std::size_t kMostRuns = std::size_t{1} << 20U;
constexpr std::uint64_t kFirstExponent = 1023 - 50;  ///< 2^-50 s; all below share a class.
constexpr std::uint64_t kOctaves = 100;
constexpr unsigned kFractionBits = 10;

/// The exponent and the first bits of the fraction of a double, from 2^-50 on.
std::size_t class_of(double value) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) >> (52U - kFractionBits);
  const std::uint64_t first = kFirstExponent << kFractionBits;
  const std::uint64_t last = ((kFirstExponent + kOctaves) << kFractionBits) - 1;
  return value <= 0 ? 0 : std::clamp(bits, first, last) - first;
}

double middle_of(std::size_t place) {
  const std::uint64_t bits = place + (kFirstExponent << kFractionBits);
  const auto from = std::bit_cast<double>(bits << (52U - kFractionBits));
  const auto to = std::bit_cast<double>((bits + 1) << (52U - kFractionBits));
  return place == 0 ? 0 : (from + to) / 2;
}

}  // namespace

void Distribution::add(double value, std::uint64_t count) {
  if (count == 0) {
    return;
  }
  least_ = count_ == 0 ? value : std::min(least_, value);
  greatest_ = count_ == 0 ? value : std::max(greatest_, value);
  count_ += count;
  const double term = value * static_cast<double>(count);
  const double sum = sum_ + term;
  compensation_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
  sum_ = sum;
  if (!classes_.empty()) {
    return classify(value, count);
  }
  if (!runs_.empty() && !sorted_ && runs_.back().first == value) {
    runs_.back().second += count;
    return;
  }
  sorted_ = false;
  runs_.emplace_back(value, count);
  if (runs_.size() > kMostRuns) {
    fold();
  }
}

double Distribution::mean() const {
  return count_ == 0 ? 0 : (sum_ + compensation_) / static_cast<double>(count_);
}

double Distribution::quantile(double q) const {
  if (count_ == 0) {
    return 0;
  }
  const double rank = q * static_cast<double>(count_ - 1);
  const auto below = static_cast<std::uint64_t>(rank);
  const double fraction = rank - static_cast<double>(below);
  const double low = at_rank(below);
  const double high = fraction > 0 ? at_rank(below + 1) : low;
  return std::clamp(low + fraction * (high - low), least_, greatest_);
}

void Distribution::fold() {
  classes_.resize(kOctaves << kFractionBits);
  for (const auto& [value, count] : runs_) {
    classify(value, count);
  }
  runs_.clear();
  runs_.shrink_to_fit();
}

void Distribution::classify(double value, std::uint64_t count) {
  classes_[class_of(value)] += count;
}

double Distribution::at_rank(std::uint64_t rank) const {
  if (!classes_.empty()) {
    std::uint64_t seen = 0;
    for (std::size_t place = 0; place < classes_.size(); ++place) {
      seen += classes_[place];
      if (seen > rank) {
        return middle_of(place);
      }
    }
    return greatest_;
  }
  if (!sorted_) {
    std::ranges::sort(runs_);
    sorted_ = true;
  }
  std::uint64_t seen = 0;
  for (const auto& [value, count] : runs_) {
    seen += count;
    if (seen > rank) {
      return value;
    }
  }
  return greatest_;
}

}  // namespace mansard::model::serve
