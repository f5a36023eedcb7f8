#include "model/serve/timeline.hpp"

#include <algorithm>

namespace mansard::model::serve {

void Timeline::Interval::add(const Interval& other) {
  seconds += other.seconds;
  running += other.running;
  waiting += other.waiting;
  kv_used += other.kv_used;
  iterations += other.iterations;
  sequences += other.sequences;
  tokens += other.tokens;
  output_tokens += other.output_tokens;
  preemptions += other.preemptions;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    busy[i] += other.busy[i];
  }
}

Timeline::Interval& Timeline::at(double time) {
  while (time >= width_ * static_cast<double>(kMost)) {
    merge();
  }
  const auto place = static_cast<std::size_t>(std::max(time, 0.0) / width_);
  while (intervals_.size() <= place) {
    intervals_.emplace_back().busy.resize(resources_);
  }
  return intervals_[place];
}

void Timeline::hold(double from, double to, const State& state) {
  if (to <= from) {
    return;
  }
  static_cast<void>(at(to));  // widens first, so that the parts below are not merged in between
  while (from < to) {
    const double place =
        std::max(0.0, static_cast<double>(static_cast<std::size_t>(from / width_)));
    double end = std::min(to, (place + 1) * width_);
    end = end > from ? end : to;
    Interval& interval = at(from);
    const double seconds = end - from;
    interval.seconds += seconds;
    interval.running += state.running * seconds;
    interval.waiting += state.waiting * seconds;
    interval.kv_used += state.kv_used * seconds;
    from = end;
  }
}

void Timeline::merge() {
  for (std::size_t i = 0; i + 1 < intervals_.size(); i += 2) {
    intervals_[i].add(intervals_[i + 1]);
    if (i > 0) {
      intervals_[i / 2] = std::move(intervals_[i]);
    }
  }
  if (intervals_.size() % 2 == 1 && intervals_.size() > 1) {
    intervals_[intervals_.size() / 2] = std::move(intervals_.back());
  }
  intervals_.resize((intervals_.size() + 1) / 2);
  width_ *= 2;
}

}  // namespace mansard::model::serve
