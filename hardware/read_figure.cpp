#include "hardware/read_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "hardware/schema.hpp"

namespace mansard::hardware {
namespace {

/// Clocks that a rate may be quoted at.
constexpr std::array<std::string_view, 3> kQuoted = {"tensor", "max", "base"};

void append(Diagnostics& diagnostics, const Diagnostics& more) {
  diagnostics.insert(diagnostics.end(), more.begin(), more.end());
}

/// The basis that a unit stands for where the field could also be given directly.
std::optional<Basis> basis_of(const Dimension& written, const Figure& figure) {
  if (written == figure.dimension) {
    return Basis::kGiven;
  }
  if (written == kBytePerCycle && figure.dimension == kBytePerSecond) {
    return Basis::kPerClock;
  }
  if (written == kCycle && figure.dimension == kSecond) {
    return Basis::kClocks;
  }
  return std::nullopt;
}

bool is_change(std::string_view text) {
  return !text.empty() && (text[0] == '*' || text[0] == '+' || text[0] == '-');
}

/// An unknown needs none.
void require_source(const Figure& figure, const FigureContext& context, Diagnostics& diagnostics) {
  if (context.kind == DraftKind::kMachine && figure.number && figure.source.empty()) {
    diagnostics.push_back({"missing-source", fmt::format("{} has no source", figure.path),
                           figure.location, "add source: and one of the file's sources"});
  }
}

void take_note(Reader& reader, Figure& figure) {
  if (const auto source = reader.string("source")) {
    figure.source = *source;
    figure.source_location = reader.find("source")->location;
  }
  const std::string date = reader.string("date").value_or("");
  const std::string note = reader.string("note").value_or(figure.note);
  figure.note = date.empty() || note.empty() ? date + note : fmt::format("{}: {}", date, note);
}

void read_scalar(const Node& node, DraftKind kind, Figure& figure, Diagnostics& diagnostics) {
  figure.location = node.location;
  if (node.is_null()) {
    return;
  }
  if (!node.is_scalar()) {
    diagnostics.push_back({"wrong-type",
                           fmt::format("expected a value with its unit for {}", figure.path),
                           node.location, ""});
    return;
  }
  read_number(node.scalar, node.location, kind, figure, diagnostics);
}

void read_fma(Reader& reader, DraftKind kind, Figure& figure) {
  Figure count{.path = figure.path, .dimension = kNumber};
  read_scalar(*reader.find("fma"), kind, count, reader.diagnostics());
  figure.basis = Basis::kFmaPerSm;
  figure.number = count.number;
  figure.change = count.change;
  figure.location = count.location;
  figure.clock = reader.string("clock").value_or("");
  if (kind == DraftKind::kOverlay && figure.clock.empty()) {
    return;
  }
  if (std::ranges::find(kQuoted, figure.clock) == kQuoted.end()) {
    const Node* clock = reader.find("clock");
    reader.error("unknown-clock",
                 "expected the clock that the rate is quoted at: tensor, max or base",
                 clock != nullptr ? clock->location : figure.location);
  }
}

void read_datasheet(Reader& reader, Figure& figure) {
  const Node* node = reader.find("datasheet");
  if (node == nullptr || !node->is_scalar()) {
    return;
  }
  figure.datasheet_location = node->location;
  auto value = parse_measure(node->scalar, kFlopPerSecond, node->location);
  if (value) {
    figure.datasheet = *value;
  } else {
    append(reader.diagnostics(), value.error());
  }
}

}  // namespace

void read_number(std::string_view text, const Location& location, DraftKind kind, Figure& figure,
                 Diagnostics& diagnostics) {
  figure.location = location;
  if (kind == DraftKind::kOverlay && is_change(text)) {
    auto change = parse_adjustment(text, figure.dimension, location);
    if (change) {
      figure.change = *change;
    } else {
      append(diagnostics, change.error());
    }
    return;
  }
  const auto measure = parse_measure(text, location);
  const auto basis = measure ? basis_of(measure->dimension, figure) : std::nullopt;
  if (!basis) {
    append(diagnostics, parse_measure(text, figure.dimension, location).error());
    return;
  }
  if (std::abs(measure->value) > kLargestFigure) {
    diagnostics.push_back(
        {"out-of-range", fmt::format("{} is out of range", figure.path), location, ""});
    return;
  }
  figure.basis = *basis;
  figure.number = measure->value;
}

Figure read_figure(std::string path, const Dimension& dimension, const Node& node,
                   const FigureContext& context, Diagnostics& diagnostics) {
  Figure figure{.path = std::move(path),
                .dimension = dimension,
                .source = context.source,
                .source_location = context.source_location,
                .note = context.note,
                .location = node.location};
  if (node.is_mapping()) {
    Reader reader(node, diagnostics);
    if (const Node* value = reader.require("value")) {
      read_scalar(*value, context.kind, figure, diagnostics);
    }
    take_note(reader, figure);
    reader.finish();
  } else {
    read_scalar(node, context.kind, figure, diagnostics);
  }
  require_source(figure, context, diagnostics);
  return figure;
}

Figure read_rate(std::string path, const Node& node, DraftKind kind, Diagnostics& diagnostics) {
  Figure figure{.path = std::move(path), .dimension = kFlopPerSecond, .location = node.location};
  const FigureContext context{.kind = kind};
  if (!node.is_mapping()) {
    return read_figure(figure.path, figure.dimension, node, context, diagnostics);
  }
  Reader reader(node, diagnostics);
  const Node* rate = reader.find("rate");
  if (reader.has("fma")) {
    read_fma(reader, kind, figure);
  } else if (rate != nullptr) {
    read_scalar(*rate, kind, figure, diagnostics);
  } else {
    reader.error("missing-key", fmt::format("{} needs fma: and clock:, or rate:", figure.path),
                 {node.location.file, node.location.begin, node.location.begin + 1});
  }
  read_datasheet(reader, figure);
  take_note(reader, figure);
  reader.finish();
  require_source(figure, context, diagnostics);
  return figure;
}

}  // namespace mansard::hardware
