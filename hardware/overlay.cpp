#include <algorithm>

#include <fmt/format.h>

#include "hardware/change.hpp"
#include "hardware/draft.hpp"
#include "hardware/schema.hpp"
#include "support/suggest.hpp"

namespace mansard::hardware {
namespace {

/// Applies one partial document.
class Overlay {
 public:
  Overlay(Machine machine, const Draft& draft, std::string by)
      : changer_(std::move(machine), std::move(by), FigureKind::kAssumed), draft_(&draft) {}

  Result<Machine> apply() {
    rename();
    for (const TierDraft& tier : draft_->tiers) {
      apply_tier(tier);
    }
    for (const std::string& path : draft_->removed) {
      remove(path);
    }
    for (const Figure& figure : draft_->figures) {
      apply_figure(figure);
    }
    apply_set();
    return changer_.finish();
  }

 private:
  void rename() {
    Machine& machine = changer_.machine();
    machine.name = draft_->name.empty() ? machine.name : draft_->name;
    machine.title = draft_->title.empty() ? machine.title : draft_->title;
    machine.notes.insert(machine.notes.end(), draft_->notes.begin(), draft_->notes.end());
    machine.sources.insert(machine.sources.end(), draft_->sources.begin(), draft_->sources.end());
  }

  void apply_tier(const TierDraft& draft) {
    const Tier* known = changer_.machine().tier(draft.name);
    if (draft.absent && known != nullptr && !known->main) {
      remove(known->name);
      std::erase_if(changer_.machine().tiers,
                    [&](const Tier& tier) { return tier.name == draft.name; });
    } else if (known != nullptr) {
      change_tier(draft, *known);
    } else {
      add_tier(draft);
    }
  }

  void change_tier(const TierDraft& draft, const Tier& known) {
    TierDraft whole = draft;
    whole.name = known.name;
    whole.scope = draft.scope.value_or(known.scope);
    whole.technology = draft.technology.value_or(known.technology);
    whole.topology = draft.topology.value_or(known.topology);
    whole.reduces = draft.reduces.value_or(known.reduces);
    const Tier tier = make_tier(whole);
    if (tier.technology != known.technology) {
      changer_.retype_memory(tier, draft.technology_location);
    } else {
      *changer_.find_tier(known.name) = tier;
    }
  }

  void add_tier(const TierDraft& draft) {
    std::vector<std::string> names;
    for (const Tier& tier : changer_.machine().tiers) {
      names.push_back(tier.name);
    }
    const auto meant = did_you_mean(draft.name, names);
    const bool second_main = draft.technology && draft.scope == TierScope::kDevice;
    if (!draft.scope || second_main) {
      changer_.error(
          "unknown-tier",
          fmt::format("machine '{}' has no tier '{}'", changer_.machine().name, draft.name),
          draft.location,
          meant ? fmt::format("did you mean '{}'?", *meant)
                : "a new tier needs a scope, and no second device memory");
      return;
    }
    auto& tiers = changer_.machine().tiers;
    const auto outer =
        std::ranges::find_if(tiers, [&](const Tier& tier) { return tier.scope > *draft.scope; });
    tiers.insert(outer, make_tier(draft));
  }

  void remove(const std::string& path) {
    changer_.machine().remove(path);
    changer_.machine().changes.push_back(fmt::format("{} removed", path));
  }

  void apply_figure(Figure figure) {
    Machine& machine = changer_.machine();
    figure.path = machine.resolve(figure.path);
    if (figure.change) {
      changer_.adjust(figure.path, figure.dimension, *figure.change, figure.location);
      return;
    }
    if (figure.basis == Basis::kFmaPerSm && figure.clock.empty()) {
      figure.clock = quoted_clock(figure.path);
    }
    const Source* source = draft_->source(figure.source);
    if (source == nullptr) {
      figure.source.clear();
    }
    changer_.put(
        make_field(machine, figure, source == nullptr ? FigureKind::kAssumed : source->kind));
  }

  /// The clock of a rate whose overlay names none: that of the formula it replaces.
  std::string quoted_clock(std::string_view path) {
    const Field* field = changer_.machine().find(path);
    if (field != nullptr && field->formula) {
      for (const ir::Expr symbol : ir::symbols_of(field->formula)) {
        if (is_under(symbol->symbol, "clock")) {
          return std::string(leaf_of(symbol->symbol));
        }
      }
    }
    return "max";
  }

  void apply_set() {
    for (std::size_t i = 0; draft_->set != nullptr && i < draft_->set->entries.size(); ++i) {
      const Node::Entry& entry = draft_->set->entries[i];
      if (entry.value.is_scalar()) {
        changer_.set(entry.key, entry.value.scalar, entry.key_location, entry.value.location);
      } else {
        changer_.error("wrong-type", fmt::format("expected a value for {}", entry.key),
                       entry.key_location);
      }
    }
  }

  Changer changer_;
  const Draft* draft_;
};

}  // namespace

Result<Machine> apply_overlay(Machine machine, const Node& document) {
  Diagnostics diagnostics;
  const Draft draft = read_draft(document, DraftKind::kOverlay, diagnostics);
  if (!diagnostics.empty()) {
    return failure(std::move(diagnostics));
  }
  const auto& file = document.location.file;
  return Overlay(std::move(machine), draft, file ? file->name : "overlay").apply();
}

}  // namespace mansard::hardware
