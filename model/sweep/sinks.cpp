#include "model/sweep/sinks.hpp"

#include <algorithm>
#include <array>

#include "model/sweep/packing.hpp"

namespace mansard::model {
namespace {

constexpr std::size_t kLanes = 8;

/// Over lanes, then over the lanes in order: the same sum whatever the compiler makes of it.
void add_all(const double* values, std::size_t count, AggregateSink::Totals& totals) {
  std::array<double, kLanes> sum{};
  std::array<double, kLanes> least;
  std::array<double, kLanes> greatest;
  least.fill(totals.least);
  greatest.fill(totals.greatest);
  const std::size_t whole = count - count % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      sum[lane] += value;
      least[lane] = value < least[lane] ? value : least[lane];
      greatest[lane] = greatest[lane] < value ? value : greatest[lane];
    }
  }
  for (std::size_t i = whole; i < count; ++i) {
    sum[0] += values[i];
    least[0] = std::min(least[0], values[i]);
    greatest[0] = std::max(greatest[0], values[i]);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    totals.sum += sum[lane];
    totals.least = std::min(totals.least, least[lane]);
    totals.greatest = std::max(totals.greatest, greatest[lane]);
  }
}

void add(const AggregateSink::Totals& from, AggregateSink::Totals& to) {
  to.sum += from.sum;
  to.least = std::min(to.least, from.least);
  to.greatest = std::max(to.greatest, from.greatest);
}

/// The place of a block's points on one axis.
class AxisPlace {
 public:
  AxisPlace(const SweepBlock& block, const std::string& name) {
    const SweepSpace& space = *block.space;
    const auto structural = find(space.structural, name);
    const auto& groups = structural < space.structural.size() ? space.structural : space.symbolic;
    const std::size_t at =
        structural < space.structural.size() ? structural : find(space.symbolic, name);
    if (structural < space.structural.size()) {
      first_ = SweepSpace::places(groups, block.variant->index)[at];
      return;
    }
    size_ = groups[at].front().size();
    for (std::size_t i = at + 1; i < groups.size(); ++i) {
      stride_ *= groups[i].front().size();
    }
    first_ = block.first;
  }

  [[nodiscard]] std::uint64_t operator()(std::size_t point) const {
    return size_ == 0 ? first_ : (first_ + point) / stride_ % size_;
  }

 private:
  static std::size_t find(std::span<const AxisGroup> groups, const std::string& name) {
    const auto has = [&](const AxisGroup& group) {
      return std::ranges::find(group, name, &Axis::name) != group.end();
    };
    return static_cast<std::size_t>(std::ranges::find_if(groups, has) - groups.begin());
  }

  std::uint64_t first_ = 0;
  std::uint64_t stride_ = 1;
  std::uint64_t size_ = 0;  ///< 0: all of the block are at `first_`.
};

void add_point(const SweepBlock& block, std::size_t at, AggregateSink::Group& group) {
  group.outputs.resize(block.outputs.size());
  ++group.points;
  for (std::size_t i = 0; i < block.outputs.size(); ++i) {
    const double value = block.outputs[i][at];
    add({value, value, value}, group.outputs[i]);
  }
}

bool is_kept(const SweepBlock& block, std::size_t at) {
  return block.kept == nullptr || block.kept[at] != 0;
}

SweepPoint point_at(const SweepBlock& block, std::size_t at) {
  SweepPoint point{block.variant->index, block.first + at, block.variant->labels, {}};
  for (const double* values : block.outputs) {
    point.outputs.push_back(values[at]);
  }
  return point;
}

struct GroupsDigest : SweepSink::Digest {
  AggregateSink::Groups groups;
};
struct PointsDigest : SweepSink::Digest {
  std::vector<SweepPoint> points;
};

}  // namespace

std::vector<std::string> axis_names(const SweepSpace& space) {
  std::vector<std::string> names;
  for (const auto* groups : {&space.structural, &space.symbolic}) {
    for (const AxisGroup& group : *groups) {
      for (const Axis& axis : group) {
        names.push_back(axis.name);
      }
    }
  }
  return names;
}

const Axis* find_axis(const SweepSpace& space, std::string_view name) {
  for (const auto* groups : {&space.structural, &space.symbolic}) {
    for (const AxisGroup& group : *groups) {
      const auto found = std::ranges::find(group, name, &Axis::name);
      if (found != group.end()) {
        return &*found;
      }
    }
  }
  return nullptr;
}

std::vector<std::string> axis_texts(const SweepSpace& space, const std::vector<std::string>& labels,
                                    std::uint64_t index) {
  std::vector<std::string> texts = labels;
  const auto places = SweepSpace::places(space.symbolic, index);
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const Axis& axis : space.symbolic[i]) {
      texts.push_back(axis.text(places[i]));
    }
  }
  return texts;
}

std::unique_ptr<SweepSink::Digest> AggregateSink::digest(const SweepBlock& block) const {
  auto result = std::make_unique<GroupsDigest>();
  if (group_by_.empty() && block.kept == nullptr) {
    Group& group = result->groups[{}];
    group.points = block.count;
    group.outputs.resize(block.outputs.size());
    for (std::size_t i = 0; i < block.outputs.size(); ++i) {
      add_all(block.outputs[i], block.count, group.outputs[i]);
    }
    return result;
  }
  std::vector<AxisPlace> axes;
  for (const std::string& name : group_by_) {
    axes.emplace_back(block, name);
  }
  std::vector<std::uint64_t> key(axes.size());
  Group* group = nullptr;
  for (std::size_t at = 0; at < block.count; ++at) {
    if (!is_kept(block, at)) {
      continue;
    }
    bool is_same = group != nullptr;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::uint64_t place = axes[i](at);
      is_same = is_same && key[i] == place;
      key[i] = place;
    }
    group = is_same ? group : &result->groups[key];
    add_point(block, at, *group);
  }
  return result;
}

void AggregateSink::pack(const Digest& digest, Packer& packer) const {
  const Groups& groups = static_cast<const GroupsDigest&>(digest).groups;
  packer.put(groups.size());
  for (const auto& [key, group] : groups) {
    for (const std::uint64_t place : key) {
      packer.put(place);
    }
    packer.put(group.points);
    packer.put(group.outputs.size());
    for (const Totals& totals : group.outputs) {
      packer.put(totals);
    }
  }
}

std::unique_ptr<SweepSink::Digest> AggregateSink::unpack(Unpacker& unpacker) const {
  auto result = std::make_unique<GroupsDigest>();
  for (auto left = unpacker.get<std::size_t>(); left > 0; --left) {
    std::vector<std::uint64_t> key(group_by_.size());
    for (std::uint64_t& place : key) {
      place = unpacker.get<std::uint64_t>();
    }
    Group& group = result->groups[key];
    group.points = unpacker.get<std::uint64_t>();
    group.outputs.resize(unpacker.get<std::size_t>());
    for (Totals& totals : group.outputs) {
      totals = unpacker.get<Totals>();
    }
  }
  return result;
}

void PointSink::pack(const Digest& digest, Packer& packer) const {
  const auto& points = static_cast<const PointsDigest&>(digest).points;
  packer.put(points.size());
  for (const SweepPoint& point : points) {
    packer.put(point.variant);
    packer.put(point.index);
    packer.put_texts(point.labels);
    packer.put_numbers(point.outputs);
  }
}

std::unique_ptr<SweepSink::Digest> PointSink::unpack(Unpacker& unpacker) const {
  auto result = std::make_unique<PointsDigest>();
  for (auto left = unpacker.get<std::size_t>(); left > 0; --left) {
    SweepPoint point;
    point.variant = unpacker.get<std::uint64_t>();
    point.index = unpacker.get<std::uint64_t>();
    point.labels = unpacker.texts();
    point.outputs = unpacker.numbers();
    result->points.push_back(std::move(point));
  }
  return result;
}

void AggregateSink::take(Digest& digest) {
  for (auto& [key, group] : static_cast<GroupsDigest&>(digest).groups) {
    Group& to = groups_[key];
    to.points += group.points;
    to.outputs.resize(group.outputs.size());
    for (std::size_t i = 0; i < group.outputs.size(); ++i) {
      add(group.outputs[i], to.outputs[i]);
    }
  }
}

bool TopSink::is_before(const SweepPoint& a, const SweepPoint& b) const {
  const double left = a.outputs[output_];
  const double right = b.outputs[output_];
  if (left != right) {
    return greatest_ ? left > right : left < right;
  }
  return std::pair(a.variant, a.index) < std::pair(b.variant, b.index);
}

void TopSink::keep_best(std::vector<SweepPoint>& points) const {
  std::ranges::sort(points, [this](const auto& a, const auto& b) { return is_before(a, b); });
  points.resize(std::min(points.size(), count_));
}

std::unique_ptr<SweepSink::Digest> TopSink::digest(const SweepBlock& block) const {
  // Places first: a point is copied only if it is among the best of its block.
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < block.count; ++at) {
    if (is_kept(block, at)) {
      places.push_back(at);
    }
  }
  const double* by = block.outputs[output_];
  const auto before = [&](std::size_t a, std::size_t b) {
    const bool better = greatest_ ? by[a] > by[b] : by[a] < by[b];
    return better || (by[a] == by[b] && a < b);
  };
  const std::size_t kept = std::min(places.size(), count_);
  std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(kept), before);
  auto result = std::make_unique<PointsDigest>();
  for (std::size_t i = 0; i < kept; ++i) {
    result->points.push_back(point_at(block, places[i]));
  }
  return result;
}

void TopSink::take(Digest& digest) {
  auto& points = static_cast<PointsDigest&>(digest).points;
  best_.insert(best_.end(), points.begin(), points.end());
  keep_best(best_);
}

std::unique_ptr<SweepSink::Digest> CollectSink::digest(const SweepBlock& block) const {
  auto result = std::make_unique<PointsDigest>();
  for (std::size_t at = 0; at < block.count; ++at) {
    if (is_kept(block, at)) {
      result->points.push_back(point_at(block, at));
    }
  }
  return result;
}

void CollectSink::take(Digest& digest) {
  auto& points = static_cast<PointsDigest&>(digest).points;
  points_.insert(points_.end(), points.begin(), points.end());
}

void ParetoSink::add(SweepPoint point, std::vector<SweepPoint>& front) const {
  const auto not_worse = [&](const SweepPoint& a, const SweepPoint& b) {
    return std::ranges::all_of(objectives_, [&](const Objective& o) {
      const double left = a.outputs[o.output];
      const double right = b.outputs[o.output];
      return o.greatest ? left >= right : left <= right;
    });
  };
  if (std::ranges::any_of(front,
                          [&](const SweepPoint& other) { return not_worse(other, point); })) {
    return;
  }
  std::erase_if(front, [&](const SweepPoint& other) { return not_worse(point, other); });
  front.push_back(std::move(point));
}

std::unique_ptr<SweepSink::Digest> ParetoSink::digest(const SweepBlock& block) const {
  auto result = std::make_unique<PointsDigest>();
  for (std::size_t at = 0; at < block.count; ++at) {
    if (is_kept(block, at)) {
      add(point_at(block, at), result->points);
    }
  }
  return result;
}

void ParetoSink::take(Digest& digest) {
  for (SweepPoint& point : static_cast<PointsDigest&>(digest).points) {
    add(std::move(point), front_);
  }
}

}  // namespace mansard::model
