#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "hardware/build.hpp"
#include "hardware/catalog.hpp"
#include "hardware/machine.hpp"
#include "support/units.hpp"

namespace mansard::hardware {

/// Changes a machine field by field, says so in `Machine::changes`, and lets what depends on the
/// changed fields follow: memories on their stacks and pin rate, clocks on clock.max.
class Changer {
 public:
  /// `by` names the change in sentences and as a source: "--set", "next.yaml".
  Changer(Machine machine, std::string by, FigureKind kind);

  [[nodiscard]] Machine& machine() { return machine_; }
  [[nodiscard]] Diagnostics& diagnostics() { return diagnostics_; }

  /// Reads `text` ("8 TB/s", "*1.4", "+1 TB/s") for the field at `path`.
  void set(std::string_view path, std::string_view text, const Location& path_location,
           const Location& text_location);
  /// Changes the field at a resolved path.
  void adjust(const std::string& path, const Dimension& dimension, const Adjustment& change,
              const Location& location);
  /// Replaces a field, or adds it.
  void put(Field field);
  /// Puts another technology into a tier; its pin rate and stacks' size are the new generation's
  /// then.
  void retype_memory(const Tier& tier, const Location& location);
  [[nodiscard]] Tier* find_tier(std::string_view name);
  void error(std::string id, std::string message, const Location& location, std::string label = {});

  /// The changed machine, or every error.
  [[nodiscard]] Result<Machine> finish();

 private:
  [[nodiscard]] std::optional<Dimension> dimension_at(std::string_view path,
                                                      const Location& location);
  [[nodiscard]] bool touched_any(const Tier& tier, std::span<const std::string_view> leaves) const;
  [[nodiscard]] bool is_plausible(const Field& field);
  void rederive_memories();
  void rederive(const Tier& tier, MemoryFigures stale);
  void keep_stack_capacity(const Tier& tier);
  void void_measured();
  void settle_clocks();
  void mark(const std::string& path, std::string_view old, std::string_view why);
  void say(std::string_view path, std::string_view old, std::string_view why);

  Machine before_;
  Machine machine_;
  std::string by_;
  FigureKind kind_;
  std::set<std::string, std::less<>> touched_;
  std::map<std::string, Location, std::less<>> memory_locations_;
  Diagnostics diagnostics_;
};

}  // namespace mansard::hardware
