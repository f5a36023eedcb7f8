#include "traces/analysis/counters.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace mansard::traces {
namespace {

constexpr double kSector = 32;
constexpr double kNanosecond = 1e-9;
constexpr double kPercent = 0.01;

using Metrics = std::map<std::string, double, std::less<>>;

std::optional<double> find(const Metrics& metrics, std::string_view name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? std::nullopt : std::optional(found->second);
}

/// The sum of those that are there.
std::optional<double> sum(const Metrics& metrics, std::initializer_list<std::string_view> names) {
  std::optional<double> total;
  for (const std::string_view name : names) {
    if (const auto value = find(metrics, name)) {
      total = total.value_or(0) + *value;
    }
  }
  return total;
}

struct Counted {
  std::int64_t kernel = 0;
  std::string name;
  double seconds = 0;
  bool clock_locked = false;
  Metrics metrics;
};

/// Kernels with counters, in order; those of a matched run under the timeline's kernel and time.
std::vector<Counted> counted(Database& db) {
  Statement rows = db.prepare(
      "SELECT coalesce(m.timeline_kernel, k.id), n.text, coalesce(t.duration_ns, k.duration_ns), "
      "d.name, c.value, k.id, d.unit, r.clocks_locked AND m.timeline_kernel IS NULL FROM "
      "counter_rows c "
      "JOIN metrics d ON d.id = c.metric JOIN kernel_rows k ON k.id = c.kernel JOIN runs r ON r.id "
      "= k.run JOIN names n ON n.id = k.name LEFT JOIN matches m ON m.counter_kernel = k.id LEFT "
      "JOIN kernel_rows t ON t.id = m.timeline_kernel WHERE c.value IS NOT NULL ORDER BY k.id, 1, "
      "c.metric");
  std::vector<Counted> result;
  std::pair<std::int64_t, std::int64_t> last{-1, -1};
  while (rows.step()) {
    const std::pair<std::int64_t, std::int64_t> now{rows.integer(5), rows.integer(0)};
    if (now != last) {
      last = now;
      result.push_back({.kernel = rows.integer(0),
                        .name = std::string(rows.text(1)),
                        .seconds = static_cast<double>(rows.integer(2)) * kNanosecond,
                        .clock_locked = rows.integer(7) != 0});
    }
    // Sections of the long page share names, so that only the unit tells some apart.
    const std::string name(rows.text(3));
    result.back().metrics.emplace(fmt::format("{} [{}]", name, rows.text(6)), rows.real(4));
    result.back().metrics.emplace(name, rows.real(4));
  }
  return result;
}

/// Executed threads of one instruction. Newer versions write only its rate per cycle.
std::optional<double> thread_instructions(const Metrics& metrics, const std::string& op) {
  const std::string name = "smsp__sass_thread_inst_executed_op_" + op + "_pred_on.sum";
  if (const auto total = find(metrics, name)) {
    return total;
  }
  const auto rate = find(metrics, name + ".per_cycle_elapsed");
  const auto cycles = find(metrics, "smsp__cycles_elapsed.avg");
  return rate && cycles ? std::optional(*rate * *cycles) : std::nullopt;
}

void add_flops(const Metrics& metrics, ir::KernelWork& work) {
  struct Instruction {
    const char* op;
    const char* rate;
    double flops;
  };
  static constexpr std::array kInstructions{
      Instruction{"ffma", "vector.fp32", 2}, Instruction{"fadd", "vector.fp32", 1},
      Instruction{"fmul", "vector.fp32", 1}, Instruction{"dfma", "vector.fp64", 2},
      Instruction{"dadd", "vector.fp64", 1}, Instruction{"dmul", "vector.fp64", 1},
      Instruction{"hfma", "vector.fp16", 2}, Instruction{"hadd", "vector.fp16", 1},
      Instruction{"hmul", "vector.fp16", 1}};
  for (const Instruction& i : kInstructions) {
    if (const double threads = thread_instructions(metrics, i.op).value_or(0); threads > 0) {
      work.flops[i.rate] += i.flops * threads;
    }
  }
  struct Path {
    std::string_view metric;
    const char* rate;
  };
  static constexpr std::array kPaths{
      Path{"sm__ops_path_tensor_src_fp16.sum", "matrix.fp16"},
      Path{"sm__ops_path_tensor_src_bf16_dst_fp32.sum", "matrix.bf16"},
      Path{"sm__ops_path_tensor_src_tf32_dst_fp32.sum", "matrix.tf32"},
      Path{"sm__ops_path_tensor_src_fp64.sum", "matrix.fp64"},
      Path{"sm__ops_path_tensor_src_int8.sum", "matrix.int8"},
      Path{"sm__ops_path_tensor_src_fp8_sparsity_off.sum", "matrix.fp8"}};
  for (const Path& path : kPaths) {
    if (const double amount = find(metrics, path.metric).value_or(0); amount > 0) {
      work.flops[path.rate] += amount;
    }
  }
}

ir::KernelWork work_of(const Counted& c) {
  const Metrics& m = c.metrics;
  ir::KernelWork work{.kernel = c.kernel,
                      .name = c.name,
                      .seconds = c.seconds,
                      .counted = true,
                      .clock_locked = c.clock_locked};
  add_flops(m, work);
  work.main_bytes = sum(m, {"dram__bytes_read.sum", "dram__bytes_write.sum"});
  work.main_sectors = sum(m, {"dram__sectors_read.sum", "dram__sectors_write.sum"});
  if (!work.main_bytes && work.main_sectors) {
    work.main_bytes = *work.main_sectors * kSector;
  }
  if (!work.main_bytes) {  // The long page gives a rate.
    const auto rate = find(m, "Memory Throughput [byte/second]");
    const auto time = find(m, "Duration");
    work.main_bytes = rate && time ? std::optional(*rate * *time) : std::nullopt;
  }
  if (!work.main_sectors && work.main_bytes) {
    work.main_sectors = *work.main_bytes / kSector;
  }
  if (const auto sectors = sum(m, {"lts__t_sectors_srcunit_tex.sum"})) {
    work.l2_bytes = *sectors * kSector;
  }
  if (const auto sectors = sum(m, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                   "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                   "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
                                   "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"})) {
    // A wavefront of shared memory moves up to 128 bytes.
    constexpr double kWavefront = 128;
    work.l1_bytes =
        *sectors * kSector +
        kWavefront * find(m, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum").value_or(0);
  }
  work.warp_instructions = find(m, "smsp__inst_executed.sum");
  if (!work.warp_instructions) {
    work.warp_instructions = find(m, "Executed Instructions");
  }
  work.clock_hz = find(m, "smsp__cycles_elapsed.avg.per_second");
  if (!work.clock_hz) {
    work.clock_hz = find(m, "SM Frequency");
  }
  return work;
}

/// A busy unit makes warps wait for their turn; anything else makes them wait for a result.
bool is_throughput(std::string_view reason) {
  return reason.ends_with("throttle") || reason == "not_selected" || reason == "selected" ||
         reason == "dispatch_stall";
}

KernelStalls stalls_of(const Counted& c) {
  KernelStalls result{
      .kernel = c.kernel, .name = c.name, .seconds = c.seconds, .clock_locked = c.clock_locked};
  constexpr std::string_view kFirst = "smsp__average_warps_issue_stalled_";
  constexpr std::string_view kLast = "_per_issue_active.ratio";
  for (const auto& [name, value] : c.metrics) {
    if (name.starts_with(kFirst) && name.ends_with(kLast)) {
      std::string reason = name.substr(kFirst.size(), name.size() - kFirst.size() - kLast.size());
      if (reason.ends_with("_not_issued")) {
        continue;  // A part of the reason of the same name.
      }
      const bool throughput = is_throughput(reason);
      result.stalls.push_back({std::move(reason), value, throughput});
    }
  }
  std::sort(result.stalls.begin(), result.stalls.end(), [](const Stall& a, const Stall& b) {
    return a.per_issue != b.per_issue ? a.per_issue > b.per_issue : a.reason < b.reason;
  });
  result.ipc = find(c.metrics, "sm__inst_executed.avg.per_cycle_active");
  if (!result.ipc) {
    result.ipc = find(c.metrics, "Executed Ipc Active");
  }
  result.issue_active = find(c.metrics, "smsp__issue_active.avg.pct_of_peak_sustained_active");
  if (!result.issue_active) {
    result.issue_active = find(c.metrics, "One or More Eligible");
  }
  if (result.issue_active) {
    *result.issue_active *= kPercent;
  }
  result.warps_per_scheduler = find(c.metrics, "smsp__warps_active.avg.per_cycle_active");
  if (!result.warps_per_scheduler) {
    result.warps_per_scheduler = find(c.metrics, "Active Warps Per Scheduler");
  }
  return result;
}

InstructionMix mix_of(const Counted& c, double warp_instructions) {
  InstructionMix mix{.kernel = c.kernel, .name = c.name, .warp_instructions = warp_instructions};
  struct Class {
    const char* name;
    std::string_view metric;
  };
  static constexpr std::array kClasses{
      Class{"global load", "smsp__sass_inst_executed_op_global_ld.sum"},
      Class{"global store", "smsp__sass_inst_executed_op_global_st.sum"},
      Class{"shared load", "smsp__sass_inst_executed_op_shared_ld.sum"},
      Class{"shared store", "smsp__sass_inst_executed_op_shared_st.sum"},
      Class{"local load", "smsp__sass_inst_executed_op_local_ld.sum"},
      Class{"local store", "smsp__sass_inst_executed_op_local_st.sum"}};
  double named = 0;
  for (const Class& k : kClasses) {
    if (const auto count = find(c.metrics, k.metric); count && *count > 0) {
      mix.shares[k.name] = *count / warp_instructions;
      named += *count / warp_instructions;
    }
  }
  constexpr double kWarp = 32;
  for (const char* type : {"f", "d", "h"}) {
    double threads = 0;
    for (const char* op : {"fma", "add", "mul"}) {
      threads += thread_instructions(c.metrics, std::string(type) + op).value_or(0);
    }
    if (threads > 0) {
      const char* name = *type == 'f' ? "fp32" : (*type == 'd' ? "fp64" : "fp16");
      mix.shares[name] = threads / kWarp / warp_instructions;
      named += mix.shares[name];
    }
  }
  mix.shares["other"] = std::max(0.0, 1 - named);
  return mix;
}

}  // namespace

std::vector<ir::KernelWork> counted_work(Database& dataset) {
  std::vector<ir::KernelWork> result;
  for (const Counted& c : counted(dataset)) {
    result.push_back(work_of(c));
  }
  return result;
}

std::vector<KernelStalls> stalls(Database& dataset) {
  std::vector<KernelStalls> result;
  for (const Counted& c : counted(dataset)) {
    result.push_back(stalls_of(c));
  }
  return result;
}

std::vector<InstructionMix> instruction_mixes(Database& dataset) {
  std::vector<InstructionMix> result;
  for (const Counted& c : counted(dataset)) {
    const double instructions = work_of(c).warp_instructions.value_or(0);
    if (instructions > 0) {
      result.push_back(mix_of(c, instructions));
    }
  }
  return result;
}

}  // namespace mansard::traces
