#pragma once

#include <string_view>

#include "frontend/onnx/node.hpp"

namespace mansard::frontend::onnx {

using Rule = void (*)(Node& node);

struct RuleEntry {
  std::string_view type;  ///< "Conv"; of other domains "com.microsoft.Attention".
  Rule rule = nullptr;
  /// Can describe its outputs although the rank of an input is not known.
  bool any_rank = false;
  /// Its result is not a constant although its inputs are (random numbers, control flow).
  bool never_constant = false;
};

/// The rule for an op, or nullptr. `rules/*.cpp` hold tables by theme.
[[nodiscard]] const RuleEntry* find_rule(std::string_view type);

}  // namespace mansard::frontend::onnx
