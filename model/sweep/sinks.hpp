#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/sweep/sweep.hpp"

namespace mansard::model {

/// A point that a sink kept.
struct SweepPoint {
  std::uint64_t variant = 0;
  std::uint64_t index = 0;  ///< Within the variant.
  std::vector<std::string> labels;
  std::vector<double> outputs;
};

/// Sums, extremes and counts of every output, for each value of the axes that are grouped by.
class AggregateSink : public SweepSink {
 public:
  struct Totals {
    double sum = 0;
    double least = std::numeric_limits<double>::infinity();
    double greatest = -std::numeric_limits<double>::infinity();
  };
  struct Group {
    std::uint64_t points = 0;
    std::vector<Totals> outputs;
  };
  /// Places on the axes grouped by, to their group; one group of no places without such axes. So
  /// groups come in the order of the axes' values.
  using Groups = std::map<std::vector<std::uint64_t>, Group>;

  /// `group_by` names axes of the space.
  explicit AggregateSink(std::vector<std::string> group_by = {}) : group_by_(std::move(group_by)) {}
  [[nodiscard]] std::unique_ptr<Digest> digest(const SweepBlock& block) const override;
  void take(Digest& digest) override;
  void pack(const Digest& digest, Packer& packer) const override;
  [[nodiscard]] std::unique_ptr<Digest> unpack(Unpacker& unpacker) const override;
  [[nodiscard]] const Groups& groups() const { return groups_; }

 private:
  std::vector<std::string> group_by_;
  Groups groups_;
};

/// A sink that keeps points.
class PointSink : public SweepSink {
 public:
  void pack(const Digest& digest, Packer& packer) const override;
  [[nodiscard]] std::unique_ptr<Digest> unpack(Unpacker& unpacker) const override;
};

/// The `count` best points by one output; of equals the earlier.
class TopSink : public PointSink {
 public:
  TopSink(std::size_t count, std::size_t output, bool greatest)
      : count_(count), output_(output), greatest_(greatest) {}
  [[nodiscard]] std::unique_ptr<Digest> digest(const SweepBlock& block) const override;
  void take(Digest& digest) override;
  [[nodiscard]] const std::vector<SweepPoint>& points() const { return best_; }

 private:
  [[nodiscard]] bool is_before(const SweepPoint& a, const SweepPoint& b) const;
  void keep_best(std::vector<SweepPoint>& points) const;

  std::size_t count_;
  std::size_t output_;
  bool greatest_;
  std::vector<SweepPoint> best_;
};

/// The points that no other point is at least as good as in every one of some outputs and better in
/// one.
class ParetoSink : public PointSink {
 public:
  struct Objective {
    std::size_t output = 0;
    bool greatest = false;
  };
  explicit ParetoSink(std::vector<Objective> objectives) : objectives_(std::move(objectives)) {}
  [[nodiscard]] std::unique_ptr<Digest> digest(const SweepBlock& block) const override;
  void take(Digest& digest) override;
  [[nodiscard]] const std::vector<SweepPoint>& points() const { return front_; }

 private:
  void add(SweepPoint point, std::vector<SweepPoint>& front) const;

  std::vector<Objective> objectives_;
  std::vector<SweepPoint> front_;
};

/// Every point.
class CollectSink : public PointSink {
 public:
  [[nodiscard]] std::unique_ptr<Digest> digest(const SweepBlock& block) const override;
  void take(Digest& digest) override;
  [[nodiscard]] const std::vector<SweepPoint>& points() const { return points_; }

 private:
  std::vector<SweepPoint> points_;
};

/// The texts of every axis at a point: structural ones, then symbolic ones.
[[nodiscard]] std::vector<std::string> axis_texts(const SweepSpace& space,
                                                  const std::vector<std::string>& labels,
                                                  std::uint64_t index);
/// Names of all axes in the same order.
[[nodiscard]] std::vector<std::string> axis_names(const SweepSpace& space);
/// The axis of that name, if the space has it.
[[nodiscard]] const Axis* find_axis(const SweepSpace& space, std::string_view name);

}  // namespace mansard::model
