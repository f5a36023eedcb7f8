#include "frontend/hf/rule_help.hpp"

#include <fmt/format.h>

namespace mansard::frontend::hf {

bool fits(Config& config, std::string_view key, std::size_t entries, const Plan& plan) {
  const auto ahead = config.integer({"num_nextn_predict_layers"}).value_or(0);
  if (entries == plan.size() || entries == plan.size() + static_cast<std::size_t>(ahead)) {
    return true;
  }
  config.refuse("config-layers",
                fmt::format("{} has {} entries for {} layers", key, entries, plan.size()),
                config.find(key)->location);
  return false;
}

std::size_t period_of(Config& config, std::string_view key, std::int64_t otherwise) {
  const Node* node = key.empty() ? nullptr : config.find(key);
  const std::int64_t period =
      node != nullptr ? config.integer({key}).value_or(otherwise) : otherwise;
  if (period < 1) {
    config.refuse("config-layers", fmt::format("expected {} of 1 or more, found {}", key, period),
                  node->location);
    return 1;
  }
  return static_cast<std::size_t>(period);
}

}  // namespace mansard::frontend::hf
