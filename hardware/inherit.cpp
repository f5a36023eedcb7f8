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

/// What is left of a parent's figure: a measurement says nothing about another machine.
Figure inherited(Figure figure, const Draft& parent) {
  const Source* source = parent.source(figure.source);
  if (figure.number && source != nullptr && source->kind == FigureKind::kMeasured) {
    figure.number.reset();
    figure.basis = Basis::kGiven;
    figure.note = fmt::format("measured on {} only", parent.name);
  }
  return figure;
}

void merge_figures(Draft& child, const Draft& parent) {
  std::vector<Figure> own = std::move(child.figures);
  child.figures.clear();
  for (const Figure& figure : parent.figures) {
    const auto replaced = std::ranges::find(own, figure.path, &Figure::path);
    if (replaced != own.end()) {
      child.figures.push_back(std::move(*replaced));
      own.erase(replaced);
    } else if (!is_removed(child, figure.path)) {
      child.figures.push_back(inherited(figure, parent));
    }
  }
  std::ranges::move(own, std::back_inserter(child.figures));
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
