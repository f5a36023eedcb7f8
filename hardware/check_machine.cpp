#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hardware/build.hpp"
#include "hardware/schema.hpp"
#include "support/suggest.hpp"

namespace mansard::hardware {
namespace {

/// How far a rate may be from the datasheet's rounded figure.
constexpr double kTolerance = 0.03;
/// Capacities are sold in GB and reported in GiB.
constexpr double kUsableOverSold = 1.08;

class Checker {
 public:
  Checker(const Machine& machine, const Draft& draft, Diagnostics& diagnostics)
      : machine_(&machine), draft_(&draft), diagnostics_(&diagnostics) {}

  void check() {
    for (const Figure& figure : draft_->figures) {
      check_source(figure);
      check_sign(figure);
      check_datasheet(figure);
    }
    check_presence();
    check_clocks();
    check_scopes();
    check_capacities();
  }

 private:
  void error(std::string id, std::string message, const Location& location,
             std::string label = {}) {
    diagnostics_->push_back({std::move(id), std::move(message), location, std::move(label)});
  }

  void check_source(const Figure& figure) {
    if (figure.source.empty() || draft_->source(figure.source) != nullptr) {
      return;
    }
    std::vector<std::string> ids;
    std::ranges::transform(draft_->sources, std::back_inserter(ids), &Source::id);
    const auto meant = did_you_mean(figure.source, ids);
    error("unknown-source",
          fmt::format("{} names a source '{}' that the file does not list", figure.path,
                      figure.source),
          figure.source_location, meant ? fmt::format("did you mean '{}'?", *meant) : "");
  }

  void check_sign(const Figure& figure) {
    if (figure.number && (*figure.number < 0 || (*figure.number == 0 && !may_be_zero(figure)))) {
      error("not-positive", fmt::format("{} must be greater than zero", figure.path),
            figure.location);
    }
  }

  static bool may_be_zero(const Figure& figure) {
    return figure.dimension == kSecond || figure.dimension == kUsdPerSecond ||
           leaf_of(figure.path) == "shared_reserved";
  }

  void check_datasheet(const Figure& figure) {
    const auto rate = figure.datasheet ? machine_->known(figure.path) : std::nullopt;
    if (!rate || std::abs(*rate / *figure.datasheet - 1) <= kTolerance) {
      return;
    }
    const std::string derived = format_measure(*rate, kFlopPerSecond, 4);
    error("datasheet-mismatch",
          fmt::format("{} comes to {}, {:+.1f} % from the datasheet's", figure.path, derived,
                      100 * (*rate / *figure.datasheet - 1)),
          figure.datasheet_location, "more than 3 %: check sm_count, fma and the clock");
  }

  void check_presence() {
    const auto mains = std::ranges::count_if(machine_->tiers, &Tier::main);
    if (mains != 1) {
      error("main-memory", fmt::format("expected one device memory, found {}", mains),
            draft_->name_location, "a tier with scope: device and memory: is one");
      return;
    }
    for (const std::string_view path : {"sm_count", "main.capacity", "main.bandwidth"}) {
      if (machine_->find(path) == nullptr) {
        error("missing-key", fmt::format("{} is missing", machine_->resolve(path)),
              draft_->name_location, "write null if it is not known");
      }
    }
  }

  void check_clocks() {
    const auto max = machine_->known("clock.max");
    for (const std::string_view path : {"clock.base", "clock.tensor", "clock.sustained"}) {
      const auto clock = machine_->known(path);
      if (max && clock && *clock > *max) {
        error("clock-order",
              fmt::format("{} {} is above clock.max {}", path, format_measure(*clock, kHertz, 4),
                          format_measure(*max, kHertz, 4)),
              machine_->find(path)->location);
      }
    }
  }

  /// Inner to outer.
  void check_scopes() {
    for (std::size_t i = 1; i < draft_->tiers.size(); ++i) {
      const TierDraft& inner = draft_->tiers[i - 1];
      const TierDraft& outer = draft_->tiers[i];
      if (inner.scope && outer.scope && *outer.scope < *inner.scope) {
        error("tier-order",
              fmt::format("the tier '{}' (scope {}) stands outside '{}' (scope {})", outer.name,
                          name_of(*outer.scope), inner.name, name_of(*inner.scope)),
              outer.location, "tiers go from inner to outer");
      }
    }
  }

  void check_capacities() {
    std::optional<double> within;
    for (const Tier& tier : machine_->tiers) {
      const auto capacity = machine_->known(tier.name + ".capacity");
      if (tier.scope != TierScope::kDevice || !capacity) {
        continue;
      }
      if (within && *capacity < *within) {
        error("capacity-order",
              fmt::format("{}.capacity {} is below that of the tier inside it", tier.name,
                          format_measure(*capacity, kByte)),
              machine_->find(tier.name + ".capacity")->location);
      }
      within = capacity;
      check_usable(tier, *capacity);
    }
  }

  void check_usable(const Tier& tier, double capacity) {
    const auto usable = machine_->known(tier.name + ".usable");
    if (usable && *usable > capacity * kUsableOverSold) {
      error("capacity-order",
            fmt::format("{}.usable {} is above the capacity {}", tier.name,
                        format_measure(*usable, kByte), format_measure(capacity, kByte)),
            machine_->find(tier.name + ".usable")->location);
    }
  }

  const Machine* machine_;
  const Draft* draft_;
  Diagnostics* diagnostics_;
};

}  // namespace

void check_machine(const Machine& machine, const Draft& draft, Diagnostics& diagnostics) {
  Checker(machine, draft, diagnostics).check();
}

}  // namespace mansard::hardware
