#pragma once

#include "frontend/hf/family.hpp"

namespace mansard::frontend::hf {

#define HF_FAMILY(function) [[nodiscard]] Family function();
#include "frontend/hf/families.def"
#undef HF_FAMILY

}  // namespace mansard::frontend::hf
