#include "model/fitted_tier.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

namespace mansard::model {
namespace {

using namespace std::string_view_literals;

/// Shares of device memory's bandwidth. Times spent waiting for it stay: another bandwidth is not
/// another latency.
constexpr std::array kMemory{"main"sv,       "whole_main"sv, "write"sv,
                             "write_back"sv, "bulk"sv,       "column_rate"sv};

/// Rates of the last level, its reach, and what it holds.
constexpr std::array kCache{"cache"sv, "cache_from"sv, "cache_to"sv, "feed"sv, "reach"sv, "walk"sv};
constexpr std::array kSubstituted{"feed"sv, "reach"sv, "walk"sv};

/// Of a collective all but the number of kernels.
constexpr std::string_view kLaunches = "launches";

constexpr std::string_view kLinkSection = "collective";
constexpr std::string_view kStepSection = "step";
constexpr std::string_view kEnergySection = "energy";

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

bool has_substitute(std::string_view parameter) {
  return contains(kSubstituted, parameter);
}

bool is_interval(std::string_view parameter) {
  return parameter.find("interval.") != std::string_view::npos;
}

std::optional<FittedTier> fitted_tier(const hardware::Machine& machine,
                                      const hardware::Tier& tier) {
  if (tier.main) {
    return FittedTier::kMemory;
  }
  if (tier.link) {
    return FittedTier::kLink;
  }
  const hardware::Tier* last = machine.last_level();
  return last != nullptr && last->name == tier.name ? std::optional(FittedTier::kCache)
                                                    : std::nullopt;
}

bool is_speed_changed(const hardware::Machine& machine, const hardware::Tier& tier) {
  constexpr std::array kAmounts{"capacity"sv, "usable"sv, "stack_capacity"sv};
  const std::string prefix = fmt::format("{}.", tier.name);
  return std::ranges::any_of(machine.fields(), [&](const hardware::Field& field) {
    const bool is_amount = tier.main && field.path.starts_with(prefix) &&
                           contains(kAmounts, std::string_view(field.path).substr(prefix.size()));
    return field.changed && field.path.starts_with(prefix) && !is_amount;
  });
}

bool is_as_fast(const hardware::Machine& machine, const hardware::Machine& other,
                const hardware::Tier& tier) {
  const auto same = [&](std::string_view leaf) {
    const std::string path = fmt::format("{}.{}", tier.name, leaf);
    return machine.known(path) == other.known(path);
  };
  const bool is_cache = !tier.main && !tier.link;
  return other.tier(tier.name) != nullptr && same("bandwidth") && (!is_cache || same("capacity"));
}

bool rests_on(std::string_view section, std::string_view parameter, FittedTier tier) {
  const bool is_collective = section == kLinkSection;
  if (tier == FittedTier::kLink) {
    return is_collective ? parameter != kLaunches
                         : section == kStepSection && is_interval(parameter);
  }
  if (is_collective || section == kEnergySection) {
    return false;
  }
  return is_interval(parameter) ||
         contains(tier == FittedTier::kMemory ? std::span<const std::string_view>(kMemory) : kCache,
                  parameter);
}

}  // namespace mansard::model
