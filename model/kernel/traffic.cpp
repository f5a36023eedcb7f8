#include "model/kernel/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace mansard::model::kernel {
namespace {

constexpr std::int64_t kDramUnit = 64;  ///< Two sectors: strided reads of an H200 move that much.
constexpr double kL1Default = 128.0 * 1024;
/// Of the L2, that dirty lines take before they are written back: 17 to 25 MB of 60 MiB were
/// missing from the DRAM write counters of kernels that write more.
constexpr double kDirtyShare = 0.3;

bool reads(const ir::KernelAccess& access) {
  return access.kind == ir::AccessKind::kLoad || access.kind == ir::AccessKind::kAsyncCopy ||
         (access.kind == ir::AccessKind::kBulkCopy && access.type == "load") ||
         access.kind == ir::AccessKind::kAtomic || access.kind == ir::AccessKind::kReduction;
}
bool writes(const ir::KernelAccess& access) {
  return access.kind == ir::AccessKind::kStore ||
         (access.kind == ir::AccessKind::kBulkCopy && access.type == "store") ||
         access.kind == ir::AccessKind::kAtomic || access.kind == ir::AccessKind::kReduction;
}

/// `blocks` consecutive blocks in the middle of the grid, as a box.
Window middle(const Launch& launch, double blocks) {
  Window window{.extent = launch.grid};
  double left = std::max(1.0, blocks);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto side = static_cast<double>(launch.grid[axis]);
    const double taken = std::clamp(std::round(left), 1.0, side);
    window.extent[axis] = static_cast<std::int64_t>(taken);
    window.origin[axis] = (launch.grid[axis] - window.extent[axis]) / 2;
    left = left / side;
  }
  return window;
}

class TrafficModel {
 public:
  TrafficModel(const ir::Kernel& kernel, const ir::KernelFlow& flow, const Counts& counts,
               const Launch& launch, const Occupancy& occupancy, const hardware::Machine& machine)
      : kernel_(kernel),
        flow_(flow),
        counts_(counts),
        launch_(launch),
        occupancy_(occupancy),
        machine_(machine) {
    block_of_.resize(kernel.instructions.size());
    for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
      for (std::uint32_t i = kernel.blocks[b].first;
           i < kernel.blocks[b].first + kernel.blocks[b].count; ++i) {
        block_of_[i] = b;
      }
    }
  }

  Traffic run(const Totals& totals) {
    Traffic t;
    level_two(t, totals);
    device_memory(t);
    return t;
  }

 private:
  [[nodiscard]] Footprint of(const Window& window, std::int64_t unit, bool reading) const {
    return footprint(counts_, window, unit, [&](std::uint32_t a) {
      return reading ? reads(kernel_.accesses[a]) : writes(kernel_.accesses[a]);
    });
  }

  /// A block in the middle of the grid, of those that were walked if blocks were sampled.
  [[nodiscard]] Window one_block() const {
    Window best = middle(launch_, 1);
    if (counts_.sampled_blocks == 0) {
      return best;
    }
    const auto distance = [&](const std::array<std::int64_t, 3>& block) {
      double away = 0;
      for (std::size_t axis = 3; axis-- > 0;) {
        away = away * static_cast<double>(launch_.grid[axis]) +
               static_cast<double>(block[axis] - launch_.grid[axis] / 2);
      }
      return std::abs(away);
    };
    const Touch* nearest = nullptr;
    for (const Touch& each : counts_.touches) {
      const bool closer = nearest == nullptr || distance(each.origin) < distance(nearest->origin);
      nearest = closer && reads(kernel_.accesses[each.access]) ? &each : nearest;
    }
    if (nearest != nullptr) {
      best.origin = nearest->origin;
    }
    return best;
  }

  [[nodiscard]] std::uint32_t loop_of(std::uint32_t access) const {
    const std::uint32_t block = block_of_[kernel_.accesses[access].instruction];
    std::uint32_t loop = flow_.loop_of[block];
    return loop;
  }

  /// Reuse within one loop is near and hits in L1; reuse between loops is as far as what the
  /// resident blocks read in between, and hits as far as L1 is larger.
  void level_two(Traffic& t, const Totals& totals) {
    const Window block = one_block();
    const double blocks = static_cast<double>(launch_.blocks());
    std::map<std::uint32_t, double> by_loop;
    std::map<std::uint32_t, bool> seen;
    for (std::uint32_t a = 0; a < kernel_.accesses.size(); ++a) {
      if (reads(kernel_.accesses[a]) && counts_.accesses[a].space == ir::MemorySpace::kGlobal) {
        seen[loop_of(a)] = true;
      }
    }
    double sum = 0;
    for (const auto& [loop, any] : seen) {
      const std::uint32_t here = loop;
      by_loop[loop] = footprint(counts_, block, kSectorBytes, [&](std::uint32_t a) {
                        return reads(kernel_.accesses[a]) && loop_of(a) == here;
                      }).distinct;
      sum += by_loop[loop];
    }
    t.block_footprint = seen.size() > 1 ? of(block, kSectorBytes, true).distinct : sum;
    const double carve = machine_.known("shared.unified").value_or(kL1Default);
    const double shared =
        static_cast<double>(occupancy_.blocks_per_sm) *
        static_cast<double>(kernel_.static_shared + launch_.dynamic_shared + 1024);
    const double cache = std::max(16.0 * 1024, carve - shared);
    const double resident = t.block_footprint * static_cast<double>(occupancy_.blocks_per_sm);
    const double hits = std::clamp(1 - resident / cache, 0.0, 1.0);
    const double again = (sum - t.block_footprint) * (1 - hits);
    const double per_block = t.block_footprint + again;
    read_again_ = again * blocks;
    const double requested = (totals.global_load.sectors + totals.atomics.sectors) * kSectorBytes;
    t.l2_read = std::min(requested, per_block * blocks);
    t.l2_write = (totals.global_store.sectors + totals.atomics.sectors) * kSectorBytes;
  }

  /// Of `blocks` blocks in the middle of the grid; of more, where sampled blocks lie further apart:
  /// then what so many of them touch at the least, the footprint of all in proportion.
  [[nodiscard]] double wave_footprint(double blocks) const {
    constexpr double kFewest = 8;
    const double all = static_cast<double>(launch_.blocks());
    const double wanted =
        counts_.sampled_blocks > 0 ? std::min(all, kFewest * all / counts_.sampled_blocks) : 0;
    if (wanted <= blocks) {
      return of(middle(launch_, blocks), kDramUnit, true).distinct;
    }
    return of(middle(launch_, wanted), kDramUnit, true).distinct * blocks / wanted;
  }

  /// Compulsory misses; and where what a wave reads exceeds what the L2 keeps, each wave reads
  /// anew. A chip of two partitions holds what all SMs read twice.
  void device_memory(Traffic& t) {
    const Window grid{.extent = launch_.grid};
    t.read_footprint = of(grid, kDramUnit, true).distinct;
    t.write_footprint = of(grid, kSectorBytes, false).distinct;
    const hardware::Tier* cache = machine_.last_level();
    const double capacity =
        cache == nullptr ? 0 : machine_.known(cache->name + ".capacity").value_or(0);
    const double partitions =
        cache == nullptr ? 1 : machine_.known(cache->name + ".partitions").value_or(1);
    const double sms = machine_.known("sm_count").value_or(1);
    const double in_wave = static_cast<double>(occupancy_.blocks_per_sm) * sms;
    const double waves = std::max(1.0, static_cast<double>(launch_.blocks()) / in_wave);
    t.wave_footprint = waves > 1 ? wave_footprint(in_wave) : t.read_footprint;
    t.dram_read = t.read_footprint;
    if (t.wave_footprint > capacity / partitions && waves > 1) {
      t.dram_read = std::clamp(t.wave_footprint * waves, t.read_footprint,
                               std::max(t.read_footprint, t.l2_read));
    }
    t.dram_read += read_again_ * lost(t.wave_footprint, capacity);
    t.dram_write = std::max(0.0, t.write_footprint - kDirtyShare * capacity);
    t.fits_l2 = t.read_footprint + t.write_footprint <= capacity / partitions;
  }

  /// Of what resident blocks read in turn over and over, the share that a cache does not keep: none
  /// where it fits twice, all where it does not fit once, since what is read next was used longest
  /// ago.
  [[nodiscard]] static double lost(double bytes, double capacity) {
    return capacity > 0 ? std::clamp(2 * bytes / capacity - 1, 0.0, 1.0) : 1.0;
  }

  const ir::Kernel& kernel_;
  const ir::KernelFlow& flow_;
  const Counts& counts_;
  const Launch& launch_;
  const Occupancy& occupancy_;
  const hardware::Machine& machine_;
  std::vector<std::uint32_t> block_of_;
  double read_again_ = 0;  ///< Bytes that loops read anew and L1 has lost.
};

}  // namespace

Traffic traffic(const ir::Kernel& kernel, const ir::KernelFlow& flow, const Counts& counts,
                const Totals& totals, const Launch& launch, const Occupancy& occupancy,
                const hardware::Machine& machine) {
  return TrafficModel(kernel, flow, counts, launch, occupancy, machine).run(totals);
}

}  // namespace mansard::model::kernel
