#pragma once

#include <chrono>
#include <cstdint>

namespace mansard::cli {

/// A line on standard error that says how far a sweep is, how fast and how long it will take; only
/// where a person sees it.
class Progress {
 public:
  explicit Progress(double points);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void operator()(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;
  double points_;
  bool visible_;
  bool written_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
};

}  // namespace mansard::cli
