#include "cli/trace/roofline_report.hpp"

#include <algorithm>
#include <utility>

#include "ir/kernel_name.hpp"
#include "support/text.hpp"
#include "traces/analysis/counters.hpp"
#include "traces/dataset/timeline.hpp"

namespace mansard::cli {
namespace {

Result<std::vector<ir::KernelWork>> work_of(traces::Database& database,
                                            const ir::Timeline& timeline,
                                            const hardware::Machine& machine,
                                            const MachineOptions& options,
                                            const TraceModel& model) {
  const auto recognised = recognise(timeline, model);
  if (!recognised) {
    return failure(recognised.error());
  }
  auto work = matched_work(timeline, *recognised, machine, options, model);
  if (!work) {
    return work;
  }
  std::map<std::int64_t, ir::KernelWork> counted;
  for (ir::KernelWork& kernel : traces::counted_work(database)) {
    counted.emplace(kernel.kernel, std::move(kernel));
  }
  for (ir::KernelWork& kernel : *work) {
    if (auto found = counted.find(kernel.kernel); found != counted.end()) {
      found->second.op = kernel.op;
      found->second.seconds = kernel.seconds;  // The timeline's.
      kernel = found->second;
    }
  }
  return work;
}

void add_groups(RooflineReport& report) {
  std::map<std::pair<std::string, std::string>, RooflineGroup> groups;
  for (const model::KernelRoofline& k : report.kernels) {
    const std::string name = printable(ir::short_kernel_name(k.work->name));
    RooflineGroup& group = groups[{name, k.work->op}];
    group.name = name;
    group.op = k.work->op;
    ++group.kernels;
    group.seconds += k.work->seconds;
    group.headroom_s += k.headroom_s;
    group.bound_s += k.ceilings.empty() ? 0 : k.ceilings.front().seconds;
    if (k.work->seconds > group.longest) {
      group.longest = k.work->seconds;
      group.binding = k.binding();
      group.bound = model::name_of(k.bound);
    }
  }
  for (auto& [key, group] : groups) {
    report.groups.push_back(std::move(group));
  }
  std::sort(report.groups.begin(), report.groups.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.headroom_s, -a.seconds, a.name, a.op) <
           std::tuple(-b.headroom_s, -b.seconds, b.name, b.op);
  });
}

void add_shares(RooflineReport& report) {
  for (const model::KernelRoofline& k : report.kernels) {
    report.seconds += k.work->seconds;
    report.classified += k.work->op.empty() ? 0 : k.work->seconds;
    report.bound[std::string(model::name_of(k.bound))] += k.work->seconds;
    report.nearest[k.ceilings.empty() ? "unknown" : k.binding()] += k.work->seconds;
    report.locked += k.work->clock_locked ? 1 : 0;
  }
  const double whole = report.seconds > 0 ? report.seconds : 1;
  report.classified /= whole;
  for (auto* shares : {&report.bound, &report.nearest}) {
    for (auto& [name, seconds] : *shares) {
      seconds /= whole;
    }
  }
}

}  // namespace

Result<RooflineReport> roofline_report(traces::Database& database, const MachineOptions& options,
                                       const TraceModel& model) {
  const auto timeline = traces::read_timeline(database);
  if (!timeline) {
    return failure(timeline.error());
  }
  auto machine = machine_of(*timeline, options);
  if (!machine) {
    return failure(machine.error());
  }
  auto work = work_of(database, *timeline, *machine, options, model);
  if (!work) {
    return failure(work.error());
  }
  RooflineReport report{.machine = std::move(*machine), .work = std::move(*work)};
  for (const ir::KernelWork& kernel : report.work) {
    report.kernels.push_back(model::kernel_roofline(report.machine, kernel));
  }
  std::sort(report.kernels.begin(), report.kernels.end(), [](const auto& a, const auto& b) {
    return a.headroom_s != b.headroom_s ? a.headroom_s > b.headroom_s
                                        : a.work->kernel < b.work->kernel;
  });
  add_groups(report);
  add_shares(report);
  return report;
}

}  // namespace mansard::cli
