#include <algorithm>

#include <fmt/format.h>

#include "hardware/draft.hpp"
#include "hardware/schema.hpp"

namespace mansard::hardware {
namespace {

bool same(const Source& a, const Source& b) {
  return a.title == b.title && a.kind == b.kind && a.date == b.date;
}

/// Where the child gives a source's id another meaning, the parent's source is told apart by the
/// parent's name, so that an inherited figure still names the document it was taken from.
void rename_sources(const Draft& child, Draft& parent) {
  for (Source& source : parent.sources) {
    const Source* taken = child.source(source.id);
    if (taken == nullptr || same(*taken, source)) {
      continue;
    }
    const std::string renamed = fmt::format("{}/{}", parent.name, source.id);
    for (Figure& figure : parent.figures) {
      if (figure.source == source.id) {
        figure.source = renamed;
      }
    }
    source.id = renamed;
  }
}

bool is_own(std::string_view path) {
  return path == "price" || is_under(path, "launch");
}

bool is_removed(const Draft& child, std::string_view path) {
  const auto above = [&](const std::string& removed) { return is_under(path, removed); };
  const auto absent = [&](const TierDraft& tier) {
    return tier.absent && is_under(path, tier.name);
  };
  return is_own(path) || std::ranges::any_of(child.removed, above) ||
         std::ranges::any_of(child.tiers, absent);
}

const Figure* figure_of(const Draft& draft, std::string_view path) {
  const auto found = std::ranges::find(draft.figures, path, &Figure::path);
  return found == draft.figures.end() ? nullptr : &*found;
}

/// Whether the child gives the figure another number than the parent.
bool differs(const Draft& child, const Draft& parent, std::string_view path) {
  const Figure* own = figure_of(child, path);
  const Figure* old = figure_of(parent, path);
  return own != nullptr && (old == nullptr || own->number != old->number);
}

const TierDraft* tier_of(const Draft& draft, std::string_view name) {
  const auto found = std::ranges::find(draft.tiers, name, &TierDraft::name);
  return found == draft.tiers.end() ? nullptr : &*found;
}

/// Figures of a memory that do not outlive another generation, more stacks or another pin rate:
/// they are derived again (memories.yaml).
bool is_stale(const Draft& child, const Draft& parent, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  const TierDraft* own = tier_of(child, name);
  const TierDraft* old = tier_of(parent, name);
  if (dot == std::string_view::npos || own == nullptr || old == nullptr) {
    return false;
  }
  const bool retyped = own->technology && own->technology != old->technology;
  const bool stacks = retyped || differs(child, parent, fmt::format("{}.stacks", name));
  const bool rate = stacks || differs(child, parent, fmt::format("{}.pin_rate", name));
  const std::string_view leaf = path.substr(dot + 1);
  return (retyped && (leaf == "pin_rate" || leaf == "stack_capacity")) ||
         (stacks && (leaf == "capacity" || leaf == "usable")) || (rate && leaf == "bandwidth");
}

/// A chip that someone imagines: all that its file says is assumed.
bool is_what_if(const Draft& draft) {
  return !draft.sources.empty() && std::ranges::all_of(draft.sources, [](const Source& source) {
    return source.kind == FigureKind::kAssumed;
  });
}

/// A measurement says nothing about another machine; a what-if keeps that of what it leaves alone.
bool keeps_measured(const Draft& child, std::string_view path) {
  const auto holds = [&](const TierDraft& tier) { return is_under(path, tier.name); };
  return is_what_if(child) && std::ranges::none_of(child.tiers, holds);
}

/// What a parent's figure is to the child. The datasheet printed the rate of the parent's own clock
/// and processors.
Figure inherited(Figure figure, const Draft& parent, const Draft& child) {
  const Source* source = parent.source(figure.source);
  if (figure.number && source != nullptr && source->kind == FigureKind::kMeasured &&
      !keeps_measured(child, figure.path)) {
    figure.number.reset();
    figure.basis = Basis::kGiven;
    figure.note = fmt::format("measured on {} only", parent.name);
  }
  if (differs(child, parent, "sm_count") ||
      differs(child, parent, fmt::format("clock.{}", figure.clock))) {
    figure.datasheet.reset();
  }
  return figure;
}

void merge_figures(Draft& child, const Draft& parent) {
  std::vector<Figure> merged;
  for (const Figure& figure : parent.figures) {
    if (const Figure* own = figure_of(child, figure.path)) {
      merged.push_back(*own);
    } else if (!is_removed(child, figure.path) && !is_stale(child, parent, figure.path)) {
      merged.push_back(inherited(figure, parent, child));
    }
  }
  for (Figure& figure : child.figures) {
    if (figure_of(parent, figure.path) == nullptr) {
      merged.push_back(std::move(figure));
    }
  }
  child.figures = std::move(merged);
}

TierDraft merge_tier(TierDraft child, const TierDraft& parent) {
  child.scope = child.scope ? child.scope : parent.scope;
  if (!child.technology) {
    child.technology = parent.technology;
    child.technology_location = parent.technology_location;
  }
  child.topology = child.topology ? child.topology : parent.topology;
  child.reduces = child.reduces ? child.reduces : parent.reduces;
  return child;
}

/// The parent's order; a tier of the child alone follows the one it follows in the child's file.
void merge_tiers(Draft& child, const Draft& parent) {
  std::vector<TierDraft> merged = parent.tiers;
  std::size_t next = merged.size();
  for (TierDraft& tier : child.tiers) {
    const auto known = std::ranges::find(merged, tier.name, &TierDraft::name);
    if (known != merged.end()) {
      next = static_cast<std::size_t>(known - merged.begin()) + 1;
      *known = merge_tier(std::move(tier), *known);
    } else {
      merged.insert(merged.begin() + static_cast<std::ptrdiff_t>(next), std::move(tier));
      ++next;
    }
  }
  std::erase_if(merged, [](const TierDraft& tier) { return tier.absent; });
  child.tiers = std::move(merged);
}

bool is_used(const Draft& draft, std::string_view source) {
  return std::ranges::find(draft.figures, source, &Figure::source) != draft.figures.end();
}

void take(std::string& own, const std::string& parents) {
  if (own.empty()) {
    own = parents;
  }
}

}  // namespace

void inherit(Draft& child, Draft parent) {
  rename_sources(child, parent);
  take(child.vendor, parent.vendor);
  take(child.architecture, parent.architecture);
  take(child.compute_capability, parent.compute_capability);
  merge_figures(child, parent);
  merge_tiers(child, parent);
  for (Source& source : parent.sources) {
    if (child.source(source.id) == nullptr && is_used(child, source.id)) {
      child.sources.push_back(std::move(source));
    }
  }
}

}  // namespace mansard::hardware
