#include <algorithm>
#include <cmath>
#include <string>

#include "model/kernel/analysis.hpp"
#include "model/kernel/chain.hpp"

namespace mansard::model::kernel {
namespace {

using ir::Pipe;

/// Shares of the peak that a good kernel reaches; each is what microbenchmarks of this class of
/// chips sustain.
constexpr double kIssueUse = 0.95;   ///< Of one instruction per scheduler and cycle.
constexpr double kL1Use = 0.8;       ///< Of one tag lookup per SM and cycle.
constexpr double kL2Use = 0.92;      ///< Of the bandwidth measured at small footprints.
constexpr double kTensorUse = 0.85;  ///< Of the dense rate.
constexpr double kDramUse = 0.9;     ///< Of the datasheet's bandwidth, where none was measured.
/// Launching the blocks of a kernel, and waiting for the last: an empty kernel takes 1.5 us on an
/// H200.
constexpr double kRamp = 1.5e-6;
/// Cycles from a block's end to the first instruction of the next in its place.
constexpr double kTurnover = 600;

class Times {
 public:
  Times(const ir::Kernel& kernel, const Counts& counts, const hardware::Machine& machine,
        Report& report)
      : kernel_(kernel),
        counts_(counts),
        machine_(machine),
        report_(report),
        clock_(machine.known("clock.max").value_or(1e9)),
        sms_(machine.known("sm_count").value_or(1)) {}

  void run() {
    const double blocks = static_cast<double>(report_.launch.blocks());
    busiest_ = std::ceil(blocks / sms_) * sms_ / blocks;
    used_sms_ = std::min(sms_, blocks);
    issue();
    pipes();
    tensor();
    memory_pipes();
    level_two();
    device_memory();
    latency();
    combine();
    roofline();
  }

 private:
  /// A resource of each SM: `demand` cycles of all SMs together.
  void per_sm(const std::string& name, double cycles, double use, bool certain) {
    if (cycles > 0) {
      const double seconds = cycles / sms_ / clock_;
      report_.terms.push_back({name, certain ? seconds : 0, seconds / use * busiest_});
    }
  }

  void issue() {
    const double schedulers = machine_.known("scheduler.per_sm").value_or(4);
    per_sm("issue", report_.totals.warp_instructions / schedulers, kIssueUse, false);
    report_.instruction_ceiling = schedulers * sms_ * clock_;
  }

  void pipes() {
    const auto& pipes = report_.totals.pipes;
    const auto lanes = [&](const char* path, double otherwise) {
      const auto rate = machine_.known(path);
      return rate ? *rate / kLanes : otherwise;
    };
    const double fp32 = flops_per_clock("vector.fp32", 128) / 2 / kLanes;
    const double fp64 = flops_per_clock("vector.fp64", 64) / 2 / kLanes;
    const double integers = lanes("integer.per_sm", 2);
    per_sm("fma", pipes[static_cast<std::size_t>(Pipe::kFma)] / fp32, 0.95, false);
    per_sm("alu", pipes[static_cast<std::size_t>(Pipe::kAlu)] / integers, 0.95, false);
    per_sm("xu", report_.totals.special / kLanes / lanes("special.per_sm", 0.5), 0.95, false);
    per_sm("fp64", pipes[static_cast<std::size_t>(Pipe::kFp64)] / fp64, 0.95, false);
    vector_bound("vector.fp32", report_.totals.flops_fp32);
    vector_bound("vector.fp64", report_.totals.flops_fp64);
  }

  [[nodiscard]] double flops_per_clock(const char* path, double otherwise) const {
    const auto rate = machine_.known(path);
    const auto clock = machine_.known("clock.max");
    return rate && clock ? *rate / *clock / sms_ : otherwise * 2;
  }

  /// FLOP over the peak: certain, and never what a good estimate is made of.
  void vector_bound(const char* path, double flops) {
    const auto rate = machine_.known(path);
    if (rate && flops > 0) {
      report_.terms.push_back({path, flops / *rate * 0.97, 0});
    }
  }

  void tensor() {
    for (const auto& [type, flops] : report_.totals.tensor_by_type) {
      auto rate = machine_.known("matrix." + type);
      if (!rate) {
        rate = machine_.known("matrix.fp16");
      }
      if (rate) {
        const double tensor_clock = machine_.known("clock.tensor").value_or(clock_);
        const double seconds = flops / *rate;
        report_.terms.push_back(
            {"matrix." + type, seconds * tensor_clock / clock_, seconds / kTensorUse * busiest_});
      }
    }
  }

  void memory_pipes() {
    const Totals& t = report_.totals;
    per_sm("l1", t.l1_lines, kL1Use, false);
    per_sm("shared", t.shared_load.wavefronts + t.shared_store.wavefronts, 0.98, true);
    // One L2 slice repeats an atomic operation on one address once a clock or so.
    if (t.atomic_serial > 0) {
      const double hot = t.atomics.sectors > 0 ? t.atomic_serial / kLanes : 0;
      report_.terms.push_back({"atomics", 0, hot / clock_});
    }
  }

  void level_two() {
    const hardware::Tier* cache = machine_.last_level();
    if (cache == nullptr) {
      return;
    }
    auto bandwidth = machine_.known(cache->name + ".measured_bandwidth");
    if (!bandwidth) {
      bandwidth = machine_.known(cache->name + ".bandwidth");
    }
    const double assumed = sms_ * 64 * clock_;  // a port of 64 bytes a clock to each SM
    const double rate = std::min(bandwidth.value_or(assumed), assumed) * kL2Use;
    report_.terms.push_back(
        {cache->name, 0,
         (report_.traffic.l2_read + report_.traffic.l2_write) / rate * sms_ / used_sms_});
  }

  void device_memory() {
    const std::string& main = machine_.main().name;
    const double peak = machine_.known(main + ".bandwidth").value_or(1e12);
    const double sustained = machine_.known(main + ".measured_bandwidth").value_or(peak * kDramUse);
    const hardware::Tier* cache = machine_.last_level();
    const double capacity =
        cache == nullptr ? 0 : machine_.known(cache->name + ".capacity").value_or(0);
    const Traffic& t = report_.traffic;
    const double certain = t.read_footprint + t.write_footprint > capacity &&
                                   counts_.findings.unknown_addresses.empty()
                               ? std::max(0.0, t.read_footprint + t.write_footprint - capacity)
                               : 0;
    double bytes = t.fits_l2 ? 0 : t.dram_read + t.write_footprint;
    report_.terms.push_back({main, certain / peak, bytes / sustained});
    dram_share_ = t.fits_l2 || t.l2_read == 0 ? 0 : std::min(1.0, t.dram_read / t.l2_read);
  }

  /// Warps that wait: each slot of an SM runs its warps one after the other.
  void latency() {
    const double cycles = clock_;
    const auto clocks = [&](const std::string& path, double otherwise) {
      const auto seconds = machine_.known(path);
      return seconds ? *seconds * cycles : otherwise;
    };
    LoadLatency latency;
    latency.l1 = clocks("shared.l1_latency", latency.l1);
    latency.shared = clocks("shared.latency", latency.shared);
    const hardware::Tier* cache = machine_.last_level();
    latency.l2 = cache == nullptr ? latency.l2 : clocks(cache->name + ".latency", latency.l2);
    latency.dram = clocks(machine_.main().name + ".latency", latency.dram);
    const double requested =
        (report_.totals.global_load.sectors + report_.totals.atomics.sectors) * kSectorBytes;
    latency.l2_per_sector = requested > 0 ? std::min(1.0, report_.traffic.l2_read / requested) : 0;
    latency.dram_per_sector = latency.l2_per_sector * dram_share_;
    const double blocks = static_cast<double>(report_.launch.blocks());
    const double warps = std::max(1.0, blocks * counts_.warps_per_block);
    report_.chain_cycles = chain_cycles(kernel_, counts_, latency, warps) + kTurnover;
    const double resident = static_cast<double>(report_.occupancy.blocks_per_sm) * sms_;
    const double waves = blocks / resident;
    const double turns = waves <= 1 ? 1 : waves < 3 ? std::ceil(waves) : waves + 0.5;
    report_.terms.push_back({"latency", 0, report_.chain_cycles * turns / clock_});
  }

  /// Busy resources overlap: the sum of fourth powers lies a little above the busiest; waiting
  /// overlaps less with the busiest resource, the more as both come near: the sum of squares.
  void combine() {
    double fourth = 0;
    double waiting = 0;
    for (const Term& term : report_.terms) {
      if (term.name == "latency") {
        waiting = term.estimate_s;
      } else {
        fourth += std::pow(term.estimate_s, 4);
      }
    }
    const double busy = std::pow(fourth, 0.25);
    report_.launch_s = machine_.known("launch.stream").value_or(2.5e-6);
    report_.estimate_s = report_.launch_s + kRamp + std::hypot(busy, waiting);
    report_.bound_s = 0;
    const Term* binding = nullptr;
    for (const Term& term : report_.terms) {
      report_.bound_s = std::max(report_.bound_s, term.bound_s);
      if (binding == nullptr || term.estimate_s > binding->estimate_s) {
        binding = &term;
      }
    }
    report_.binding = binding == nullptr || binding->estimate_s < report_.launch_s + kRamp
                          ? "launch"
                          : binding->name;
    report_.low_s = std::max(
        report_.bound_s, report_.launch_s * 0.5 + (report_.estimate_s - report_.launch_s) / 1.45);
    report_.high_s = report_.launch_s * 1.5 + (report_.estimate_s - report_.launch_s) * 1.6;
    report_.estimate_s = std::max(report_.estimate_s, report_.bound_s);
  }

  void roofline() {
    const Totals& t = report_.totals;
    const double flops = t.flops_fp32 + t.flops_fp64 + t.flops_fp16 + t.flops_tensor;
    const bool tensor = t.flops_tensor > t.flops_fp32 + t.flops_fp64 + t.flops_fp16;
    const std::string engine = tensor ? "matrix." + t.tensor_by_type.begin()->first
                               : t.flops_fp64 > t.flops_fp32 ? "vector.fp64"
                               : t.flops_fp16 > t.flops_fp32 ? "vector.fp16"
                                                             : "vector.fp32";
    const double peak = machine_.known(engine).value_or(0);
    const std::string& main = machine_.main().name;
    const double sector_bytes =
        (t.global_load.sectors + t.global_store.sectors + t.atomics.sectors) * kSectorBytes;
    const auto add = [&](const std::string& name, double bytes, double bandwidth) {
      if (bytes > 0 && flops > 0) {
        report_.roofline.push_back({name, flops / bytes, bandwidth > 0 ? peak / bandwidth : 0});
      }
    };
    add("l1", sector_bytes, sms_ * 128 * clock_);
    if (const hardware::Tier* cache = machine_.last_level()) {
      add(cache->name, report_.traffic.l2_read + report_.traffic.l2_write,
          machine_.known(cache->name + ".measured_bandwidth")
              .value_or(machine_.known(cache->name + ".bandwidth").value_or(0)));
    }
    const double bandwidth = machine_.known(main + ".bandwidth").value_or(0);
    add(main, report_.dram_bytes, bandwidth);
    if (report_.dram_bytes > 0 && bandwidth > 0) {
      report_.instructions =
          Ceiling{main, t.warp_instructions / (report_.dram_bytes / kSectorBytes),
                  report_.instruction_ceiling / (bandwidth / kSectorBytes)};
    }
    report_.instruction_rate =
        t.warp_instructions / std::max(1e-9, report_.estimate_s - report_.launch_s);
  }

  const ir::Kernel& kernel_;
  const Counts& counts_;
  const hardware::Machine& machine_;
  Report& report_;
  double clock_;
  double sms_;
  double busiest_ = 1;  ///< Blocks of the busiest SM over the mean.
  double used_sms_ = 1;
  double dram_share_ = 0;
};

}  // namespace

void estimate_time(const ir::Kernel& kernel, const ir::KernelFlow&, const Counts& counts,
                   const hardware::Machine& machine, Report& report) {
  Times(kernel, counts, machine, report).run();
}

}  // namespace mansard::model::kernel
