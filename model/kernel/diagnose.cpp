#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "model/kernel/analysis.hpp"

namespace mansard::model::kernel {
namespace {

constexpr double kPoorSectors = 1.5;  ///< Sectors over what the bytes need.
constexpr double kConflicts = 0.25;   ///< Conflicts per wavefront.

class Diagnosis {
 public:
  Diagnosis(const ir::Kernel& kernel, const Counts& counts, Report& report)
      : kernel_(kernel), counts_(counts), report_(report) {}

  void run() {
    for (std::uint32_t a = 0; a < kernel_.accesses.size(); ++a) {
      coalescing(a);
      conflicts(a);
      contention(a);
    }
    divergence();
    barriers();
    occupancy();
    binding();
  }

 private:
  [[nodiscard]] std::string where(std::uint32_t a) const {
    const ir::KernelInstruction& each = kernel_.instructions[kernel_.accesses[a].instruction];
    const std::string name = kernel_.classes[each.kind].name;
    return each.line > 0 ? fmt::format("{} at line {}", name, each.line) : name;
  }
  void say(std::string what, std::string metric, std::string rewrite = "") {
    const bool said = std::any_of(report_.diagnosis.begin(), report_.diagnosis.end(),
                                  [&](const Finding& each) { return each.what == what; });
    if (!said) {
      report_.diagnosis.push_back({std::move(what), std::move(metric), std::move(rewrite)});
    }
  }

  void coalescing(std::uint32_t a) {
    const AccessCounts& c = counts_.accesses[a];
    const bool load = kernel_.accesses[a].kind == ir::AccessKind::kLoad;
    if (c.space != ir::MemorySpace::kGlobal || c.requests == 0 || c.bytes == 0 ||
        kernel_.accesses[a].shape == ir::AccessShape::kFragment) {
      return;
    }
    const double moved = c.sectors * kSectorBytes;
    const double active = c.lanes / c.requests;
    const bool large =
        moved > 0.05 * kSectorBytes *
                    (report_.totals.global_load.sectors + report_.totals.global_store.sectors);
    if (moved < kPoorSectors * c.bytes || active < 8 || !large ||
        counts_.findings.unknown_addresses.contains(a)) {
      return;
    }
    say(fmt::format(
            "{} takes {:.1f} sectors a request where its bytes need {:.1f}: lanes lie apart",
            where(a), c.sectors / c.requests, c.bytes / c.requests / kSectorBytes),
        fmt::format("l1tex__t_sectors_pipe_lsu_mem_global_op_{0}.sum / "
                    "l1tex__t_requests_pipe_lsu_mem_global_op_{0}.sum",
                    load ? "ld" : "st"),
        "let neighbouring lanes touch neighbouring words: a structure of arrays, or a tile "
        "transposed in shared memory");
  }

  void conflicts(std::uint32_t a) {
    const AccessCounts& c = counts_.accesses[a];
    if (c.space != ir::MemorySpace::kShared || c.wavefronts == 0 ||
        (c.wavefronts - c.ideal) / c.wavefronts < kConflicts) {
      return;
    }
    say(fmt::format(
            "{} takes {:.0f} wavefronts a request where {:.0f} would do: lanes meet in banks",
            where(a), c.wavefronts / c.requests, c.ideal / c.requests),
        fmt::format("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum",
                    kernel_.accesses[a].kind == ir::AccessKind::kLoad ? "ld" : "st"),
        "pad the row of the tile by one element ([32][33] for [32][32]), or swizzle the column by "
        "the row");
  }

  void contention(std::uint32_t a) {
    const AccessCounts& c = counts_.accesses[a];
    const ir::AccessKind kind = kernel_.accesses[a].kind;
    if ((kind != ir::AccessKind::kAtomic && kind != ir::AccessKind::kReduction) ||
        c.requests == 0 || c.serial / c.requests < 2) {
      return;
    }
    say(fmt::format("{} has {:.0f} lanes of a warp on one address", where(a),
                    c.serial / c.requests),
        "smsp__pcsamp_warps_issue_stalled_lg_throttle (warp stall sampling)",
        "reduce within the warp by shuffles, then within the block in shared memory, before one "
        "atomic operation");
  }

  void divergence() {
    if (report_.divergent_share > 0.15) {
      say(fmt::format("{:.0f} % of lanes are idle in executed instructions",
                      100 * report_.divergent_share),
          "smsp__thread_inst_executed_per_inst_executed.ratio",
          counts_.findings.divergent.empty() ? "use blocks of whole warps"
                                             : "branch on a value that is the same for a warp");
    }
  }

  void barriers() {
    for (const std::uint32_t i : counts_.findings.divergent_barriers) {
      const std::uint32_t line = kernel_.instructions[i].line;
      say(line > 0 ? fmt::format("the barrier at line {} stands under divergent control flow", line)
                   : std::string("a barrier stands under divergent control flow"),
          "compute-sanitizer --tool synccheck",
          "move it out of the branch: all threads of a block must arrive");
    }
  }

  void occupancy() {
    if (report_.occupancy.fraction < 0.5 && report_.binding == "latency") {
      say(fmt::format("{} warps an SM, limited by {}, do not hide the latency of memory",
                      report_.occupancy.warps_per_sm, report_.occupancy.limiter),
          "sm__warps_active.avg.pct_of_peak_sustained_active",
          "more blocks in flight, or more independent loads a thread (unroll, vector loads)");
    }
    const double waves = report_.occupancy.waves;
    if (waves > 1 && waves < 4 &&
        waves - static_cast<double>(static_cast<std::int64_t>(waves)) > 0.02 &&
        waves - static_cast<double>(static_cast<std::int64_t>(waves)) < 0.4) {
      say(fmt::format("the last of {:.2f} waves is nearly empty", waves),
          "launch__waves_per_multiprocessor",
          "a grid that is a multiple of what the machine holds, or a loop over blocks");
    }
  }

  void binding() {
    if (report_.binding == "latency") {
      say("warps wait for memory longer than anything is busy; too few bytes are in flight, or "
          "loads wait for each other",
          "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active (waiting) against "
          "sm__warps_active.avg.pct_of_peak_sustained_active (too few warps) separates the two",
          "issue several independent loads before the first use");
    } else if (report_.binding == "launch") {
      say("the launch takes longer than the work", "gpu__time_duration.sum",
          "fuse with its neighbours, or launch from a graph");
    }
  }

  const ir::Kernel& kernel_;
  const Counts& counts_;
  Report& report_;
};

}  // namespace

void diagnose(const ir::Kernel& kernel, const ir::KernelFlow&, const Counts& counts,
              Report& report) {
  Diagnosis(kernel, counts, report).run();
}

}  // namespace mansard::model::kernel
