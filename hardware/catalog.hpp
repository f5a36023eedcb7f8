#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hardware/machine.hpp"
#include "support/document.hpp"
#include "support/result.hpp"

/// Where machines come from: files embedded in the program (or those of the folder `MANSARD_DATA`
/// names), a user's own file, and changes to either.
namespace mansard::hardware {

/// A change from the command line: `--set hbm.bandwidth=8 TB/s`.
struct Setting {
  std::string path;
  std::string text;
};

/// Names of all machines of the catalog, sorted.
[[nodiscard]] std::vector<std::string> machine_names();

/// A machine by its name in the catalog, or by the path of a YAML file (anything with a '/' or
/// ending in .yaml). `overlays` are paths of YAML files applied in order, then `settings` in order.
/// Derived figures follow what they derive from.
[[nodiscard]] Result<Machine> load_machine(const std::string& name_or_path,
                                           const std::vector<std::string>& overlays = {},
                                           const std::vector<Setting>& settings = {});

/// A machine from a parsed document (extends resolved from the catalog).
[[nodiscard]] Result<Machine> read_machine(const Node& document);

/// A machine changed by a partial document with the keys of a machine file, whose values may also
/// be changes ("*1.4"), and `set: {path: value}`.
[[nodiscard]] Result<Machine> apply_overlay(Machine machine, const Node& document);
/// A machine changed at one path: "8 TB/s" replaces (a formula too), "*1.4" and "+1 TB/s" change.
[[nodiscard]] Result<Machine> apply_setting(Machine machine, const Setting& setting);

/// The machine as text in the form of a machine file: every field with value, unit, kind, source.
[[nodiscard]] std::string print_machine(const Machine& machine);

/// Text of an embedded data file ("hardware/calibrations/h200-sxm.yaml"), or of the same path under
/// `MANSARD_DATA`; nullptr if there is none.
[[nodiscard]] std::shared_ptr<const SourceFile> data_file(std::string_view path);
/// Paths of data files under a folder ("hardware/machines/"), sorted.
[[nodiscard]] std::vector<std::string> data_files(std::string_view folder);

}  // namespace mansard::hardware
