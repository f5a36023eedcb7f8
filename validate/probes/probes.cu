#include <algorithm>
#include <cstdio>

#include "validate/probes/probe.cuh"
#include "validate/probes/probes.hpp"

namespace mansard::measure {
namespace {

constexpr std::string_view kColumns[] = {
    "machine", "implementation", "mode",   "op",       "dtype",  "variant",
    "bytes",   "elements",       "m",      "n",        "k",      "stride",
    "blocks",  "threads",        "sm",     "gpus",     "second", "median_us",
    "min_us",  "max_us",         "trials", "calls",    "value",  "unit",
    "sm_mhz",  "power_w",        "temp_c", "throttle", "flag",   "source"};

constexpr Probe kProbes[] = {
    {"launch", "time of a launch in a stream and as a graph node, host issue rate (us)",
     probe_launch},
    {"hbm", "device memory read, write, copy, triad by bytes and by blocks of an SM (GB/s)",
     probe_hbm},
    {"vector", "peak of FFMA, HFMA2, DFMA, IMAD, MUFU (TFLOP/s, Top/s)", probe_vector},
    {"matrix", "peak of mma.sync by format (TFLOP/s)", probe_matrix},
    {"wgmma", "peak of wgmma by format, Hopper only (TFLOP/s)", probe_wgmma},
    {"latency", "pointer chase by footprint, and by pages for the TLB's reach (ns, cycles)",
     probe_latency},
    {"dependent", "cycles from one instruction to the next that needs its result", probe_dependent},
    {"l2", "L2 read by footprint (GB/s)", probe_l2},
    {"l2_partitions", "L2 latency of each SM to the near and the far half (cycles)",
     probe_l2_partitions},
    {"shared", "shared memory and L1 read (GB/s of the chip)", probe_shared},
    {"banks", "shared memory read by stride in words (GB/s of the chip)", probe_banks},
    {"access", "sum of 4096 x 4096 fp32 by columns (coalesced) and by rows (strided)",
     probe_access},
    {"host_copies", "pinned copies to and from the host, and between GPUs (GB/s)",
     probe_host_copies},
    {"sustained", "a long matmul second by second: time, clock, power", probe_sustained},
    {"energy", "joules of matmuls and streams repeated for seconds, idle power", probe_energy},
    {"collectives", "NCCL over all GPUs by bytes, two or more GPUs (GB/s of the message)",
     probe_collectives},
};

bool wanted(const Options& options, const Probe& probe) {
  return options.only.empty() || std::ranges::find(options.only, probe.name) != options.only.end();
}

void refuse_unknown(const Options& options) {
  for (const std::string& name : options.only) {
    if (std::ranges::find(kProbes, name, &Probe::name) == std::end(kProbes)) {
      throw UsageError("no probe '" + name + "': see --list");
    }
  }
}

}  // namespace

bool begin_row(const Lab& lab, Row& row) {
  row.set("implementation", row.has("implementation") ? row.text("implementation")
                                                      : std::string_view("mansard-probes"));
  row.set("mode", row.has("mode") ? row.text("mode") : std::string_view("graph"));
  return !lab.skips(row);
}

void measure_rate(Lab& lab, Row row, const Subject& subject, const Rate& rate) {
  if (!begin_row(lab, row)) {
    return;
  }
  const Timing timing = lab.time(subject);
  row.set("value", rate.per_call / timing.us.median * rate.scale).set("unit", rate.unit);
  lab.record(row, timing);
}

int run_probes(const Options& options) {
  refuse_unknown(options);
  std::vector<Job> jobs;
  for (const Probe& probe : kProbes) {
    if (wanted(options, probe)) {
      jobs.push_back({std::string(probe.name), probe.run});
    }
    if (wanted(options, probe) && options.list) {
      std::printf("%-14s %s\n", jobs.back().name.c_str(), std::string(probe.what).c_str());
    }
  }
  return options.list ? 0 : run_jobs(options, "probes.csv", kColumns, jobs);
}

}  // namespace mansard::measure
