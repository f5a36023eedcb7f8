#include "validate/measure/protocol.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mansard::measure {

Seconds steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::vector<double> take_trials(const StopCriterion& stop,
                                const std::function<std::vector<double>(int)>& run_batch,
                                const Clock& now) {
  const Seconds start = now();
  std::vector<double> samples;
  do {
    const std::vector<double> batch = run_batch(stop.batch);
    samples.insert(samples.end(), batch.begin(), batch.end());
  } while (relative_error_of_median(samples) > stop.spread &&
           std::ssize(samples) + stop.batch <= stop.most_trials && now() - start < stop.limit);
  return samples;
}

Budget::Budget(Seconds total, Clock now) : total_(total), now_(std::move(now)), start_(now_()) {}

Seconds Budget::left() const {
  constexpr Seconds kUnlimited{1e9};
  return total_ == Seconds(0) ? kUnlimited : total_ - used();
}

Seconds Budget::share(int items, Seconds most) const {
  constexpr Seconds kLeast{0.02};
  return std::clamp(left() / std::max(items, 1), kLeast, most);
}

int calls_per_replay(Seconds one_call, Seconds target, int most) {
  const double calls = std::ceil(target / std::max(one_call, Seconds(1e-9)));
  return static_cast<int>(std::clamp(calls, 1.0, static_cast<double>(most)));
}

int rotation_sets(double bytes, double cache_bytes, int most) {
  constexpr double kSpan = 3;
  const double sets = std::ceil(kSpan * cache_bytes / std::max(bytes, 1.0));
  return static_cast<int>(std::clamp(sets, 1.0, static_cast<double>(most)));
}

}  // namespace mansard::measure
