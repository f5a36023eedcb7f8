#include "model/sweep/axis.hpp"

#include <cmath>

#include <fmt/format.h>

namespace mansard::model {

std::string Axis::text(std::uint64_t index) const {
  return words.empty() ? fmt::format("{}", value(index)) : words[index];
}

Axis Axis::of_words(std::string name, std::vector<std::string> words) {
  Axis axis;
  axis.name = std::move(name);
  axis.count_ = words.size();
  axis.words = std::move(words);
  return axis;
}

Axis Axis::of_values(std::string name, const Dimension& dimension, std::vector<double> values) {
  Axis axis;
  axis.name = std::move(name);
  axis.dimension = dimension;
  axis.count_ = values.size();
  axis.list_ = std::move(values);
  return axis;
}

Axis Axis::of_range(std::string name, const Dimension& dimension, double first, double step,
                    std::uint64_t count) {
  Axis axis;
  axis.name = std::move(name);
  axis.dimension = dimension;
  axis.first_ = first;
  axis.step_ = step;
  axis.count_ = count;
  return axis;
}

}  // namespace mansard::model
