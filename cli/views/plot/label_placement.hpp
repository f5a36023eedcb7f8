#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cli/views/plot/svg.hpp"

/// Where labels of circles stand, so that none covers a circle or another label.
namespace mansard::cli {

struct Disc {
  Point center;
  double radius = 0;
};

struct Segment {
  Point from;
  Point to;
};

/// A label that wants to stand near its disc.
struct LabelWish {
  Disc disc;
  double width = 0;
  double height = 0;
};

struct PlacedLabel {
  Box box;
  std::optional<Segment> leader;  ///< From the disc to the label, where they do not touch.
};

/// What labels keep clear of.
struct Obstacles {
  std::span<const Disc> discs;
  std::span<const Box> boxes;
  std::span<const Segment> lines;  ///< May be crossed where there is no better place.
};

/// Greedy, in the order of `wishes`: each takes the cheapest place around its disc, by overlap with
/// what already stands there, crossing lines, and distance. The result lies `within`.
[[nodiscard]] std::vector<PlacedLabel> place_labels(std::span<const LabelWish> wishes,
                                                    const Obstacles& obstacles, const Box& within);

}  // namespace mansard::cli
