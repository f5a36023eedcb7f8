#include "ir/passes/elementwise.hpp"

#include <algorithm>
#include <array>

#include "ir/passes/rewrite.hpp"

namespace mansard::ir {
namespace {

struct LinearFunction {
  std::string_view name;
  std::array<std::string_view, 2> operands;
  std::size_t count = 0;
};

constexpr std::array kLinear = {
    LinearFunction{"add", {"x", "y"}, 2},
    LinearFunction{"weighted_sum", {"x", "y"}, 2},
    LinearFunction{"scale", {"x"}, 1},
    LinearFunction{"sigmoid_mul", {"x"}, 1},
};

const LinearFunction* find_linear(const Op& op) {
  const auto* const found =
      std::ranges::find(kLinear, attribute_of(op, "function"), &LinearFunction::name);
  return found != kLinear.end() && is_kind(op, "elementwise") ? found : nullptr;
}

}  // namespace

std::span<const std::string_view> linear_operands(const Op& op) {
  const LinearFunction* linear = find_linear(op);
  return linear == nullptr ? std::span<const std::string_view>()
                           : std::span(linear->operands).first(linear->count);
}

bool is_sum(const Op& op) {
  const std::string_view function = attribute_of(op, "function");
  return function == "add" || function == "weighted_sum" || function == "merge_attention";
}

}  // namespace mansard::ir
