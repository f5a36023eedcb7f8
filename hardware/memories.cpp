#include "hardware/memories.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/catalog.hpp"
#include "support/document.hpp"
#include "support/suggest.hpp"
#include "support/units.hpp"

namespace mansard::hardware {
namespace {

constexpr std::string_view kPath = "hardware/memories.yaml";

std::optional<double> read_number(Reader& reader, std::string_view key,
                                  const Dimension& dimension) {
  const Node* node = reader.require(key);
  if (node == nullptr || node->is_null()) {
    return std::nullopt;
  }
  auto value = parse_measure(node->scalar, dimension, node->location);
  if (!value) {
    reader.diagnostics().insert(reader.diagnostics().end(), value.error().begin(),
                                value.error().end());
    return std::nullopt;
  }
  return *value;
}

MemoryGeneration read_generation(const Node::Entry& entry, Diagnostics& diagnostics) {
  Reader reader(entry.value, diagnostics);
  MemoryGeneration generation{.name = entry.key};
  generation.pins = static_cast<double>(reader.required_integer("pins"));
  generation.pin_rate = read_number(reader, "pin_rate", kBytePerSecond).value_or(0);
  generation.capacity = read_number(reader, "capacity", kByte);
  generation.joules_per_byte = read_number(reader, "energy", kJoule - kByte);
  generation.note = reader.string("note").value_or("");
  static_cast<void>(reader.required_string("source"));
  reader.ignore("energy_source");
  reader.finish();
  return generation;
}

std::vector<MemoryGeneration> read_generations(const Node& document, Diagnostics& diagnostics) {
  Reader reader(document, diagnostics);
  reader.ignore("schema");
  reader.ignore("sources");
  std::vector<MemoryGeneration> generations;
  const Node* memories = reader.mapping("memories");
  for (std::size_t i = 0; memories != nullptr && i < memories->entries.size(); ++i) {
    generations.push_back(read_generation(memories->entries[i], diagnostics));
  }
  reader.finish();
  return generations;
}

}  // namespace

Result<std::vector<MemoryGeneration>> memory_generations() {
  const auto file = data_file(kPath);
  if (file == nullptr) {
    return failure("missing-file", fmt::format("there is no file {}", kPath));
  }
  const auto document = parse_yaml(file);
  if (!document) {
    return failure(document.error());
  }
  Diagnostics diagnostics;
  auto generations = read_generations(*document, diagnostics);
  if (!diagnostics.empty()) {
    return failure(std::move(diagnostics));
  }
  return generations;
}

Result<MemoryGeneration> memory_generation(std::string_view name, const Location& location) {
  auto generations = memory_generations();
  if (!generations) {
    return failure(std::move(generations.error()));
  }
  const auto found = std::ranges::find(*generations, name, &MemoryGeneration::name);
  if (found != generations->end()) {
    return *found;
  }
  std::vector<std::string> names;
  for (const MemoryGeneration& generation : *generations) {
    names.push_back(generation.name);
  }
  const auto meant = did_you_mean(name, names);
  return failure("unknown-memory", fmt::format("there is no memory '{}'", name), location,
                 meant ? fmt::format("did you mean '{}'?", *meant)
                       : fmt::format("known: {}", fmt::join(names, ", ")));
}

}  // namespace mansard::hardware
