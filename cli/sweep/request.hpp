#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/sweep/settings.hpp"

namespace mansard::cli {

/// What `mansard sweep` was asked.
struct SweepRequest {
  Question question;
  std::vector<std::string> vary;
  std::vector<std::string> outputs;
  std::string where;
  std::string pareto;
  std::size_t top = 0;
  std::string by;
  std::vector<std::string> aggregates;
  std::vector<std::string> group_by;
  std::string file;
  std::string shard;
  unsigned threads = 0;
  bool interpret = false;
  Format format = Format::kTable;

  [[nodiscard]] bool keeps_little() const {
    return top > 0 || !pareto.empty() || !aggregates.empty();
  }
  /// Every point is written as it comes.
  [[nodiscard]] bool streams() const {
    const bool as_one = file.ends_with(".json");
    return !keeps_little() && !as_one && (!file.empty() || format == Format::kCsv);
  }
};

}  // namespace mansard::cli
