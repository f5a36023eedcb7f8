#include <algorithm>

#include <fmt/format.h>

#include "hardware/draft.hpp"
#include "hardware/read_figure.hpp"
#include "hardware/schema.hpp"
#include "support/suggest.hpp"

namespace mansard::hardware {
namespace {

constexpr std::int64_t kSchema = 1;

Location start_of(const Node& node) {
  Location location = node.location;
  location.end = std::min(location.end, location.begin + 1);
  return location;
}

std::string hint(std::string_view word, std::span<const std::string> candidates) {
  const auto meant = did_you_mean(word, candidates);
  return meant ? fmt::format("did you mean '{}'?", *meant) : "";
}

bool is_word(std::string_view name) {
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos;
}

/// Names at the top of a machine file, and of fields without a group.
bool names_group(std::string_view name) {
  return name == "price" || name == "instruction" ||
         std::ranges::count(figure_groups(), name, &FigureGroup::name) > 0 ||
         std::ranges::count(lone_figures(), name, &FigureKey::name) > 0 ||
         std::ranges::count(rate_engines(), name) > 0;
}

/// Fills a draft from one document.
class DraftReader {
 public:
  DraftReader(const Node& document, DraftKind kind, Diagnostics& diagnostics)
      : top_(document, diagnostics), kind_(kind) {}

  Draft read() {
    read_identity();
    read_sources();
    read_notes();
    read_lone_figures();
    for (const std::string_view engine : rate_engines()) {
      read_rates(engine);
    }
    for (const FigureGroup& group : figure_groups()) {
      read_group(group);
    }
    read_price();
    read_tiers();
    if (kind_ == DraftKind::kOverlay) {
      draft_.set = top_.mapping("set");
    }
    top_.finish();
    return std::move(draft_);
  }

 private:
  void read_identity() {
    const bool whole = kind_ == DraftKind::kMachine;
    const std::int64_t schema =
        whole ? top_.required_integer("schema") : top_.integer("schema").value_or(kSchema);
    if (schema != kSchema && top_.has("schema") && top_.find("schema")->as_integer()) {
      top_.error("unknown-schema", fmt::format("expected schema {}, found {}", kSchema, schema),
                 top_.find("schema")->location);
    }
    draft_.name = whole ? top_.required_string("name") : top_.string("name").value_or("");
    draft_.title = top_.string("title").value_or("");
    draft_.extends = whole ? top_.string("extends").value_or("") : "";
    draft_.vendor = top_.string("vendor").value_or("");
    draft_.architecture = top_.string("architecture").value_or("");
    draft_.compute_capability = top_.string("compute_capability").value_or("");
    draft_.released = top_.string("released").value_or("");
    if (const Node* name = top_.find("name")) {
      draft_.name_location = name->location;
    }
    if (const Node* extends = whole ? top_.find("extends") : nullptr) {
      draft_.extends_location = extends->location;
    }
  }

  void read_sources() {
    const Node* sources = top_.mapping("sources");
    for (std::size_t i = 0; sources != nullptr && i < sources->entries.size(); ++i) {
      const Node::Entry& entry = sources->entries[i];
      Reader reader(entry.value, top_.diagnostics());
      Source source{.id = entry.key, .title = reader.required_string("title")};
      read_kind(reader, source);
      source.date = reader.string("date").value_or("");
      reader.finish();
      draft_.sources.push_back(std::move(source));
    }
  }

  static void read_kind(Reader& reader, Source& source) {
    const std::string text = reader.required_string("kind");
    for (const FigureKind kind : {FigureKind::kDatasheet, FigureKind::kMeasured,
                                  FigureKind::kDerived, FigureKind::kAssumed}) {
      if (name_of(kind) == text) {
        source.kind = kind;
        return;
      }
    }
    if (!text.empty()) {
      reader.error(
          "unknown-kind",
          fmt::format("expected datasheet, measured, derived or assumed, found '{}'", text),
          reader.find("kind")->location);
    }
  }

  void read_notes() {
    const Node* notes = top_.sequence("notes");
    for (std::size_t i = 0; notes != nullptr && i < notes->items.size(); ++i) {
      const Node& note = notes->items[i];
      if (note.is_scalar()) {
        draft_.notes.push_back(note.scalar);
      } else {
        top_.error("wrong-type", "expected a note: text", start_of(note),
                   "quote a text that holds ': '");
      }
    }
  }

  /// The value at a key if it is there; a null one removes what a parent says.
  const Node* present(std::string_view key) {
    const Node* node = top_.find(key);
    if (node != nullptr && node->is_null()) {
      draft_.removed.emplace_back(key);
      return nullptr;
    }
    return node;
  }

  void read_lone_figures() {
    for (const FigureKey& key : lone_figures()) {
      if (const Node* node = top_.find(key.name)) {
        draft_.figures.push_back(read_figure(std::string(key.name), key.dimension, *node,
                                             {.kind = kind_}, top_.diagnostics()));
      }
    }
  }

  void read_rates(std::string_view engine) {
    const Node* node = present(engine) != nullptr ? top_.mapping(engine) : nullptr;
    for (std::size_t i = 0; node != nullptr && i < node->entries.size(); ++i) {
      const Node::Entry& entry = node->entries[i];
      std::string path = fmt::format("{}.{}", engine, entry.key);
      if (!is_rate_dtype(entry.key)) {
        top_.error("unknown-dtype", fmt::format("'{}' is no dtype with a rate", entry.key),
                   entry.key_location, hint(entry.key, rate_dtypes()));
      } else if (entry.value.is_null()) {
        draft_.removed.push_back(std::move(path));
      } else {
        draft_.figures.push_back(
            read_rate(std::move(path), entry.value, kind_, top_.diagnostics()));
      }
    }
  }

  void read_group(const FigureGroup& group) {
    const Node* node = present(group.name) != nullptr ? top_.mapping(group.name) : nullptr;
    if (node == nullptr) {
      return;
    }
    Reader reader(*node, top_.diagnostics());
    read_figures(reader, group.name, group.keys);
    reader.finish();
  }

  /// Figures of a group, which may name one source for all.
  void read_figures(Reader& reader, std::string_view prefix, std::span<const FigureKey> keys) {
    FigureContext context{.kind = kind_,
                          .source = reader.string("source").value_or(""),
                          .note = reader.string("note").value_or("")};
    if (const Node* source = reader.find("source")) {
      context.source_location = source->location;
    }
    for (const FigureKey& key : keys) {
      if (const Node* node = reader.find(key.name)) {
        draft_.figures.push_back(read_figure(fmt::format("{}.{}", prefix, key.name), key.dimension,
                                             *node, context, reader.diagnostics()));
      }
    }
  }

  void read_price() {
    if (const Node* node = present("price")) {
      draft_.figures.push_back(
          read_figure("price", kUsdPerSecond, *node, {.kind = kind_}, top_.diagnostics()));
    }
  }

  void read_tiers() {
    const Node* tiers = top_.sequence("tiers");
    for (std::size_t i = 0; tiers != nullptr && i < tiers->items.size(); ++i) {
      read_tier(tiers->items[i]);
    }
  }

  void read_tier(const Node& node) {
    Reader reader(node, top_.diagnostics());
    TierDraft tier{.name = reader.required_string("name"), .location = start_of(node)};
    if (const Node* name = reader.find("name")) {
      tier.location = name->location;
    }
    if (tier.name.empty() || is_reserved(tier)) {
      return;
    }
    read_scope(reader, tier);
    tier.technology = reader.string("memory");
    if (tier.technology) {
      tier.technology_location = reader.find("memory")->location;
    }
    tier.topology = reader.string("topology");
    tier.reduces = reader.boolean("reduces");
    tier.absent = reader.boolean("absent").value_or(false);
    read_direction(reader);
    read_figures(reader, tier.name, tier_figures());
    reader.finish();
    draft_.tiers.push_back(std::move(tier));
  }

  /// A tier's name begins paths, so it must be a word and not a group's name.
  bool is_reserved(const TierDraft& tier) {
    const bool again = std::ranges::count(draft_.tiers, tier.name, &TierDraft::name) > 0;
    const bool main = tier.name == "main" && kind_ == DraftKind::kMachine;
    const bool reserved = main || !is_word(tier.name) || names_group(tier.name);
    if (reserved || again) {
      top_.error("tier-name",
                 again ? fmt::format("a second tier is named '{}'", tier.name)
                       : fmt::format("'{}' cannot be a tier's name", tier.name),
                 tier.location);
    }
    return reserved || again;
  }

  static void read_scope(Reader& reader, TierDraft& tier) {
    const auto text = reader.string("scope");
    if (!text) {
      return;
    }
    tier.scope = scope_of(*text);
    if (!tier.scope) {
      reader.error("unknown-scope",
                   fmt::format("expected sm, device, node or cluster, found '{}'", *text),
                   reader.find("scope")->location);
    }
  }

  /// Bandwidths of links are those of each direction; the key only says so.
  static void read_direction(Reader& reader) {
    const auto text = reader.string("direction");
    if (text && *text != "each") {
      reader.error("unknown-direction", fmt::format("expected each, found '{}'", *text),
                   reader.find("direction")->location, "give the bandwidth of one direction");
    }
  }

  Reader top_;
  DraftKind kind_;
  Draft draft_;
};

}  // namespace

const Source* Draft::source(std::string_view id) const {
  const auto found = std::ranges::find(sources, id, &Source::id);
  return found == sources.end() ? nullptr : &*found;
}

Draft read_draft(const Node& document, DraftKind kind, Diagnostics& diagnostics) {
  return DraftReader(document, kind, diagnostics).read();
}

}  // namespace mansard::hardware
