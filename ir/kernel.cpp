#include "ir/kernel.hpp"

namespace mansard::ir {

std::string_view name_of(Pipe pipe) {
  constexpr std::array<std::string_view, kPipes> kNames = {
      "fma", "alu", "xu", "fp64", "lsu", "tex", "tensor", "uniform", "branch", "none"};
  return kNames[static_cast<std::size_t>(pipe)];
}

}  // namespace mansard::ir
