#include "model/kernel/counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace mansard::model::kernel {
namespace {

using ir::MemorySpace;

/// A kernel is counted exactly if that takes this many steps (a microsecond or less each) ...
constexpr std::int64_t kExactSteps = 2'500'000;
/// ... as far as is known after this many; else by sampled blocks, for which these remain.
constexpr std::int64_t kTrialSteps = 100'000;
constexpr std::int64_t kSampleSteps = 500'000;
constexpr std::int64_t kMostSteps = 6'000'000;
constexpr double kGoldenRatio = 0.6180339887498949;

struct Box {
  std::array<std::int64_t, 3> origin{};
  std::array<std::int64_t, 3> extent{1, 1, 1};

  [[nodiscard]] double volume() const {
    return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) *
           static_cast<double>(extent[2]);
  }
};

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  return (a % b + b) % b;
}

/// How often an address lies at each phase of a sector, over strides.
class Phases {
 public:
  explicit Phases(std::int64_t address) {
    share_[static_cast<std::size_t>(modulo(address, kSectorBytes))] = 1;
  }

  void along(std::int64_t bytes, std::int64_t count) {
    const std::int64_t step = modulo(bytes, kSectorBytes);
    if (step == 0 || count == 1) {
      scale_ *= static_cast<double>(count);
      return;
    }
    std::array<double, kSectorBytes> times{};
    const std::int64_t whole = count / kSectorBytes;
    for (std::int64_t j = 0; j < kSectorBytes; ++j) {
      const double here = static_cast<double>(whole + (j < count % kSectorBytes ? 1 : 0));
      times[static_cast<std::size_t>(modulo(step * j, kSectorBytes))] += here;
    }
    std::array<double, kSectorBytes> next{};
    for (std::size_t a = 0; a < kSectorBytes; ++a) {
      for (std::size_t b = 0; b < kSectorBytes && share_[a] != 0; ++b) {
        next[(a + b) % kSectorBytes] += share_[a] * times[b];
      }
    }
    share_ = next;
  }

  [[nodiscard]] double sum(const std::array<float, kSectorBytes>& values) const {
    double total = 0;
    for (std::size_t p = 0; p < kSectorBytes; ++p) {
      total += share_[p] * static_cast<double>(values[p]);
    }
    return total * scale_;
  }
  [[nodiscard]] double total() const {
    double total = 0;
    for (const double each : share_) {
      total += each;
    }
    return total * scale_;
  }

 private:
  std::array<double, kSectorBytes> share_{};
  double scale_ = 1;
};

class Counter {
 public:
  Counter(const ir::Kernel& kernel, const ir::KernelFlow& flow, const Launch& launch)
      : kernel_(kernel),
        launch_(launch),
        walk_(kernel, flow, launch, counts_.patterns, counts_.findings) {
    counts_.warp.resize(kernel.instructions.size());
    counts_.thread.resize(kernel.instructions.size());
    counts_.accesses.resize(kernel.accesses.size());
    for (std::size_t i = 0; i < kernel.accesses.size(); ++i) {
      counts_.accesses[i].space = kernel.accesses[i].space;
    }
    block_warps_.resize(kernel.blocks.size());
    block_threads_.resize(kernel.blocks.size());
    counts_.warps_per_block = static_cast<double>((launch.threads() + kLanes - 1) / kLanes);
  }

  Counts run() {
    std::vector<Box> left{{.extent = launch_.grid}};
    while (!left.empty() && !too_long()) {
      const Box box = left.back();
      left.pop_back();
      ++counts_.boxes;
      walk_.allow(kMostSteps);
      const Box done = walk(box, 1);
      covered_ += done.volume();
      remainders(box, done, left);
    }
    if (!left.empty()) {
      sample(left);
    }
    spread_blocks();
    counts_.steps = walk_.steps();
    return std::move(counts_);
  }

 private:
  /// True if walking the rest at the pace so far would take too many steps.
  [[nodiscard]] bool too_long() const {
    const double share = covered_ / static_cast<double>(launch_.blocks());
    return walk_.steps() > kTrialSteps &&
           static_cast<double>(walk_.steps()) > share * static_cast<double>(kExactSteps);
  }

  /// Walks the warps of the first block of `box`; the box of blocks that take the same path.
  Box walk(const Box& box, double weight) {
    Domain domain;
    std::copy(box.extent.begin(), box.extent.end(), domain.extent.begin());
    std::vector<Log> logs(static_cast<std::size_t>(counts_.warps_per_block));
    for (std::uint32_t warp = 0; warp < logs.size(); ++warp) {
      walk_.run(box.origin, warp, domain, logs[warp]);
    }
    Box done{.origin = box.origin};
    std::copy_n(domain.extent.begin(), 3, done.extent.begin());
    for (std::uint32_t warp = 0; warp < logs.size(); ++warp) {
      tally(logs[warp], done, warp, weight);
    }
    return done;
  }

  static void remainders(const Box& box, const Box& done, std::vector<Box>& left) {
    Box rest = box;
    for (const std::size_t axis : {2U, 1U, 0U}) {
      if (done.extent[axis] < rest.extent[axis]) {
        Box beyond = rest;
        beyond.origin[axis] += done.extent[axis];
        beyond.extent[axis] -= done.extent[axis];
        left.push_back(beyond);
      }
      rest.extent[axis] = done.extent[axis];
    }
  }

  /// Blocks spread evenly over what is left stand for all of it; off the even places by multiples
  /// of the golden ratio, so that no period of the kernel agrees with theirs.
  void sample(const std::vector<Box>& left) {
    double volume = 0;
    for (const Box& box : left) {
      volume += box.volume();
    }
    const std::int64_t wanted =
        kSampleSteps * counts_.boxes / std::max<std::int64_t>(1, walk_.steps());
    const std::int64_t samples =
        std::min(std::clamp<std::int64_t>(wanted, 24, 400), static_cast<std::int64_t>(volume));
    counts_.sampled_blocks = static_cast<double>(samples);
    counts_.represented_blocks = volume;
    for (std::int64_t i = 0; i < samples; ++i) {
      const double jitter = std::fmod(static_cast<double>(i) * kGoldenRatio, 1.0);
      double at = (static_cast<double>(i) + jitter) * volume / static_cast<double>(samples);
      walk_.allow(walk_.steps() + kMostSteps / samples);
      for (const Box& box : left) {
        if (at >= box.volume()) {
          at -= box.volume();
          continue;
        }
        auto index = static_cast<std::int64_t>(at);
        Box one{.origin = box.origin};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          one.origin[axis] += index % box.extent[axis];
          index /= box.extent[axis];
        }
        walk(one, volume / static_cast<double>(samples));
        break;
      }
    }
  }

  void tally(const Log& log, const Box& box, std::uint32_t warp, double weight) {
    const double volume = box.volume() * weight;
    for (const RunEvent& run : log.runs) {
      const double times = run.weight * volume;
      if (run.guarded) {
        counts_.thread[run.id] += times * run.lanes * run.active;
      } else {
        block_warps_[run.id] += times;
        block_threads_[run.id] += times * run.lanes * run.active;
      }
    }
    for (const AccessEvent& event : log.accesses) {
      tally(event, box, warp, weight);
    }
  }

  void tally(const AccessEvent& event, const Box& box, std::uint32_t warp, double weight) {
    const PatternTable::Costs& costs = counts_.patterns.costs(event.pattern);
    const LanePattern& pattern = counts_.patterns.at(event.pattern);
    Phases phases(event.address);
    for (const Stride& stride : event.strides) {
      phases.along(stride.bytes, stride.count);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      phases.along(event.coef[axis], box.extent[axis]);
    }
    const double times = event.weight * weight;
    AccessCounts& to = counts_.accesses[event.access];
    to.space = event.space;
    const double requests = phases.total() * times;
    to.requests += requests;
    const double lanes = costs.lanes * event.active;
    to.lanes += requests * lanes;
    to.serial += requests * static_cast<double>(costs.contention);
    to.lines += requests * static_cast<double>(costs.lines[static_cast<std::size_t>(
                               modulo(event.address, kLineBytes) / kSectorBytes)]);
    if (event.bulk_bytes > 0) {
      to.bytes += requests * event.bulk_bytes;
      to.sectors += requests * event.bulk_bytes / kSectorBytes;
    } else {
      to.bytes += requests * lanes * pattern.bytes;
      to.sectors += phases.sum(costs.sectors) * times * (pattern.known ? 1 : event.active);
      to.wavefronts += phases.sum(costs.wavefronts) * times;
      to.ideal += phases.sum(costs.ideal) * times;
    }
    if (event.space == MemorySpace::kGlobal) {
      Touch touch{.access = event.access,
                  .pattern = event.pattern,
                  .warp = warp,
                  .address = event.address,
                  .origin = box.origin,
                  .strides = event.strides,
                  .weight = event.weight,
                  .represents = weight,
                  .bulk_bytes = event.bulk_bytes};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        touch.blocks[axis] = {event.coef[axis], box.extent[axis]};
      }
      counts_.touches.push_back(std::move(touch));
    }
  }

  void spread_blocks() {
    for (std::size_t b = 0; b < kernel_.blocks.size(); ++b) {
      const ir::KernelBlock& block = kernel_.blocks[b];
      for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
        counts_.warp[i] = block_warps_[b];
        if (kernel_.instructions[i].guard == ir::kNothing) {
          counts_.thread[i] = block_threads_[b];
        }
      }
    }
  }

  const ir::Kernel& kernel_;
  const Launch& launch_;
  Counts counts_;
  Walk walk_;
  double covered_ = 0;  ///< Blocks.
  std::vector<double> block_warps_;
  std::vector<double> block_threads_;
};

}  // namespace

Counts count(const ir::Kernel& kernel, const ir::KernelFlow& flow, const Launch& launch) {
  return Counter(kernel, flow, launch).run();
}

}  // namespace mansard::model::kernel
