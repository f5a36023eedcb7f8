#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "support/document.hpp"
#include "support/units.hpp"

/// One machine file as read, before what it extends is merged in and formulas are built.
namespace mansard::hardware {

/// What the number of a figure counts.
enum class Basis : std::uint8_t {
  kGiven,     ///< The field itself, in SI base units.
  kFmaPerSm,  ///< Multiply-adds per SM and clock.
  kPerClock,  ///< Bytes per clock (of one SM, if the tier's scope is an SM).
  kClocks,    ///< Clock cycles.
};

/// A number of a file with what is said about it.
struct Figure {
  std::string path;
  Dimension dimension;  ///< Of the field.
  Basis basis = Basis::kGiven;
  std::optional<double> number;      ///< nullopt: null.
  std::optional<Adjustment> change;  ///< Overlays only: "*1.4", "+1 TB/s".
  std::string clock;                 ///< kFmaPerSm: the clock the rate is quoted at.
  std::optional<double> datasheet;   ///< What the rate should come to.
  Location datasheet_location;
  std::string source;
  Location source_location;
  std::string note;
  Location location;
};

/// A tier as far as one file describes it.
struct TierDraft {
  std::string name;
  std::optional<TierScope> scope;
  std::optional<std::string> technology;
  std::optional<std::string> topology;
  std::optional<bool> reduces;
  bool absent = false;  ///< `absent: true`: the parent's tier is not there.
  Location location;
  Location technology_location;
};

struct Draft {
  std::string name, title, extends, vendor, architecture, compute_capability, released;
  Location name_location;
  Location extends_location;
  std::vector<Source> sources;
  std::vector<std::string> notes;
  std::vector<TierDraft> tiers;
  std::vector<Figure> figures;
  std::vector<std::string> removed;  ///< Paths or groups that are null: the parent's are dropped.
  const Node* set = nullptr;         ///< Overlays only; a node of the document that was read.

  [[nodiscard]] const Source* source(std::string_view id) const;
};

/// A machine file must be whole and say where figures are from; an overlay changes some figures.
enum class DraftKind : std::uint8_t { kMachine, kOverlay };

/// Errors go to `diagnostics`; the draft holds what could be read.
[[nodiscard]] Draft read_draft(const Node& document, DraftKind kind, Diagnostics& diagnostics);

/// Puts under `child` everything of `parent` that it does not say itself, but for measured figures,
/// launch times, price, notes and date of release, which belong to one machine. A what-if, whose
/// sources are all assumed, keeps measured figures too, except of tiers that it changes. Rates that
/// rest on processors or clocks of the child are no longer held to the parent's datasheet.
void inherit(Draft& child, Draft parent);

}  // namespace mansard::hardware
