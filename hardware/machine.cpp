#include "hardware/machine.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "hardware/schema.hpp"
#include "support/suggest.hpp"

namespace mansard::hardware {
namespace {

/// The label behind the name of a field that is not there: what was probably meant.
std::string suggestion(const Machine& machine, std::string_view path) {
  const auto meant = did_you_mean(path, known_paths(machine));
  return meant ? fmt::format("did you mean '{}'?", *meant) : "";
}

auto no_such_field(const Machine& machine, std::string_view path) {
  return failure("unknown-field", fmt::format("machine '{}' has no field '{}'", machine.name, path),
                 {}, suggestion(machine, path));
}

auto unknown_value(const Machine& machine, const Field& field) {
  return failure("unknown-value",
                 fmt::format("{} of machine '{}' is unknown (null)", field.path, machine.name),
                 field.location,
                 field.note.empty() ? "give it with --set or an overlay" : field.note);
}

constexpr std::string_view kMainPrefix = "main.";

bool is_clock(std::string_view symbol) {
  return symbol.starts_with("clock.");
}

/// Copies formulas into a pool, following symbols until they have values.
class Expander {
 public:
  Expander(const Machine& machine, ir::ExprPool& pool, bool at_peak)
      : machine_(&machine), pool_(&pool), at_peak_(at_peak) {}

  Result<ir::Expr> expand(const Field& field) {
    if (!field.formula) {
      if (!field.value) {
        return unknown_value(*machine_, field);
      }
      return pool_->symbol(field.path, field.dimension);
    }
    Diagnostics failures;
    const ir::Expr result =
        ir::substitute(field.formula, *pool_, [&](const ir::ExprNode& node) -> ir::Expr {
          auto part = expand_symbol(node.symbol);
          if (!part) {
            failures.insert(failures.end(), part.error().begin(), part.error().end());
            return pool_->symbol(node.symbol, node.dimension);
          }
          return *part;
        });
    if (!failures.empty()) {
      return failure(std::move(failures));
    }
    return result;
  }

 private:
  Result<ir::Expr> expand_symbol(std::string_view symbol) {
    const Field* field = machine_->find(at_peak_ && is_clock(symbol) ? "clock.max" : symbol);
    if (field == nullptr) {
      return no_such_field(*machine_, symbol);
    }
    return expand(*field);
  }

  const Machine* machine_;
  ir::ExprPool* pool_;
  bool at_peak_;
};

}  // namespace

std::string_view name_of(FigureKind kind) {
  switch (kind) {
    case FigureKind::kDatasheet:
      return "datasheet";
    case FigureKind::kMeasured:
      return "measured";
    case FigureKind::kDerived:
      return "derived";
    case FigureKind::kAssumed:
      return "assumed";
  }
  return "";
}

Machine::Machine() : pool_(std::make_shared<ir::ExprPool>()) {}

std::string Machine::resolve(std::string_view path) const {
  const auto is_main = [](const Tier& tier) { return tier.main; };
  if (!path.starts_with(kMainPrefix) || std::ranges::none_of(tiers, is_main)) {
    return std::string(path);
  }
  return fmt::format("{}.{}", main().name, path.substr(kMainPrefix.size()));
}

const Field* Machine::find(std::string_view path) const {
  const auto found =
      by_path_.find(path.starts_with(kMainPrefix) ? resolve(path) : std::string(path));
  return found == by_path_.end() ? nullptr : &fields_[found->second];
}

Field* Machine::find(std::string_view path) {
  const Machine& self = *this;
  return const_cast<Field*>(self.find(path));
}

void Machine::add(Field field) {
  const auto [found, inserted] = by_path_.emplace(field.path, fields_.size());
  if (inserted) {
    fields_.push_back(std::move(field));
  } else {
    fields_[found->second] = std::move(field);
  }
}

void Machine::remove(std::string_view prefix) {
  std::erase_if(fields_, [&](const Field& field) { return is_under(field.path, prefix); });
  by_path_.clear();
  for (const Field& field : fields_) {
    by_path_.emplace(field.path, by_path_.size());
  }
}

Result<double> Machine::value(std::string_view path) const {
  const Field* field = find(path);
  if (field == nullptr) {
    return no_such_field(*this, path);
  }
  if (!field->formula && field->value) {
    return *field->value;
  }
  ir::ExprPool scratch;
  auto expression = Expander(*this, scratch, false).expand(*field);
  if (!expression) {
    return failure(std::move(expression.error()));
  }
  ir::Bindings bindings;
  for (const ir::Expr symbol : ir::symbols_of(*expression)) {
    bindings.set(symbol->symbol, find(symbol->symbol)->value.value_or(0));
  }
  return ir::value(*expression, bindings);
}

std::optional<double> Machine::known(std::string_view path) const {
  auto result = value(path);
  return result ? std::optional(*result) : std::nullopt;
}

Result<ir::Expr> Machine::expr(std::string_view path, ir::ExprPool& pool) const {
  const Field* field = find(path);
  if (field == nullptr) {
    return no_such_field(*this, path);
  }
  return Expander(*this, pool, false).expand(*field);
}

Result<ir::Expr> Machine::peak(std::string_view path, ir::ExprPool& pool) const {
  const Field* field = find(path);
  if (field == nullptr) {
    return no_such_field(*this, path);
  }
  return Expander(*this, pool, true).expand(*field);
}

ir::Bindings Machine::bindings() const {
  ir::Bindings bindings;
  for (const Field& field : fields_) {
    if (field.value && !field.formula) {
      bindings.set(field.path, *field.value);
    }
  }
  return bindings;
}

const Tier* Machine::tier(std::string_view name) const {
  if (name == "main") {
    return &main();
  }
  const auto found = std::ranges::find(tiers, name, &Tier::name);
  return found == tiers.end() ? nullptr : &*found;
}

const Tier& Machine::main() const {
  const auto found = std::ranges::find_if(tiers, [](const Tier& tier) { return tier.main; });
  assert(found != tiers.end());
  return *found;
}

const Tier* Machine::last_level() const {
  const Tier* last = nullptr;
  for (const Tier& tier : tiers) {
    last = tier.scope == TierScope::kDevice && !tier.main ? &tier : last;
  }
  return last;
}

std::vector<std::string> Machine::rates(std::string_view engine) const {
  std::vector<std::string> dtypes;
  const std::string prefix = fmt::format("{}.", engine);
  for (const Field& field : fields_) {
    if (field.path.starts_with(prefix) && (field.value || field.formula)) {
      dtypes.push_back(field.path.substr(prefix.size()));
    }
  }
  return dtypes;
}

bool Machine::changed(std::string_view prefix) const {
  const std::string name = prefix == "main" ? main().name : std::string(prefix);
  return std::ranges::any_of(
      fields_, [&](const Field& field) { return field.changed && is_under(field.path, name); });
}

}  // namespace mansard::hardware
