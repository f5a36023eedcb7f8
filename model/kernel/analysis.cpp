#include "model/kernel/analysis.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mansard::model::kernel {
namespace {

double slope(double more, double once) {
  return more - once;
}

void subtract(GlobalTotals& a, const GlobalTotals& b) {
  a.requests -= b.requests;
  a.sectors -= b.sectors;
  a.bytes -= b.bytes;
}
void subtract(SharedTotals& a, const SharedTotals& b) {
  a.requests -= b.requests;
  a.wavefronts -= b.wavefronts;
  a.bank_conflicts -= b.bank_conflicts;
}

Totals difference(Totals a, const Totals& b) {
  a.thread_instructions = slope(a.thread_instructions, b.thread_instructions);
  a.warp_instructions = slope(a.warp_instructions, b.warp_instructions);
  a.ptx_warp_instructions = slope(a.ptx_warp_instructions, b.ptx_warp_instructions);
  a.flops_fp32 = slope(a.flops_fp32, b.flops_fp32);
  a.flops_fp64 = slope(a.flops_fp64, b.flops_fp64);
  a.flops_fp16 = slope(a.flops_fp16, b.flops_fp16);
  a.flops_tensor = slope(a.flops_tensor, b.flops_tensor);
  subtract(a.global_load, b.global_load);
  subtract(a.global_store, b.global_store);
  subtract(a.shared_load, b.shared_load);
  subtract(a.shared_store, b.shared_store);
  return a;
}

void assume(const ir::Kernel& kernel, const Counts& counts, Report& report) {
  auto& notes = report.assumptions;
  notes.insert(notes.end(), kernel.notes.begin(), kernel.notes.end());
  std::string pointers;
  for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
    if (kernel.parameters[p].is_pointer &&
        !(p < report.launch.arguments.size() && report.launch.arguments[p])) {
      pointers += (pointers.empty() ? "" : ", ") + display_name(kernel.parameters[p]);
    }
  }
  if (!pointers.empty()) {
    notes.push_back("pointers are 256-byte aligned and disjoint: " + pointers);
  }
  if (counts.represented_blocks > 0) {
    notes.push_back(fmt::format("{:.0f} of {} blocks are counted by {:.0f} of them, evenly spread",
                                counts.represented_blocks, report.launch.blocks(),
                                counts.sampled_blocks));
  }
  if (!counts.findings.data_branches.empty() && counts.findings.unbound.empty()) {
    notes.push_back(fmt::format(
        "{} {} on data: a warp is taken to go both ways", counts.findings.data_branches.size(),
        counts.findings.data_branches.size() == 1 ? "branch depends" : "branches depend"));
  }
  if (!counts.findings.unknown_addresses.empty()) {
    notes.push_back(fmt::format(
        "{} {} at addresses that are data: each lane is taken to touch a sector of its own",
        counts.findings.unknown_addresses.size(),
        counts.findings.unknown_addresses.size() == 1 ? "access is" : "accesses are"));
  }
  if (counts.findings.exhausted) {
    notes.push_back("the budget of steps ran out: counts are too low");
  }
  if (counts.findings.endless) {
    notes.push_back("a loop does not end with these arguments");
  }
  notes.push_back(
      "warp instructions are those of the machine, expanded from PTX by a table; thread "
      "instructions are PTX");
  if (!report.resources.assembled) {
    notes.push_back("registers are estimated from the PTX: ptxas was not asked");
  }
  if (report.traffic.fits_l2) {
    notes.push_back("what the kernel touches fits the L2 and is found there");
  }
  if (kernel.local_bytes > 0) {
    notes.push_back(fmt::format("{} bytes of local memory per thread", kernel.local_bytes));
  }
  std::string unknown;
  for (const ir::InstructionClass& each : kernel.classes) {
    if (!each.known) {
      unknown += (unknown.empty() ? "" : ", ") + each.name;
    }
  }
  if (!unknown.empty()) {
    notes.push_back("unknown instructions, counted as one each: " + unknown);
  }
}

}  // namespace

std::string display_name(const ir::KernelParameter& parameter) {
  return parameter.alias.empty() ? parameter.name : parameter.alias;
}

Result<Report> analyse(const ir::Kernel& kernel, const ir::KernelFlow& flow, const Launch& launch,
                       const hardware::Machine& machine, const Resources& resources) {
  auto occupied = occupancy(machine, resources, launch);
  if (!occupied) {
    return failure(occupied.error());
  }
  const Counts counts = count(kernel, flow, launch);
  Report report{.kernel = kernel.name,
                .machine = machine.name,
                .launch = launch,
                .resources = resources,
                .occupancy = *occupied,
                .totals = totals_of(kernel, counts)};
  for (const std::uint32_t p : counts.findings.unbound) {
    report.unknowns.push_back(display_name(kernel.parameters[p]));
  }
  for (const std::uint32_t loop : counts.findings.unknown_loops) {
    if (launch.trips.contains(loop)) {
      continue;
    }
    Launch twice = launch;
    twice.trips[loop] = {.count = 2};
    Slope more{.loop = loop,
               .name = "trip_" + ir::loop_name(loop),
               .totals = difference(totals_of(kernel, count(kernel, flow, twice)), report.totals)};
    report.unknowns.push_back(more.name);
    report.slopes.push_back(std::move(more));
  }
  report.traffic = traffic(kernel, flow, counts, report.totals, launch, *occupied, machine);
  report.dram_bytes = report.traffic.dram_read + report.traffic.dram_write;
  estimate_time(kernel, flow, counts, machine, report);
  if (report.totals.ptx_warp_instructions > 0) {
    report.divergent_share =
        1 - report.totals.thread_instructions / (kLanes * report.totals.ptx_warp_instructions);
  }
  diagnose(kernel, flow, counts, report);
  assume(kernel, counts, report);
  return report;
}

}  // namespace mansard::model::kernel
