#pragma once

#include <vector>

#include "frontend/hf/architecture.hpp"
#include "frontend/hf/config.hpp"

namespace mansard::frontend::hf {

/// Reads torch_dtype and quantization_config into the element types of each layer's weights and of
/// the model.
void read_formats(Config& config, std::vector<Layer>& layers, Architecture& architecture);

}  // namespace mansard::frontend::hf
