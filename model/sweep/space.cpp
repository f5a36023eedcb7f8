#include <algorithm>

#include "model/sweep/sweep.hpp"

namespace mansard::model {
namespace {

/// A row shorter than this would spend its time on what is computed once a row.
constexpr std::uint64_t kShortestRow = 64;

}  // namespace

SweepSpace::SweepSpace(std::vector<AxisGroup> structural_groups,
                       std::vector<AxisGroup> symbolic_groups)
    : structural(std::move(structural_groups)), symbolic(std::move(symbolic_groups)) {}

std::uint64_t SweepSpace::product(std::span<const AxisGroup> groups, std::size_t from) {
  std::uint64_t result = 1;
  for (const AxisGroup& group : groups.subspan(from)) {
    result *= group.front().size();
  }
  return result;
}

double SweepSpace::points() const {
  double result = 1;
  for (const auto* groups : {&structural, &symbolic}) {
    for (const AxisGroup& group : *groups) {
      result *= static_cast<double>(group.front().size());
    }
  }
  return result;
}

std::size_t SweepSpace::first_point_group() const {
  std::size_t first = symbolic.size();
  while (first > 0 && (first == symbolic.size() || product(symbolic, first) < kShortestRow)) {
    --first;
  }
  return first;
}

Program::Symbols SweepSpace::symbols() const {
  Program::Symbols result;
  for (std::size_t i = 0; i < symbolic.size(); ++i) {
    auto& names = i < first_point_group() ? result.row : result.point;
    for (const Axis& axis : symbolic[i]) {
      names.push_back(axis.name);
    }
  }
  return result;
}

std::vector<std::uint64_t> SweepSpace::places(std::span<const AxisGroup> groups,
                                              std::uint64_t index) {
  std::vector<std::uint64_t> result(groups.size());
  for (std::size_t i = groups.size(); i-- > 0;) {
    const std::uint64_t size = groups[i].front().size();
    result[i] = index % size;
    index /= size;
  }
  return result;
}

void SweepCounts::add(const SweepCounts& other) {
  evaluated += other.evaluated;
  unwanted += other.unwanted;
  for (const auto& [reason, count] : other.infeasible) {
    infeasible[reason] += count;
  }
}

std::uint64_t SweepCounts::total() const {
  std::uint64_t result = evaluated;
  for (const auto& [reason, count] : infeasible) {
    result += count;
  }
  return result;
}

}  // namespace mansard::model
