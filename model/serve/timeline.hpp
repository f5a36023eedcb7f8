#pragma once

#include <cstddef>
#include <vector>

namespace mansard::model::serve {

/// What a service did over time, in equal intervals; as it goes on, neighbours are merged, so that
/// there are never more than 512.
class Timeline {
 public:
  struct Interval {
    double seconds = 0;  ///< Of all replicas that were on.
    double running = 0;  ///< Sequence-seconds; so are the next.
    double waiting = 0;
    double kv_used = 0;  ///< Share-of-the-blocks-seconds of all replicas.
    double iterations = 0;
    double sequences = 0;  ///< Of the iterations' batches.
    double tokens = 0;
    double output_tokens = 0;
    double preemptions = 0;
    std::vector<double> busy;  ///< Seconds that each resource bound.
    void add(const Interval& other);
  };

  /// States of one replica that held from one time to another.
  struct State {
    double running = 0;
    double waiting = 0;
    double kv_used = 0;
  };

  explicit Timeline(std::size_t resources) : resources_(resources) {}

  void hold(double from, double to, const State& state);
  [[nodiscard]] Interval& at(double time);
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

 private:
  void merge();

  static constexpr std::size_t kMost = 512;
  std::size_t resources_;
  double width_ = 1.0 / 64;
  std::vector<Interval> intervals_;
};

}  // namespace mansard::model::serve
