#include "hardware/schema.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ir/dtype.hpp"

namespace mansard::hardware {
namespace {

constexpr std::array kLone = {FigureKey{"sm_count", kNumber}, FigureKey{"sparsity", kNumber}};

constexpr std::array kClock = {FigureKey{"base", kHertz}, FigureKey{"tensor", kHertz},
                               FigureKey{"max", kHertz}, FigureKey{"sustained", kHertz}};
constexpr std::array kPerSm = {FigureKey{"per_sm", kPerCycle}};
constexpr std::array kOccupancy = {FigureKey{"warp_size", kNumber},
                                   FigureKey{"max_warps", kNumber},
                                   FigureKey{"max_blocks", kNumber},
                                   FigureKey{"max_threads", kNumber},
                                   FigureKey{"max_threads_per_block", kNumber},
                                   FigureKey{"registers", kNumber},
                                   FigureKey{"max_registers_per_thread", kNumber},
                                   FigureKey{"register_unit", kNumber},
                                   FigureKey{"warp_unit", kNumber},
                                   FigureKey{"shared", kByte},
                                   FigureKey{"shared_per_block", kByte},
                                   FigureKey{"shared_unit", kByte},
                                   FigureKey{"shared_reserved", kByte},
                                   FigureKey{"banks", kNumber},
                                   FigureKey{"bank_width", kByte},
                                   FigureKey{"tensor_memory", kByte}};
constexpr std::array kPower = {FigureKey{"cap", kWatt}, FigureKey{"idle", kWatt}};
constexpr std::array kLaunch = {FigureKey{"stream", kSecond}, FigureKey{"graph", kSecond},
                                FigureKey{"eager", kSecond}};
constexpr std::array kGroups = {
    FigureGroup{"clock", kClock},         FigureGroup{"special", kPerSm},
    FigureGroup{"integer", kPerSm},       FigureGroup{"scheduler", kPerSm},
    FigureGroup{"occupancy", kOccupancy}, FigureGroup{"power", kPower},
    FigureGroup{"launch", kLaunch}};

constexpr std::array kTier = {
    FigureKey{"capacity", kByte},
    FigureKey{"usable", kByte},
    FigureKey{"unified", kByte},
    FigureKey{"stacks", kNumber},
    FigureKey{"stack_capacity", kByte},
    FigureKey{"pin_rate", kBytePerSecond},
    FigureKey{"bandwidth", kBytePerSecond},
    FigureKey{"measured_bandwidth", kBytePerSecond},
    FigureKey{"latency", kSecond},
    FigureKey{"far_latency", kSecond},
    FigureKey{"l1_latency", kSecond},
    FigureKey{"partitions", kNumber},
    FigureKey{"line", kByte},
    FigureKey{"sector", kByte},
    FigureKey{"links", kNumber},
    FigureKey{"devices", kNumber},
};

constexpr std::array<std::string_view, 2> kEngines = {"matrix", "vector"};

std::vector<std::string> make_rate_dtypes() {
  std::vector<std::string> names;
  for (const ir::Dtype& dtype : ir::dtypes()) {
    if (dtype.arithmetic == dtype.name) {
      names.emplace_back(dtype.name);
      names.push_back(fmt::format("{}_acc16", dtype.name));
    }
  }
  return names;
}

std::optional<Dimension> find_key(std::span<const FigureKey> keys, std::string_view name) {
  const auto found = std::ranges::find(keys, name, &FigureKey::name);
  return found == keys.end() ? std::nullopt : std::optional(found->dimension);
}

/// Of a path without a dot.
std::optional<Dimension> dimension_of_lone(std::string_view path) {
  if (path == "price") {
    return kUsdPerSecond;
  }
  if (path == "special" || path == "integer") {
    return kPerSecond;
  }
  if (path == "instruction") {
    return kInstructionPerSecond;
  }
  return find_key(kLone, path);
}

}  // namespace

std::span<const FigureGroup> figure_groups() {
  return kGroups;
}
std::span<const FigureKey> lone_figures() {
  return kLone;
}
std::span<const FigureKey> tier_figures() {
  return kTier;
}
std::span<const std::string_view> rate_engines() {
  return kEngines;
}

std::span<const std::string> rate_dtypes() {
  static const std::vector<std::string> names = make_rate_dtypes();
  return names;
}

bool is_rate_dtype(std::string_view name) {
  return std::ranges::find(rate_dtypes(), name) != rate_dtypes().end();
}

std::optional<Dimension> dimension_of(const Machine& machine, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) {
    return dimension_of_lone(path);
  }
  const std::string_view group = path.substr(0, dot);
  const std::string_view key = path.substr(dot + 1);
  if (std::ranges::find(kEngines, group) != kEngines.end()) {
    return is_rate_dtype(key) ? std::optional(kFlopPerSecond) : std::nullopt;
  }
  const auto* const found = std::ranges::find(kGroups, group, &FigureGroup::name);
  if (found != kGroups.end()) {
    return find_key(found->keys, key);
  }
  return machine.tier(group) != nullptr ? find_key(kTier, key) : std::nullopt;
}

std::string_view leaf_of(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

bool is_under(std::string_view path, std::string_view prefix) {
  return path == prefix || (path.starts_with(prefix) && path[prefix.size()] == '.');
}

std::string_view name_of(TierScope scope) {
  switch (scope) {
    case TierScope::kSm:
      return "sm";
    case TierScope::kDevice:
      return "device";
    case TierScope::kNode:
      return "node";
    case TierScope::kCluster:
      return "cluster";
  }
  return "";
}

std::optional<TierScope> scope_of(std::string_view name) {
  for (const TierScope scope :
       {TierScope::kSm, TierScope::kDevice, TierScope::kNode, TierScope::kCluster}) {
    if (name_of(scope) == name) {
      return scope;
    }
  }
  return std::nullopt;
}

std::vector<std::string> known_paths(const Machine& machine) {
  std::vector<std::string> paths;
  const auto main = std::ranges::find_if(machine.tiers, &Tier::main);
  for (const Field& field : machine.fields()) {
    paths.push_back(field.path);
    if (main != machine.tiers.end() && is_under(field.path, main->name)) {
      paths.push_back("main" + field.path.substr(main->name.size()));
    }
  }
  return paths;
}

}  // namespace mansard::hardware
