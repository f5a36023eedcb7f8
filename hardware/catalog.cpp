#include "hardware/catalog.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hardware/build.hpp"
#include "hardware/draft.hpp"
#include "support/suggest.hpp"

namespace mansard::hardware {
namespace {

constexpr std::string_view kFolder = "hardware/machines/";
constexpr std::string_view kExtension = ".yaml";
/// Longer chains of `extends` are a slip.
constexpr std::size_t kDeepest = 8;

std::string file_of(std::string_view name) {
  return fmt::format("{}{}{}", kFolder, name, kExtension);
}

/// "h200" means h200-sxm rather than gh200; "h20-sxm" means h200-sxm.
std::string suggestion(std::string_view name) {
  const std::vector<std::string> names = machine_names();
  const auto begins = std::ranges::find_if(
      names, [&](const std::string& known) { return !name.empty() && known.starts_with(name); });
  const auto meant = begins != names.end() ? std::optional(*begins) : did_you_mean(name, names);
  return meant ? fmt::format("did you mean '{}'?", *meant) : "see: mansard machines";
}

auto unknown_machine(std::string_view name, const Location& location) {
  return failure("unknown-machine", fmt::format("there is no machine '{}'", name), location,
                 suggestion(name));
}

Result<Draft> read_whole_draft(const Node& document, std::vector<std::string>& chain);

Result<Draft> read_parent(const Draft& child, std::vector<std::string>& chain) {
  chain.push_back(child.extends);
  if (std::ranges::count(chain, child.extends) > 1 || child.extends == child.name ||
      chain.size() > kDeepest) {
    return failure("extends-cycle", fmt::format("'{}' extends itself", child.extends),
                   child.extends_location);
  }
  const auto file = data_file(file_of(child.extends));
  if (file == nullptr) {
    return unknown_machine(child.extends, child.extends_location);
  }
  const auto document = parse_yaml(file);
  if (!document) {
    return failure(document.error());
  }
  return read_whole_draft(*document, chain);
}

/// A draft with everything that it extends. `chain` collects the names of what it extends.
Result<Draft> read_whole_draft(const Node& document, std::vector<std::string>& chain) {
  Diagnostics diagnostics;
  Draft draft = read_draft(document, DraftKind::kMachine, diagnostics);
  if (!draft.extends.empty()) {
    auto parent = read_parent(draft, chain);
    if (parent) {
      inherit(draft, std::move(*parent));
    } else {
      diagnostics.insert(diagnostics.end(), parent.error().begin(), parent.error().end());
    }
  }
  if (!diagnostics.empty()) {
    return failure(std::move(diagnostics));
  }
  return draft;
}

Result<Node> find_document(const std::string& name_or_path) {
  const bool is_path =
      name_or_path.find('/') != std::string::npos || name_or_path.ends_with(kExtension);
  if (is_path) {
    auto file = read_file(name_or_path);
    return file ? parse_yaml(*file) : Result<Node>(failure(file.error()));
  }
  const auto file = data_file(file_of(name_or_path));
  return file == nullptr ? Result<Node>(unknown_machine(name_or_path, {})) : parse_yaml(file);
}

Result<Machine> apply_overlay_file(Machine machine, const std::string& path) {
  auto file = read_file(path);
  if (!file) {
    return failure(file.error());
  }
  auto document = parse_yaml(*file);
  return document ? apply_overlay(std::move(machine), *document)
                  : Result<Machine>(failure(document.error()));
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const std::string& path : data_files(kFolder)) {
    names.push_back(path.substr(kFolder.size(), path.size() - kFolder.size() - kExtension.size()));
  }
  std::ranges::sort(names);
  return names;
}

Result<Machine> read_machine(const Node& document) {
  std::vector<std::string> ancestors;
  auto draft = read_whole_draft(document, ancestors);
  if (!draft) {
    return failure(std::move(draft.error()));
  }
  Diagnostics diagnostics;
  Machine machine = build_machine(*draft, diagnostics);
  machine.ancestors = std::move(ancestors);
  check_machine(machine, *draft, diagnostics);
  if (!diagnostics.empty()) {
    return failure(std::move(diagnostics));
  }
  return machine;
}

Result<Machine> load_machine(const std::string& name_or_path,
                             const std::vector<std::string>& overlays,
                             const std::vector<Setting>& settings) {
  auto document = find_document(name_or_path);
  if (!document) {
    return failure(std::move(document.error()));
  }
  auto machine = read_machine(*document);
  for (std::size_t i = 0; machine && i < overlays.size(); ++i) {
    machine = apply_overlay_file(std::move(*machine), overlays[i]);
  }
  for (std::size_t i = 0; machine && i < settings.size(); ++i) {
    machine = apply_setting(std::move(*machine), settings[i]);
  }
  return machine;
}

}  // namespace mansard::hardware
