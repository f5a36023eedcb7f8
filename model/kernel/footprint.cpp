#include "model/kernel/footprint.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

namespace mansard::model::kernel {
namespace {

constexpr double kSamples = 200;
constexpr int kVisits = 2000;  ///< Index tuples that one search looks at.

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && a < 0 ? q - 1 : q;
}

/// The requests of one touch: anchor + sum of strides, all of them upward, the widest first.
struct Family {
  std::int64_t anchor = 0;
  std::vector<Stride> strides;
  std::vector<std::int64_t>
      reach;  ///< From stride i on: the furthest that the rest goes, span included.
  const LanePattern* pattern = nullptr;
  std::int64_t low = 0;   ///< Of lane offsets.
  std::int64_t span = 0;  ///< Bytes from the lowest lane to the end of the highest.
  double repeats = 1;     ///< Requests at each address.
  double represents = 1;
  double requests = 1;
  double units = 1;  ///< Of one request.
  double bulk = 0;
  bool dense = false;  ///< Every unit between the lowest and the highest lane is touched.
};

class Estimator {
 public:
  Estimator(const Counts& counts, const Window& window, std::int64_t unit)
      : counts_(counts), window_(window), unit_(unit) {}

  void add(const Touch& touch) {
    Family family{.anchor = touch.address,
                  .pattern = &counts_.patterns.at(touch.pattern),
                  .repeats = touch.weight,
                  .represents = touch.represents,
                  .bulk = touch.bulk_bytes};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t from = std::max(touch.origin[axis], window_.origin[axis]);
      const std::int64_t to = std::min(touch.origin[axis] + touch.blocks[axis].count,
                                       window_.origin[axis] + window_.extent[axis]);
      if (from >= to) {
        return;
      }
      family.anchor += (from - touch.origin[axis]) * touch.blocks[axis].bytes;
      along(family, {touch.blocks[axis].bytes, to - from});
    }
    for (const Stride& stride : touch.strides) {
      along(family, stride);
    }
    finish(family);
  }

  Footprint estimate() {
    double total = 0;
    for (const Family& family : families_) {
      total += family.requests * family.repeats * family.represents;
    }
    Footprint result;
    double due = 0.5;
    for (const Family& family : families_) {
      const double weight = family.requests * family.repeats * family.represents;
      const double touched = weight * family.units * static_cast<double>(unit_);
      result.requested += touched;
      if (!family.pattern->known) {
        result.distinct += touched;
        continue;
      }
      due += kSamples * weight / total;
      const int samples = std::max(families_.size() <= 100   ? 3
                                   : families_.size() <= 400 ? 1
                                                             : 0,
                                   static_cast<int>(due));
      due -= std::min(due, static_cast<double>(samples));
      if (samples == 0) {
        skipped_ += touched;
        continue;
      }
      const double share = sample(family, samples);
      result.distinct += touched * share;
      sampled_ += touched;
      sampled_distinct_ += touched * share;
    }
    if (sampled_ > 0) {
      result.distinct += skipped_ * sampled_distinct_ / sampled_;
    }
    return result;
  }

 private:
  void along(Family& family, Stride stride) {
    if (stride.count <= 1) {
      return;
    }
    if (stride.bytes == 0) {
      family.repeats *= static_cast<double>(stride.count);
      return;
    }
    if (stride.bytes < 0) {
      family.anchor += stride.bytes * (stride.count - 1);
      stride.bytes = -stride.bytes;
    }
    family.requests *= static_cast<double>(stride.count);
    family.strides.push_back(stride);
  }

  void finish(Family& family) {
    std::sort(family.strides.begin(), family.strides.end(),
              [](const Stride& a, const Stride& b) { return a.bytes > b.bytes; });
    const LanePattern& pattern = *family.pattern;
    std::int64_t low = 0;
    std::int64_t high = 0;
    for (Mask rest = pattern.mask; rest != 0; rest &= rest - 1) {
      const std::int64_t offset = pattern.offset[static_cast<unsigned>(std::countr_zero(rest))];
      low = std::min(low, offset);
      high = std::max(high, offset);
    }
    family.low = low;
    family.span =
        high - low + std::max<std::int64_t>(pattern.bytes, static_cast<std::int64_t>(family.bulk));
    family.reach.assign(family.strides.size() + 1, family.span);
    for (std::size_t i = family.strides.size(); i-- > 0;) {
      family.reach[i] =
          family.reach[i + 1] + family.strides[i].bytes * (family.strides[i].count - 1);
    }
    const std::vector<std::int64_t> units = units_of(family, family.anchor);
    family.units = static_cast<double>(units.size());
    family.dense = pattern.known &&
                   units.back() - units.front() + 1 == static_cast<std::int64_t>(units.size());
    families_.push_back(family);
  }

  /// Units that a request at `address` touches.
  [[nodiscard]] std::vector<std::int64_t> units_of(const Family& family,
                                                   std::int64_t address) const {
    std::vector<std::int64_t> units;
    const LanePattern& pattern = *family.pattern;
    const auto bytes =
        std::max<std::int64_t>(pattern.bytes, static_cast<std::int64_t>(family.bulk));
    for (Mask rest = pattern.mask; rest != 0; rest &= rest - 1) {
      const std::int64_t lane = std::countr_zero(rest);
      const std::int64_t offset =
          pattern.known ? pattern.offset[static_cast<unsigned>(lane)] : lane * unit_;
      const std::int64_t last = floor_quotient(address + offset + bytes - 1, unit_);
      for (std::int64_t each = floor_quotient(address + offset, unit_); each <= last; ++each) {
        units.push_back(each);
      }
    }
    std::sort(units.begin(), units.end());
    units.erase(std::unique(units.begin(), units.end()), units.end());
    return units;
  }

  /// True if a lane touches the unit that begins `offset` bytes past the lowest lane.
  [[nodiscard]] bool covers(const Family& family, std::int64_t offset) const {
    const LanePattern& pattern = *family.pattern;
    const auto bytes =
        std::max<std::int64_t>(pattern.bytes, static_cast<std::int64_t>(family.bulk));
    for (Mask rest = pattern.mask; rest != 0; rest &= rest - 1) {
      const std::int64_t lane =
          pattern.offset[static_cast<unsigned>(std::countr_zero(rest))] - family.low;
      if (lane < offset + unit_ && lane + bytes > offset) {
        return true;
      }
    }
    return false;
  }

  std::uint64_t random() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return state_ >> 33U;
  }

  /// Mean of 1 / (how often a unit is touched) over units that the family touches.
  double sample(const Family& family, int samples) {
    double sum = 0;
    for (int i = 0; i < samples; ++i) {
      std::int64_t address = family.anchor;
      for (const Stride& stride : family.strides) {
        address += stride.bytes *
                   static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(stride.count));
      }
      const std::vector<std::int64_t> units = units_of(family, address);
      const std::int64_t unit = units[random() % units.size()];
      sum += 1 / std::max(1.0, times_touched(unit));
    }
    return sum / samples;
  }

  double times_touched(std::int64_t unit) {
    double times = 0;
    for (const Family& family : families_) {
      if (family.pattern->known) {
        visits_ = kVisits;
        times +=
            family.repeats * solutions(family, 0, unit * unit_ - family.anchor - family.low, unit);
      }
    }
    return times;
  }

  /// Index tuples of strides from `i` on whose request touches `unit`, which begins `offset` bytes
  /// past here.
  double solutions(const Family& family, std::size_t i, std::int64_t offset, std::int64_t unit) {
    if (offset >= family.reach[i] || offset + unit_ <= 0 || visits_-- <= 0) {
      return 0;
    }
    if (i == family.strides.size()) {
      return family.dense || covers(family, offset) ? 1 : 0;
    }
    const Stride& stride = family.strides[i];
    const std::int64_t first =
        std::max<std::int64_t>(0, floor_quotient(offset - family.reach[i + 1], stride.bytes));
    const std::int64_t last =
        std::min(stride.count - 1, floor_quotient(offset + unit_ - 1, stride.bytes));
    double count = 0;
    for (std::int64_t x = first; x <= last && visits_ > 0; ++x) {
      count += solutions(family, i + 1, offset - x * stride.bytes, unit);
    }
    return count;
  }

  const Counts& counts_;
  Window window_;
  std::int64_t unit_;
  std::vector<Family> families_;
  std::uint64_t state_ = 1;
  double sampled_ = 0;
  double sampled_distinct_ = 0;
  double skipped_ = 0;
  int visits_ = 0;
};

}  // namespace

Footprint footprint(const Counts& counts, const Window& window, std::int64_t unit,
                    const std::function<bool(std::uint32_t access)>& chosen) {
  Estimator estimator(counts, window, unit);
  for (const Touch& touch : counts.touches) {
    if (chosen(touch.access)) {
      estimator.add(touch);
    }
  }
  return estimator.estimate();
}

}  // namespace mansard::model::kernel
