#include "model/kernel/footprint.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <vector>

#include "model/kernel/value_numbers.hpp"

namespace mansard::model::kernel {
namespace {

constexpr double kSamples = 200;
constexpr double kMostWork = 400'000;  ///< Samples times families; fewer samples of more families.
constexpr int kVisits = 2000;          ///< Index tuples that one search looks at.

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
  std::int64_t object = 0;  ///< What the addresses lie in.
  bool dense = false;       ///< Every unit between the lowest and the highest lane is touched.
};

/// The part of an object that was seen to be touched, and what of it is thought distinct.
struct Extent {
  std::int64_t low = 0;
  std::int64_t high = 0;
  double distinct = 0;     ///< Bytes of different units, of accesses that were sampled.
  double skipped = 0;      ///< Bytes that the others touch.
  bool stood_for = false;  ///< Some blocks were counted by others.
};

class Estimator {
 public:
  Estimator(const Counts& counts, const Window& window, std::int64_t unit)
      : counts_(counts), window_(window), unit_(unit) {
    std::set<std::array<std::int64_t, 3>> sampled;
    for (const Touch& touch : counts.touches) {
      if (touch.represents > 1 && inside(touch.origin)) {
        sampled.insert(touch.origin);
      }
    }
    double volume = 1;
    for (const std::int64_t side : window.extent) {
      volume *= static_cast<double>(side);
    }
    stands_for_ = sampled.empty() ? 1 : std::max(1.0, volume / static_cast<double>(sampled.size()));
  }

  void add(const Touch& touch) {
    Family family{.anchor = touch.address,
                  .pattern = &counts_.patterns.at(touch.pattern),
                  .repeats = touch.weight,
                  .represents = std::min(touch.represents, stands_for_),
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
      due += std::min(kSamples, kMostWork / static_cast<double>(families_.size())) * weight / total;
      const int samples = std::max(families_.size() <= 100   ? 3
                                   : families_.size() <= 400 ? 1
                                                             : 0,
                                   static_cast<int>(due));
      due -= std::min(due, static_cast<double>(samples));
      Extent& extent = extended(family);
      if (samples == 0) {
        extent.skipped += touched;
        continue;
      }
      const double share = sample(family, samples);
      extent.distinct += touched * share;
      sampled_ += touched;
      sampled_distinct_ += touched * share;
    }
    for (const auto& [object, extent] : extents_) {
      result.distinct += distinct(extent);
    }
    return result;
  }

 private:
  [[nodiscard]] bool inside(const std::array<std::int64_t, 3>& block) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t at = block[axis] - window_.origin[axis];
      if (at < 0 || at >= window_.extent[axis]) {
        return false;
      }
    }
    return true;
  }

  Extent& extended(const Family& family) {
    const std::int64_t low = family.anchor + family.low;
    const std::int64_t high = low + family.reach.front();
    Extent& extent = extents_.try_emplace(family.object, Extent{low, high}).first->second;
    extent.low = std::min(extent.low, low);
    extent.high = std::max(extent.high, high);
    extent.stood_for = extent.stood_for || family.represents > 1;
    return extent;
  }

  /// Where blocks stand for others, whether those touch the same or more is not known: no more than
  /// the whole of what was touched from end to end.
  [[nodiscard]] double distinct(const Extent& extent) const {
    const double skipped = sampled_ > 0 ? extent.skipped * sampled_distinct_ / sampled_ : 0;
    const double bytes = extent.distinct + skipped;
    return extent.stood_for ? std::min(bytes, static_cast<double>(extent.high - extent.low))
                            : bytes;
  }

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
    family.object = family.anchor >> ir::kObjectBits;
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
  double stands_for_ = 1;  ///< Blocks of the window that one sampled block stands for.
  std::vector<Family> families_;
  std::map<std::int64_t, Extent> extents_;  ///< By object.
  std::uint64_t state_ = 1;
  double sampled_ = 0;
  double sampled_distinct_ = 0;
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
