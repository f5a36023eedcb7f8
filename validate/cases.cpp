#include "validate/cases.hpp"

#include <array>

#include <fmt/format.h>

#include "validate/case_graphs.hpp"

namespace mansard::validate {
namespace {

constexpr std::array kCases{
#define CASE(op, function) Case{#op, cases::function},
#include "validate/cases.def"
#undef CASE
};

/// What an absent column means.
constexpr std::pair<std::string_view, double> kDefaults[] = {
    {"batch", 1}, {"window", 0}, {"causal", 1}, {"gated", 1},
    {"tp", 1},    {"ep", 1},     {"q_len", 1},  {"experts_touched", 0}};

}  // namespace

const Case* find_case(std::string_view op) {
  for (const Case& candidate : kCases) {
    if (candidate.op == op) {
      return &candidate;
    }
  }
  return nullptr;
}

std::string case_key(const ir::Measurement& row) {
  const auto model = row.op == "step" ? row.model : std::string();
  const auto tp = row.dims.find("tp");
  const double ranks = row.op == "step" && tp != row.dims.end() ? tp->second : 1;
  const auto residual = row.dims.find("residual");
  const double adds = residual == row.dims.end() ? 0 : residual->second;
  return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}/{}", row.op, row.dtype, row.out_dtype, row.kv_dtype,
                     row.implementation, row.mode, row.phase, fmt::format("{}/{}", model, ranks),
                     adds);
}

ir::Bindings bindings_of(const ir::Measurement& row) {
  ir::Bindings result;
  for (const auto& [name, value] : kDefaults) {
    result.set(name, value);
  }
  for (const auto& [name, value] : row.dims) {
    result.set(name, value);
  }
  return result;
}

}  // namespace mansard::validate
