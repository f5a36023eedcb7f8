#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/catalog.hpp"
#include "hardware/schema.hpp"
#include "support/units.hpp"

namespace mansard::hardware {
namespace {

/// Significant digits that identify every double.
constexpr int kAllDigits = 17;
constexpr double kBitsPerByte = 8;

/// The text without control bytes, which a YAML file cannot hold.
std::string printable(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  return result;
}

/// A double-quoted scalar, which takes any text.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + "\"";
}

/// Bare if it is a word, quoted if YAML could read something else.
std::string scalar(std::string_view text) {
  const bool word = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
                    text != "null" && std::ranges::all_of(text, [](unsigned char c) {
                      return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                    });
  return word ? std::string(text) : quoted(text);
}

/// The shortest text with a unit that reads back as the same number.
std::string decimal_text(double value, const Dimension& dimension) {
  for (const int digits : {3, 6, 9, 12}) {
    std::string text = format_measure(value, dimension, digits);
    if (parse_measure(text, dimension) == value) {
      return text;
    }
  }
  return format_measure(value, dimension, kAllDigits);
}

/// "60 MiB", where it is shorter than "62.91456 MB".
std::string value_text(double value, std::string_view path, const Dimension& dimension) {
  if (leaf_of(path) == "pin_rate") {
    return fmt::format("{:.9g} Gbit/s", value * kBitsPerByte / 1e9);
  }
  std::string shortest = decimal_text(value, dimension);
  if (dimension != kByte) {
    return shortest;
  }
  for (const auto& [unit, size] :
       {std::pair{"GiB", 0x1p30}, std::pair{"MiB", 0x1p20}, std::pair{"KiB", 0x1p10}}) {
    std::string text = fmt::format("{} {}", value / size, unit);
    if (value >= size && text.size() < shortest.size() && parse_measure(text, kByte) == value) {
      return text;
    }
  }
  return shortest;
}

class Printer {
 public:
  explicit Printer(const Machine& machine) : machine_(&machine) {}

  std::string print() {
    print_identity();
    print_sources();
    print_lists();
    for (const FigureKey& key : lone_figures()) {
      print_lone(key.name);
    }
    for (const std::string_view engine : rate_engines()) {
      print_under("", engine);
    }
    for (const FigureGroup& group : figure_groups()) {
      print_under("", group.name);
    }
    print_lone("price");
    print_tiers();
    return std::move(text_);
  }

 private:
  void line(std::string_view indent, std::string_view key, std::string_view value) {
    text_ += fmt::format("{}{}: {}\n", indent, key, value);
  }

  void print_identity() {
    line("", "schema", "1");
    line("", "name", scalar(machine_->name));
    line("", "title", quoted(machine_->title));
    line("", "vendor", scalar(machine_->vendor));
    line("", "architecture", scalar(machine_->architecture));
    line("", "compute_capability", quoted(machine_->compute_capability));
    line("", "released", quoted(machine_->released));
    if (!machine_->ancestors.empty()) {
      text_ += fmt::format("# extends {}\n", fmt::join(machine_->ancestors, ", "));
    }
    for (const std::string& change : machine_->changes) {
      text_ += fmt::format("# changed: {}\n", printable(change));
    }
  }

  void print_sources() {
    text_ += "sources:\n";
    for (const Source& source : machine_->sources) {
      line("  ", quoted(source.id),
           fmt::format("{{title: {}, kind: {}, date: {}}}", quoted(source.title),
                       name_of(source.kind), quoted(source.date)));
    }
  }

  void print_lists() {
    if (!machine_->notes.empty()) {
      text_ += "notes:\n";
    }
    for (const std::string& note : machine_->notes) {
      text_ += fmt::format("  - {}\n", quoted(note));
    }
  }

  void print_lone(std::string_view path) {
    if (const Field* field = machine_->find(path)) {
      print_field("", *field);
    }
  }

  /// Fields below a group or tier, under its name.
  void print_under(std::string_view indent, std::string_view group) {
    bool first = true;
    for (const Field& field : machine_->fields()) {
      if (field.path != group && is_under(field.path, group)) {
        text_ += first ? fmt::format("{}{}:\n", indent, group) : "";
        first = false;
        print_field("  ", field);
      }
    }
  }

  void print_tiers() {
    text_ += "tiers:\n";
    for (const Tier& tier : machine_->tiers) {
      line("  - ", "name", scalar(tier.name));
      line("    ", "scope", name_of(tier.scope));
      if (!tier.technology.empty()) {
        line("    ", "memory", scalar(tier.technology));
      }
      if (!tier.topology.empty()) {
        line("    ", "topology", scalar(tier.topology));
      }
      if (tier.reduces) {
        line("    ", "reduces", "true");
      }
      for (const Field& field : machine_->fields()) {
        if (is_under(field.path, tier.name)) {
          print_field("    ", field);
        }
      }
    }
  }

  void print_field(std::string_view indent, const Field& field) {
    const auto value = machine_->known(field.path);
    const std::string shown = value ? format_measure(*value, field.dimension, 4) : "unknown";
    if (field.definition == "stacks") {
      text_ += fmt::format("{}# {}: {}, derived from stacks\n", indent, leaf_of(field.path), shown);
      return;
    }
    std::string comment(value ? name_of(field.kind) : "unknown");
    if (field.formula) {
      comment = fmt::format("{}, {}", shown, name_of(field.kind));
    }
    line(indent, leaf_of(field.path),
         fmt::format("{{{}{}}} # {}", what(field), about(field), comment));
  }

  static std::string what(const Field& field) {
    const bool is_rate = field.dimension == kFlopPerSecond;
    if (is_rate && !field.definition.empty()) {
      return field.definition;
    }
    const std::string key = is_rate ? "rate" : "value";
    if (!field.definition.empty()) {
      return fmt::format("{}: {}", key, field.definition);
    }
    return fmt::format(
        "{}: {}", key,
        field.value ? value_text(*field.value, field.path, field.dimension) : "null");
  }

  static std::string about(const Field& field) {
    std::string text;
    if (!field.source.empty()) {
      text += fmt::format(", source: {}", quoted(field.source));
    }
    if (!field.note.empty()) {
      text += fmt::format(", note: {}", quoted(field.note));
    }
    return text;
  }

  const Machine* machine_;
  std::string text_;
};

}  // namespace

std::string print_machine(const Machine& machine) {
  return Printer(machine).print();
}

}  // namespace mansard::hardware
