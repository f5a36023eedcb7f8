#include "hardware/change.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "hardware/schema.hpp"
#include "support/suggest.hpp"

namespace mansard::hardware {
namespace {

/// Fields from which a packaged memory's bandwidth and capacity follow.
constexpr std::array<std::string_view, 3> kBandwidthInputs = {"memory", "stacks", "pin_rate"};
constexpr std::array<std::string_view, 3> kCapacityInputs = {"memory", "stacks", "stack_capacity"};

/// What was found out about a figure, and which figure that is.
struct Finding {
  std::string_view path;
  std::string_view about;
};
constexpr std::array kFindings = {Finding{"usable", "capacity"},
                                  Finding{"measured_bandwidth", "bandwidth"}};

constexpr int kDigits = 4;

std::string shown(const Machine& machine, std::string_view path) {
  const Field* field = machine.find(path);
  const auto value = field == nullptr ? std::nullopt : machine.known(path);
  return value ? format_measure(*value, field->dimension, kDigits) : "unknown";
}

bool may_be_zero(const Field& field) {
  return field.dimension == kSecond || field.dimension == kUsdPerSecond;
}

}  // namespace

Changer::Changer(Machine machine, std::string by, FigureKind kind)
    : before_(machine), machine_(std::move(machine)), by_(std::move(by)), kind_(kind) {}

void Changer::error(std::string id, std::string message, const Location& location,
                    std::string label) {
  diagnostics_.push_back({std::move(id), std::move(message), location, std::move(label)});
}

std::optional<Dimension> Changer::dimension_at(std::string_view path, const Location& location) {
  const auto dimension = dimension_of(machine_, machine_.resolve(path));
  if (!dimension) {
    const auto meant = did_you_mean(path, known_paths(machine_));
    error("unknown-field", fmt::format("machine '{}' has no field '{}'", machine_.name, path),
          location, meant ? fmt::format("did you mean '{}'?", *meant) : "");
  }
  return dimension;
}

void Changer::set(std::string_view path, std::string_view text, const Location& path_location,
                  const Location& text_location) {
  const auto dimension = dimension_at(path, path_location);
  if (!dimension) {
    return;
  }
  const auto change = parse_adjustment(text, *dimension, text_location);
  if (!change) {
    diagnostics_.insert(diagnostics_.end(), change.error().begin(), change.error().end());
    return;
  }
  adjust(machine_.resolve(path), *dimension, *change, text_location);
}

void Changer::adjust(const std::string& path, const Dimension& dimension, const Adjustment& change,
                     const Location& location) {
  double old = 0;
  if (change.kind != Adjustment::Kind::kReplace) {
    const auto known = machine_.known(path);
    if (!known) {
      error("unknown-value",
            fmt::format("{} of machine '{}' is unknown, so it cannot be scaled or added to", path,
                        machine_.name),
            location, "give a value");
      return;
    }
    old = *known;
  }
  put({.path = path, .dimension = dimension, .value = change.apply(old), .location = location});
}

bool Changer::is_plausible(const Field& field) {
  const double value = field.value.value_or(1);
  if (!std::isfinite(value) || value > kLargestFigure) {
    error("out-of-range", fmt::format("{} is out of range", field.path), field.location);
    return false;
  }
  if (value < 0 || (value == 0 && !may_be_zero(field))) {
    error("not-positive", fmt::format("{} must be greater than zero", field.path), field.location);
    return false;
  }
  return true;
}

void Changer::put(Field field) {
  if (!is_plausible(field)) {
    return;
  }
  if (field.source.empty()) {
    field.source = by_;
    field.kind = field.formula ? FigureKind::kDerived : kind_;
  }
  field.changed = true;
  const std::string path = field.path;
  const std::string old = shown(machine_, path);
  touched_.insert(path);
  machine_.add(std::move(field));
  say(path, old, by_);
}

void Changer::say(std::string_view path, std::string_view old, std::string_view why) {
  machine_.changes.push_back(
      fmt::format("{} {} -> {} ({})", path, old, shown(machine_, path), why));
}

void Changer::retype_memory(const Tier& tier, const Location& location) {
  Tier* known = find_tier(tier.name);
  machine_.changes.push_back(
      fmt::format("{}: memory {} -> {} ({})", tier.name, known->technology, tier.technology, by_));
  *known = tier;
  touched_.insert(tier.name + ".memory");
  memory_locations_[tier.name] = location;
  // They were those of the other technology.
  for (const std::string_view leaf : {"pin_rate", "stack_capacity"}) {
    machine_.remove(fmt::format("{}.{}", tier.name, leaf));
  }
}

Tier* Changer::find_tier(std::string_view name) {
  const auto found = std::ranges::find(machine_.tiers, name, &Tier::name);
  return found == machine_.tiers.end() ? nullptr : &*found;
}

bool Changer::touched_any(const Tier& tier, std::span<const std::string_view> leaves) const {
  return std::ranges::any_of(leaves, [&](std::string_view leaf) {
    return touched_.contains(fmt::format("{}.{}", tier.name, leaf));
  });
}

void Changer::rederive_memories() {
  for (const Tier& tier : machine_.tiers) {
    const MemoryFigures stale{.bandwidth = touched_any(tier, kBandwidthInputs) &&
                                           !touched_.contains(tier.name + ".bandwidth"),
                              .capacity = touched_any(tier, kCapacityInputs) &&
                                          !touched_.contains(tier.name + ".capacity")};
    if (!tier.technology.empty() && (stale.bandwidth || stale.capacity)) {
      rederive(tier, stale);
    }
  }
}

void Changer::rederive(const Tier& tier, MemoryFigures stale) {
  const auto generation = memory_generation(tier.technology, memory_locations_[tier.name]);
  if (!generation) {
    diagnostics_.insert(diagnostics_.end(), generation.error().begin(), generation.error().end());
    return;
  }
  if (!machine_.known(tier.name + ".stacks")) {
    error("unknown-value",
          fmt::format("{}.stacks of machine '{}' is unknown", tier.name, machine_.name),
          memory_locations_[tier.name], "give stacks, or bandwidth and capacity");
    return;
  }
  keep_stack_capacity(tier);
  const std::string bandwidth = shown(machine_, tier.name + ".bandwidth");
  const std::string capacity = shown(machine_, tier.name + ".capacity");
  derive_memory(machine_, tier, *generation, stale);
  if (stale.bandwidth) {
    mark(tier.name + ".bandwidth", bandwidth, "follows stacks and pin rate");
  }
  if (stale.capacity) {
    mark(tier.name + ".capacity", capacity, "follows stacks");
  }
}

/// Stacks of the same technology stay as large as they were.
void Changer::keep_stack_capacity(const Tier& tier) {
  const std::string path = tier.name + ".stack_capacity";
  const auto capacity = before_.known(tier.name + ".capacity");
  const auto stacks = before_.known(tier.name + ".stacks");
  if (touched_.contains(tier.name + ".memory") || machine_.known(path) || !capacity || !stacks) {
    return;
  }
  machine_.add({.path = path,
                .dimension = kByte,
                .value = *capacity / *stacks,
                .kind = FigureKind::kDerived,
                .source = before_.find(tier.name + ".capacity")->source});
}

void Changer::mark(const std::string& path, std::string_view old, std::string_view why) {
  machine_.find(path)->changed = true;
  touched_.insert(path);
  say(path, old, why);
}

/// What was found out about the old memory says nothing about the changed one.
void Changer::void_measured() {
  for (const Tier& tier : machine_.tiers) {
    for (const auto& [dependent, changed] : kFindings) {
      const std::string path = fmt::format("{}.{}", tier.name, dependent);
      Field* field = machine_.find(path);
      if (field == nullptr || !field->value || touched_.contains(path) ||
          !touched_.contains(fmt::format("{}.{}", tier.name, changed))) {
        continue;
      }
      const std::string old = shown(machine_, path);
      field->value.reset();
      field->note = fmt::format("it was {} before {} was changed", old, changed);
      mark(path, old, fmt::format("{} was changed", changed));
    }
  }
}

/// No clock is above clock.max: the one that was not asked for follows.
void Changer::settle_clocks() {
  const auto max = machine_.known("clock.max");
  for (const std::string path : {"clock.base", "clock.tensor", "clock.sustained"}) {
    const auto clock = machine_.known(path);
    if (!max || !clock || *clock <= *max) {
      continue;
    }
    const bool wanted = touched_.contains(path);
    if (wanted && touched_.contains("clock.max")) {
      error("clock-order",
            fmt::format("{} {} is above clock.max {}", path, shown(machine_, path),
                        shown(machine_, "clock.max")),
            machine_.find(path)->location);
      continue;
    }
    const std::string follower = wanted ? "clock.max" : path;
    const std::string old = shown(machine_, follower);
    machine_.find(follower)->value = wanted ? *clock : *max;
    mark(follower, old, wanted ? "follows " + path : "not above clock.max");
    touched_.erase(follower);
  }
}

Result<Machine> Changer::finish() {
  if (diagnostics_.empty()) {
    rederive_memories();
    void_measured();
    settle_clocks();
  }
  if (!diagnostics_.empty()) {
    return failure(std::move(diagnostics_));
  }
  if (machine_.changes.size() > before_.changes.size() &&
      std::ranges::find(machine_.sources, by_, &Source::id) == machine_.sources.end()) {
    machine_.sources.push_back({by_, "a change to the machine", kind_, ""});
  }
  return std::move(machine_);
}

Result<Machine> apply_setting(Machine machine, const Setting& setting) {
  const std::string line = fmt::format("{}={}", setting.path, setting.text);
  const auto file = std::make_shared<const SourceFile>(SourceFile{"--set", line});
  const std::size_t value_begin = setting.path.size() + 1;
  Changer changer(std::move(machine), "--set", FigureKind::kAssumed);
  changer.set(setting.path, setting.text, {file, 0, setting.path.size()},
              {file, value_begin, line.size()});
  return changer.finish();
}

}  // namespace mansard::hardware
