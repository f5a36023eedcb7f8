#include "cli/views/plot/label_placement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace mansard::cli {
namespace {

constexpr int kDirections = 24;
constexpr std::array kDistances = {4.0, 12.0, 24.0, 40.0, 60.0, 85.0, 115.0, 150.0, 190.0};
constexpr double kLeaderFrom = 8;  ///< A label farther from its disc gets a leader.
constexpr double kOverlapCost = 30;
constexpr double kCrossingCost = 400;
constexpr double kLineCost = 25;
constexpr double kOutsideCost = 1e6;

double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.right(), b.right()) - std::max(a.x, b.x);
  const double height = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}

Box box_of(const Disc& disc) {
  return {disc.center.x - disc.radius, disc.center.y - disc.radius, 2 * disc.radius,
          2 * disc.radius};
}

bool contains(const Box& outer, const Box& inner) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.right() <= outer.right() &&
         inner.bottom() <= outer.bottom();
}

double cross(Point a, Point b, Point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

bool intersect(const Segment& a, const Segment& b) {
  return cross(a.from, a.to, b.from) * cross(a.from, a.to, b.to) < 0 &&
         cross(b.from, b.to, a.from) * cross(b.from, b.to, a.to) < 0;
}

bool crosses(const Segment& segment, const Box& box) {
  const Point a{box.x, box.y};
  const Point b{box.right(), box.y};
  const Point c{box.right(), box.bottom()};
  const Point d{box.x, box.bottom()};
  return intersect(segment, {a, c}) || intersect(segment, {b, d});
}

/// The box of a label whose nearest corner or edge lies in that direction from the disc.
Box candidate(const LabelWish& wish, double angle, double distance) {
  const double x = std::cos(angle);
  const double y = std::sin(angle);
  const double reach = wish.disc.radius + distance;
  const Point at{wish.disc.center.x + x * reach, wish.disc.center.y + y * reach};
  return {at.x + (x - 1) * wish.width / 2, at.y + (y - 1) * wish.height / 2, wish.width,
          wish.height};
}

Segment leader_of(const Disc& disc, const Box& box) {
  const Point to{std::clamp(disc.center.x, box.x, box.right()),
                 std::clamp(disc.center.y, box.y, box.bottom())};
  const double dx = to.x - disc.center.x;
  const double dy = to.y - disc.center.y;
  const double length = std::max(1.0, std::hypot(dx, dy));
  return {{disc.center.x + dx / length * disc.radius, disc.center.y + dy / length * disc.radius},
          to};
}

class Placer {
 public:
  Placer(const Obstacles& obstacles, const Box& within)
      : discs_(obstacles.discs),
        lines_(obstacles.lines),
        taken_(obstacles.boxes.begin(), obstacles.boxes.end()),
        within_(within) {}

  PlacedLabel place(const LabelWish& wish) {
    Box best;
    double least = std::numeric_limits<double>::infinity();
    for (const double distance : kDistances) {
      for (int direction = 0; direction < kDirections; ++direction) {
        // Right first, then alternately down and up from there.
        const int turn = direction % 2 == 0 ? direction / 2 : -(direction + 1) / 2;
        const Box box = candidate(wish, 2 * std::numbers::pi * turn / kDirections, distance);
        const double cost = distance + 0.2 * std::abs(turn) + disturbance(wish.disc, box);
        if (cost < least) {
          least = cost;
          best = box;
        }
      }
    }
    PlacedLabel placed{.box = best};
    const Segment leader = leader_of(wish.disc, best);
    if (std::hypot(leader.to.x - leader.from.x, leader.to.y - leader.from.y) > kLeaderFrom) {
      placed.leader = leader;
      leaders_.push_back(leader);
    }
    taken_.push_back(best);
    return placed;
  }

 private:
  double disturbance(const Disc& disc, const Box& box) const {
    double cost = contains(within_, box) ? 0 : kOutsideCost;
    const Segment leader = leader_of(disc, box);
    for (const Box& other : taken_) {
      cost += kOverlapCost * overlap(box, other) + (crosses(leader, other) ? kCrossingCost : 0);
    }
    for (const Disc& other : discs_) {
      cost += kOverlapCost * overlap(box, box_of(other));
    }
    for (const Segment& line : lines_) {
      cost += crosses(line, box) ? kLineCost : 0;
    }
    for (const Segment& other : leaders_) {
      cost += (intersect(leader, other) || crosses(other, box)) ? kCrossingCost : 0;
    }
    return cost;
  }

  std::span<const Disc> discs_;
  std::span<const Segment> lines_;
  std::vector<Box> taken_;
  std::vector<Segment> leaders_;
  Box within_;
};

}  // namespace

std::vector<PlacedLabel> place_labels(std::span<const LabelWish> wishes, const Obstacles& obstacles,
                                      const Box& within) {
  Placer placer(obstacles, within);
  std::vector<PlacedLabel> labels;
  for (const LabelWish& wish : wishes) {
    labels.push_back(placer.place(wish));
  }
  return labels;
}

}  // namespace mansard::cli
