#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "validate/measure/statistics.hpp"

namespace mansard::measure {

using Seconds = std::chrono::duration<double>;
/// Time since any fixed point; replaced in tests.
using Clock = std::function<Seconds()>;

[[nodiscard]] Seconds steady_now();

/// When to stop taking trials.
struct StopCriterion {
  /// Trials queued together, without a wait of the host between them.
  int batch = 7;
  int most_trials = 63;
  /// Relative standard error of the median that is small enough.
  double spread = 0.002;
  /// No batch begins after this much time, but the first always runs.
  Seconds limit{0.5};
};

/// Runs batches until the median has settled, the trials are used up or the time is. `run_batch(n)`
/// times n trials.
[[nodiscard]] std::vector<double> take_trials(
    const StopCriterion& stop, const std::function<std::vector<double>(int)>& run_batch,
    const Clock& now = steady_now);

/// Time that a whole run may take, dealt out to what is left to do.
class Budget {
 public:
  /// Zero: no limit.
  explicit Budget(Seconds total, Clock now = steady_now);

  [[nodiscard]] Seconds used() const { return now_() - start_; }
  [[nodiscard]] Seconds left() const;
  [[nodiscard]] bool spent() const { return left() <= Seconds(0); }
  /// What one of `items` equal parts of the rest may take, within [0.02 s, most].
  [[nodiscard]] Seconds share(int items, Seconds most) const;

 private:
  Seconds total_;
  Clock now_;
  Seconds start_;
};

/// Calls to record in one graph so that a replay lasts about `target`, at least one and at most
/// `most`.
[[nodiscard]] int calls_per_replay(Seconds one_call, Seconds target, int most);

/// Copies of the operands to rotate through so that `bytes` come from beyond a cache of
/// `cache_bytes`: together they span three times the cache; at least one and at most `most`.
[[nodiscard]] int rotation_sets(double bytes, double cache_bytes, int most);

}  // namespace mansard::measure
