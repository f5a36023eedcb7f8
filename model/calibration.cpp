#include "model/calibration.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "hardware/catalog.hpp"
#include "support/units.hpp"

namespace mansard::model {
namespace {

constexpr std::string_view kFolder = "hardware/calibrations/";

std::shared_ptr<const SourceFile> calibration_file(std::string_view machine) {
  return hardware::data_file(fmt::format("{}{}.yaml", kFolder, machine));
}

/// Reads `path: "2.1 us"` entries. A parameter's dimension is that of its unit.
void read_parameters(const Node& mapping, std::map<std::string, Parameter, std::less<>>& out,
                     Diagnostics& diagnostics) {
  for (const Node::Entry& entry : mapping.entries) {
    auto measure = parse_measure(entry.value.scalar, entry.value.location);
    if (!measure) {
      diagnostics.insert(diagnostics.end(), measure.error().begin(), measure.error().end());
      continue;
    }
    out[entry.key] = Parameter{measure->value, measure->dimension, entry.key};
  }
}

/// Where a parameter may stand, the most special first.
std::vector<std::string> paths_of(std::string_view section, std::string_view variant,
                                  std::string_view parameter) {
  std::vector<std::string> paths;
  while (!variant.empty()) {
    paths.push_back(fmt::format("{}.{}.{}", section, variant, parameter));
    const std::size_t dot = variant.rfind('.');
    variant = dot == std::string_view::npos ? std::string_view() : variant.substr(0, dot);
  }
  paths.push_back(fmt::format("{}.{}", section, parameter));
  return paths;
}

/// The first of these paths that has a value.
template <typename Map>
std::optional<Parameter> first_of(const Map& parameters, std::span<const std::string> paths) {
  for (const std::string& path : paths) {
    if (const auto found = parameters.find(path); found != parameters.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

/// "9.0" and "90" as 90; 0 if it is neither.
int capability_of(std::string_view text) {
  int result = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      result = result * 10 + (c - '0');
    } else if (c != '.') {
      return 0;
    }
  }
  return result;
}

}  // namespace

/// `rows` is a text of 16-digit hashes, of the section itself or of an implementation's part.
Diagnostics Calibration::add_fitted_rows(const Node& fit) {
  constexpr std::size_t kDigits = 16;
  Diagnostics diagnostics;
  for (const Node::Entry& entry : fit.entries) {
    if (entry.key != "rows") {
      const Diagnostics nested = add_fitted_rows(entry.value);
      diagnostics.insert(diagnostics.end(), nested.begin(), nested.end());
      continue;
    }
    const std::string& text = entry.value.scalar;
    for (std::size_t at = 0; at < text.size(); at += kDigits + 1) {
      const std::string_view digits = std::string_view(text).substr(at, kDigits);
      std::uint64_t hash = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), hash, 16);
      if (digits.size() != kDigits || end != digits.data() + kDigits) {
        diagnostics.push_back(
            {"row-hash",
             fmt::format("expected {} hexadecimal digits, found '{}'", kDigits, digits),
             entry.value.location,
             {},
             Severity::kError});
        return diagnostics;
      }
      fitted_rows_.insert(hash);
    }
  }
  return diagnostics;
}

Result<void> Calibration::add_recorded_rows() {
  const auto file = calibration_file("rows/" + name);
  if (name.empty() || !file) {
    return {};
  }
  auto document = parse_yaml(file);
  if (!document) {
    return failure(std::move(document.error()));
  }
  if (Diagnostics diagnostics = add_fitted_rows(*document); !diagnostics.empty()) {
    return failure(std::move(diagnostics));
  }
  return {};
}

Diagnostics Calibration::add(const Node& document) {
  Diagnostics diagnostics;
  Reader reader(document, diagnostics);
  reader.ignore("schema");
  reader.ignore("source");
  reader.ignore("note");
  if (const Node* fit = reader.mapping("fit")) {
    const Diagnostics malformed = add_fitted_rows(*fit);
    diagnostics.insert(diagnostics.end(), malformed.begin(), malformed.end());
  }
  if (const auto machine = reader.string("machine")) {
    name = *machine;
  }
  if (const Node* usual = reader.mapping("usual")) {
    for (const Node::Entry& entry : usual->entries) {
      usual_[entry.key] = entry.value.scalar;
    }
  }
  if (const Node* parameters = reader.mapping("parameters")) {
    read_parameters(*parameters, by_implementation_[""], diagnostics);
  }
  if (const Node* families = reader.mapping("families")) {
    for (const Node::Entry& entry : families->entries) {
      read_parameters(entry.value, families_[entry.key], diagnostics);
    }
  }
  if (const Node* implementations = reader.mapping("implementations")) {
    for (const Node::Entry& entry : implementations->entries) {
      read_parameters(entry.value, by_implementation_[entry.key], diagnostics);
    }
  }
  reader.finish();
  return diagnostics;
}

Result<Calibration> Calibration::defaults() {
  const auto file = calibration_file("default");
  if (!file) {
    return failure("no-defaults", "hardware/calibrations/default.yaml is missing");
  }
  auto document = parse_yaml(file);
  if (!document) {
    return failure(std::move(document.error()));
  }
  Calibration result;
  if (Diagnostics diagnostics = result.add(*document); !diagnostics.empty()) {
    return failure(std::move(diagnostics));
  }
  result.defaults_ = std::move(result.by_implementation_[""]);
  result.by_implementation_.clear();
  result.name.clear();
  return result;
}

Result<Calibration> Calibration::read(const Node& document) {
  auto result = defaults();
  if (!result) {
    return result;
  }
  if (Diagnostics diagnostics = result->add(document); !diagnostics.empty()) {
    return failure(std::move(diagnostics));
  }
  return result;
}

Result<Calibration> Calibration::of(const hardware::Machine& machine) {
  std::vector<std::string> names{machine.name};
  names.insert(names.end(), machine.ancestors.begin(), machine.ancestors.end());
  for (const std::string& candidate : names) {
    const auto file = calibration_file(candidate);
    if (!file) {
      continue;
    }
    auto document = parse_yaml(file);
    if (!document) {
      return failure(std::move(document.error()));
    }
    auto result = read(*document);
    if (result) {
      result->set_family(machine);
      result->void_changed_tiers(machine);
    }
    if (result && candidate != machine.name) {
      result->notes.push_back(
          fmt::format("{} has no calibration of its own; utilisations are those fitted on {}",
                      machine.name, candidate));
      if (auto read = result->void_other_tiers(machine, candidate); !read) {
        return failure(std::move(read.error()));
      }
    }
    return result;
  }
  auto result = defaults();
  if (result) {
    result->set_family(machine);
    result->notes.push_back(fmt::format(
        "{} has no calibration: utilisations are structural defaults and intervals are wide",
        machine.name));
  }
  return result;
}

std::vector<std::string> Calibration::implementations() const {
  std::vector<std::string> result;
  for (const auto& [implementation, parameters] : by_implementation_) {
    if (!implementation.empty()) {
      result.push_back(implementation);
    }
  }
  return result;
}

namespace {

/// Who usually does what the paths of a parameter are about: `usual` may name a variant of a
/// section ("grouped_matmul.bf16"), which comes before the section, since a library need not have
/// kernels of every format.
std::string_view usual_for(const std::map<std::string, std::string, std::less<>>& usual,
                           std::string_view section, std::span<const std::string> paths) {
  for (const std::string& path : paths) {  // from special to general
    const auto found = usual.find(std::string_view(path).substr(0, path.rfind('.')));
    if (found != usual.end()) {
      return found->second;
    }
  }
  const auto found = usual.find(section);
  return found == usual.end() ? std::string_view() : found->second;
}

}  // namespace

std::optional<Parameter> Calibration::find_fitted(std::string_view implementation,
                                                  std::string_view section,
                                                  std::span<const std::string> paths) const {
  const std::string_view usually = usual_for(usual_, section, paths);
  const std::string_view first = implementation.empty() ? usually : implementation;
  for (const std::string_view name : {first, usually, std::string_view()}) {
    if (const auto found = by_implementation_.find(name); found != by_implementation_.end()) {
      if (auto result = first_of(found->second, paths)) {
        return result;
      }
    }
  }
  return std::nullopt;
}

std::optional<Parameter> Calibration::find_structural(std::span<const std::string> paths) const {
  if (const auto family = families_.find(family_); family != families_.end()) {
    if (auto result = first_of(family->second, paths)) {
      return result;
    }
  }
  return first_of(defaults_, paths);
}

std::optional<Parameter> Calibration::find(std::string_view implementation,
                                           std::string_view section, std::string_view variant,
                                           std::string_view parameter) const {
  const std::vector<std::string> paths = paths_of(section, variant, parameter);
  const auto is_void = [&](FittedTier tier) { return rests_on(section, parameter, tier); };
  auto fitted = find_fitted(implementation, section, paths);
  if (fitted && std::ranges::none_of(void_, is_void)) {
    return fitted;
  }
  const auto structural = find_structural(paths);
  if (!structural && has_substitute(parameter)) {
    return std::nullopt;
  }
  const bool wider =
      fitted && structural && is_interval(parameter) && fitted->value > structural->value;
  auto result = structural && !wider ? structural : fitted;
  if (result && fitted) {  // Other ops may still have the fitted value of that path.
    result->path = fmt::format("{}.{}.{}", section, variant, parameter);
  }
  return result;
}

std::optional<Parameter> Calibration::structural(std::string_view path) const {
  const std::string exact(path);
  return find_structural({&exact, 1});
}

void Calibration::void_tier(const hardware::Machine& machine, const hardware::Tier& tier) {
  const auto role = fitted_tier(machine, tier);
  if (!role || !calibrated() || !void_.insert(*role).second) {
    return;
  }
  notes.push_back(
      fmt::format("{} is not the one the calibration of {} was fitted on: its utilisations are "
                  "void, structural defaults stand in and intervals are as wide as theirs",
                  tier.name, name));
}

Result<void> Calibration::void_other_tiers(const hardware::Machine& machine,
                                           const std::string& origin) {
  const auto other = hardware::load_machine(origin);
  if (!other) {
    return failure(other.error());
  }
  for (const hardware::Tier& tier : machine.tiers) {
    if (!is_as_fast(machine, *other, tier)) {
      void_tier(machine, tier);
    }
  }
  return {};
}

void Calibration::void_changed_tiers(const hardware::Machine& machine) {
  for (const hardware::Tier& tier : machine.tiers) {
    if (is_speed_changed(machine, tier)) {
      void_tier(machine, tier);
    }
  }
}

void Calibration::set_family(const hardware::Machine& machine) {
  family_.clear();
  int newest = 0;
  const int capability = capability_of(machine.compute_capability);
  for (const auto& [family, parameters] : families_) {
    const int first = capability_of(family.substr(family.find('_') + 1));
    if (first <= capability && first > newest) {
      newest = first;
      family_ = family;
    }
  }
}

ir::Expr Parameters::get(std::string_view section, std::string_view variant,
                         std::string_view parameter, const Dimension& dimension) {
  const auto found = calibration_.find(implementation_, section, variant, parameter);
  const std::string path = variant.empty() ? fmt::format("{}.{}", section, parameter)
                                           : fmt::format("{}.{}.{}", section, variant, parameter);
  if (!found) {
    missing_.push_back({.id = "no-parameter",
                        .message = fmt::format("no calibration gives a value for {}", path)});
    return pool_.constant(0, dimension);
  }
  if (!(found->dimension == dimension)) {
    missing_.push_back(
        {.id = "unit-dimension",
         .message = fmt::format("calibration parameter {}: expected {}, found {}", path,
                                describe(dimension), describe(found->dimension))});
    return pool_.constant(0, dimension);
  }
  const std::string symbol = "cal." + found->path;
  bindings_.set(symbol, found->value);
  return pool_.symbol(symbol, dimension);
}

}  // namespace mansard::model
