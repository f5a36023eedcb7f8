#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "hardware/build.hpp"
#include "hardware/schema.hpp"

namespace mansard::hardware {
namespace {

using ir::Expr;

/// Significant digits that identify every double.
constexpr int kAllDigits = 17;

Expr symbol(const Machine& machine, std::string_view path, const Dimension& dimension) {
  return machine.pool().symbol(path, dimension);
}

/// Per SM and clock, of all SMs at the greatest clock.
Expr per_second(const Machine& machine, Expr per_sm) {
  return symbol(machine, "sm_count", kNumber) * per_sm * symbol(machine, "clock.max", kHertz);
}

Expr rate_formula(const Machine& machine, double fma, std::string_view clock_name) {
  const Expr per_sm = machine.pool().constant(2 * fma, kFlop - kCycle);
  const Expr clock = symbol(machine, fmt::format("clock.{}", clock_name), kHertz);
  return symbol(machine, "sm_count", kNumber) * per_sm * clock;
}

Expr bandwidth_formula(const Machine& machine, std::string_view path, double bytes_per_clock) {
  const Expr per_clock = machine.pool().constant(bytes_per_clock, kBytePerCycle);
  const Tier* tier = machine.tier(path.substr(0, path.find('.')));
  if (tier != nullptr && tier->scope == TierScope::kSm) {
    return per_second(machine, per_clock);
  }
  return per_clock * symbol(machine, "clock.max", kHertz);
}

Expr formula_of(const Machine& machine, const Figure& figure) {
  if (!figure.number || figure.basis == Basis::kGiven) {
    return {};
  }
  if (figure.basis == Basis::kFmaPerSm) {
    return rate_formula(machine, *figure.number, figure.clock);
  }
  if (figure.basis == Basis::kPerClock) {
    return bandwidth_formula(machine, figure.path, *figure.number);
  }
  return machine.pool().constant(*figure.number, kCycle) / symbol(machine, "clock.max", kHertz);
}

std::string definition_of(const Figure& figure) {
  if (!figure.number || figure.basis == Basis::kGiven) {
    return "";
  }
  if (figure.basis == Basis::kFmaPerSm) {
    return fmt::format("fma: {}, clock: {}", *figure.number, figure.clock);
  }
  const Dimension unit = figure.basis == Basis::kPerClock ? kBytePerCycle : kCycle;
  return format_measure(*figure.number, unit, kAllDigits);
}

/// Fields that follow from what one SM does in a clock.
void add_sm_rates(Machine& machine) {
  const auto add = [&](std::string_view path, std::string_view group, const Dimension& each) {
    const Field* per_sm = machine.find(fmt::format("{}.per_sm", group));
    if (per_sm == nullptr) {
      return;
    }
    const Expr unit = machine.pool().constant(1, each);
    Field field = *per_sm;
    field.formula = per_second(machine, symbol(machine, field.path, kPerCycle) * unit);
    field.path = path;
    field.dimension = field.formula.dimension();
    field.value.reset();
    field.kind = FigureKind::kDerived;
    machine.add(std::move(field));
  };
  add("special", "special", kNumber);
  add("integer", "integer", kNumber);
  add("instruction", "scheduler", kInstruction);
}

/// Figures that models ask for: a machine that does not state one has it as an unknown, so that the
/// answer is that it is unknown rather than that there is no such thing.
constexpr auto kExpected = std::to_array<std::string_view>(
    {"clock.base", "clock.tensor", "clock.max", "clock.sustained", "special.per_sm",
     "integer.per_sm", "scheduler.per_sm", "power.cap", "power.idle", "launch.stream",
     "launch.graph", "launch.eager", "price"});

void add_unknowns(Machine& machine, const Location& location) {
  for (const std::string_view path : kExpected) {
    const auto dimension = dimension_of(machine, path);
    if (dimension && machine.find(path) == nullptr) {
      machine.add({.path = std::string(path),
                   .dimension = *dimension,
                   .note = "not stated",
                   .location = location});
    }
  }
}

void add_unknown(Machine& machine, std::string path, const Dimension& dimension) {
  if (machine.find(path) == nullptr) {
    machine.add({.path = std::move(path), .dimension = dimension});
  }
}

/// Bandwidth and capacity of a packaged memory where the file gives neither.
void complete_memory(Machine& machine, const Tier& tier, const TierDraft& draft,
                     Diagnostics& diagnostics) {
  const std::string bandwidth = tier.name + ".bandwidth";
  const std::string capacity = tier.name + ".capacity";
  const MemoryFigures missing{.bandwidth = machine.find(bandwidth) == nullptr,
                              .capacity = machine.find(capacity) == nullptr};
  if (!missing.bandwidth && !missing.capacity) {
    return;
  }
  const auto generation = memory_generation(tier.technology, draft.technology_location);
  if (generation && machine.find(tier.name + ".stacks") != nullptr) {
    derive_memory(machine, tier, *generation, missing);
    return;
  }
  if (generation) {
    diagnostics.push_back({"missing-key",
                           fmt::format("'{}' needs bandwidth and capacity, or stacks", tier.name),
                           draft.location, "write null for what is not known"});
  } else {
    diagnostics.insert(diagnostics.end(), generation.error().begin(), generation.error().end());
  }
  add_unknown(machine, bandwidth, kBytePerSecond);
  add_unknown(machine, capacity, kByte);
}

/// The field `path`, or a new one of the generation's.
void add_default(Machine& machine, std::string path, const Dimension& dimension,
                 std::optional<double> value, const std::string& generation) {
  const Field* known = machine.find(path);
  if (known != nullptr && (known->value || known->formula)) {
    return;
  }
  machine.add({.path = std::move(path),
               .dimension = dimension,
               .value = value,
               .kind = FigureKind::kAssumed,
               .source = "memories",
               .note = fmt::format("the generation's ({})", generation)});
}

void add_derived(Machine& machine, std::string path, Expr formula) {
  Field field{.path = std::move(path), .dimension = formula.dimension(), .formula = formula};
  field.kind = FigureKind::kDerived;
  field.source = "memories";
  field.definition = "stacks";
  machine.add(std::move(field));
}

void build_tiers(Machine& machine, const Draft& draft, Diagnostics& diagnostics) {
  for (const TierDraft& tier : draft.tiers) {
    if (!tier.scope) {
      diagnostics.push_back({"missing-key", fmt::format("the tier '{}' needs a scope", tier.name),
                             tier.location, "sm, device, node or cluster"});
    }
    machine.tiers.push_back(make_tier(tier));
  }
}

}  // namespace

Field make_field(const Machine& machine, const Figure& figure, FigureKind kind) {
  Field field{.path = figure.path,
              .dimension = figure.dimension,
              .formula = formula_of(machine, figure),
              .kind = kind,
              .source = figure.source,
              .definition = definition_of(figure),
              .note = figure.note,
              .location = figure.location};
  if (field.formula) {
    field.kind = FigureKind::kDerived;
  } else {
    field.value = figure.number;
  }
  return field;
}

Tier make_tier(const TierDraft& draft) {
  Tier tier{.name = draft.name,
            .scope = draft.scope.value_or(TierScope::kDevice),
            .technology = draft.technology.value_or(""),
            .topology = draft.topology.value_or("")};
  const bool beyond = tier.scope == TierScope::kNode || tier.scope == TierScope::kCluster;
  tier.main = !tier.technology.empty() && tier.scope == TierScope::kDevice;
  tier.link = beyond && tier.name != "host";
  tier.reduces = draft.reduces.value_or(false);
  return tier;
}

void derive_memory(Machine& machine, const Tier& tier, const MemoryGeneration& generation,
                   MemoryFigures wanted) {
  if (std::ranges::find(machine.sources, "memories", &Source::id) == machine.sources.end()) {
    machine.sources.push_back(
        {"memories", "hardware/memories.yaml", FigureKind::kAssumed, "2026-11"});
  }
  const auto path = [&](std::string_view leaf) { return fmt::format("{}.{}", tier.name, leaf); };
  const Expr stacks = symbol(machine, path("stacks"), kNumber);
  if (wanted.bandwidth) {
    add_default(machine, path("pin_rate"), kBytePerSecond, generation.pin_rate, generation.name);
    const Expr pin_rate = symbol(machine, path("pin_rate"), kBytePerSecond);
    add_derived(machine, path("bandwidth"), stacks * generation.pins * pin_rate);
  }
  if (wanted.capacity) {
    add_default(machine, path("stack_capacity"), kByte, generation.capacity, generation.name);
    add_derived(machine, path("capacity"), stacks * symbol(machine, path("stack_capacity"), kByte));
  }
}

Machine build_machine(const Draft& draft, Diagnostics& diagnostics) {
  Machine machine;
  machine.name = draft.name;
  machine.title = draft.title.empty() ? draft.name : draft.title;
  machine.vendor = draft.vendor;
  machine.architecture = draft.architecture;
  machine.compute_capability = draft.compute_capability;
  machine.released = draft.released;
  machine.sources = draft.sources;
  machine.notes = draft.notes;
  build_tiers(machine, draft, diagnostics);
  for (const Figure& figure : draft.figures) {
    const Source* source = draft.source(figure.source);
    machine.add(
        make_field(machine, figure, source == nullptr ? FigureKind::kAssumed : source->kind));
  }
  add_unknowns(machine, draft.name_location);
  add_sm_rates(machine);
  for (const TierDraft& tier : draft.tiers) {
    if (tier.technology) {
      complete_memory(machine, *machine.tier(tier.name), tier, diagnostics);
    }
  }
  return machine;
}

}  // namespace mansard::hardware
