#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hardware/draft.hpp"

namespace mansard::hardware {

/// What a group says for all its figures.
struct FigureContext {
  DraftKind kind = DraftKind::kMachine;
  std::string source;  ///< "" if each figure names its own.
  Location source_location;
  std::string note;
};

/// A number with its unit, for the field `path`: bandwidths also per clock, latencies also in
/// clocks. Sets `basis` and `number` (or `change`, in overlays).
void read_number(std::string_view text, const Location& location, DraftKind kind, Figure& figure,
                 Diagnostics& diagnostics);

/// "228 KiB", or {value: 228 KiB, source: datasheet, note: ...}, or null.
[[nodiscard]] Figure read_figure(std::string path, const Dimension& dimension, const Node& node,
                                 const FigureContext& context, Diagnostics& diagnostics);

/// {fma: 2048, clock: tensor, datasheet: 989.4 TFLOP/s, source: ...} or {rate: 275 TFLOP/s, ...}.
[[nodiscard]] Figure read_rate(std::string path, const Node& node, DraftKind kind,
                               Diagnostics& diagnostics);

}  // namespace mansard::hardware
