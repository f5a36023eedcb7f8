#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/hf/config.hpp"
#include "frontend/hf/module_pattern.hpp"
#include "ir/dtype.hpp"

namespace mansard::frontend::hf {

/// How some modules are stored and read.
struct QuantizedFormat {
  const ir::Dtype* weights = nullptr;
  const ir::Dtype* inputs =
      nullptr;  ///< What matmuls read their input as; nullptr: the activations' type.
};

/// The modules of a scheme that have one format.
struct QuantizedGroup {
  QuantizedFormat format;
  ModuleSet modules;
  bool all = false;  ///< Every linear module, except as other groups say.
};

/// A quantization_config, whatever its method.
struct QuantizationScheme {
  std::vector<QuantizedGroup> groups;
  ModuleSet ignored;
  bool experts_only = false;      ///< mxfp4 as gpt-oss uses it.
  bool includes_head = false;     ///< The output head is quantised unless it is ignored.
  const ir::Dtype* kv = nullptr;  ///< Of the KV cache, where the config says.
};

/// The scheme of a config, if it is quantised; refuses a method by name that is not understood.
[[nodiscard]] std::optional<QuantizationScheme> read_quantization(Config& config);

}  // namespace mansard::frontend::hf
