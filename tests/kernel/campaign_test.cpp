#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "cli/kernel_launch.hpp"
#include "hardware/catalog.hpp"
#include "model/kernel/analysis.hpp"
#include "tests/kernel/kernels.hpp"
#include "traces/ncu/csv.hpp"

namespace mansard::test {
namespace {

using Counters = std::map<std::string, double>;

/// The rows of a raw page of Nsight Compute: the counters of each launch.
std::vector<Counters> read_counters(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> head;
  std::vector<Counters> rows;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '=') {
      static_cast<void>(traces::text_line(text, at));
      continue;
    }
    bool closed = true;
    const auto record = traces::csv_record(text, at, ',', closed);
    if (head.empty()) {
      head = record;
      continue;
    }
    Counters row;
    for (std::size_t i = 0; i < std::min(head.size(), record.size()); ++i) {
      std::string digits = record[i];
      std::erase(digits, ',');
      row[head[i]] = std::atof(digits.c_str());
    }
    rows.push_back(std::move(row));
  }
  rows.erase(rows.begin());  // units
  return rows;
}

/// One launch as predicted and as it was.
struct Pair {
  std::string name;
  model::kernel::Report report;
  Counters counters;
  double seconds = 0;
};

/// The campaign of validate/kernels on an H200, committed with the project.
std::vector<Pair> campaign() {
  const std::string folder = MANSARD_RESULTS "/h200-sxm.2026-12-01.kernels/";
  const auto parsed = frontend::ptx::parse_file(folder + "kernels.sm_90.ptx");
  const auto launches = cli::read_launches(folder + "launches.csv");
  const auto machine = hardware::load_machine("h200-sxm", {});
  const auto counters = read_counters(folder + "ncu.csv");
  REQUIRE(parsed);
  REQUIRE(launches);
  REQUIRE(machine);
  REQUIRE(launches->size() == counters.size());
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const cli::LaunchText& text = (*launches)[i];
    const ir::Kernel kernel =
        frontend::ptx::lower(parsed->module, *parsed->module.find_function(text.kernel));
    const ir::KernelFlow flow = ir::analyse_flow(kernel);
    const auto launch = cli::read_launch(kernel, text, flow.loops.size(), true);
    REQUIRE(launch);
    const model::kernel::Resources resources{
        .registers = static_cast<std::int64_t>(counters[i].at("launch__registers_per_thread")),
        .static_shared = kernel.static_shared,
        .assembled = true};
    auto report = model::kernel::analyse(kernel, flow, *launch, *machine, resources);
    REQUIRE(report);
    pairs.push_back({text.name, *std::move(report), counters[i], text.measured_s.value_or(0)});
  }
  return pairs;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

TEST_CASE("twenty kernels on an H200: counts, times and bounds beside what was measured",
          "[kernel]") {
  std::vector<double> instructions;
  std::vector<double> times;
  std::size_t sectors_differ = 0;
  for (const Pair& each : campaign()) {
    CAPTURE(each.name);
    const model::kernel::Totals& totals = each.report.totals;
    const double loads = each.counters.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
    const double stores = each.counters.at("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
    sectors_differ += std::abs(totals.global_load.sectors - loads) > 0.03 * loads ? 1 : 0;
    CHECK(totals.global_store.sectors == Approx(stores).epsilon(0.03));
    CHECK(each.report.bound_s <= each.seconds);
    instructions.push_back(
        std::abs(totals.warp_instructions / each.counters.at("smsp__inst_executed.sum") - 1));
    times.push_back(std::abs(each.report.estimate_s / each.seconds - 1));
  }
  CHECK(sectors_differ <= 1);  // ptxas keeps planes of stencil7 in registers over iterations
  CHECK(median(instructions) < 0.08);
  CHECK(median(times) < 0.20);
}

}  // namespace mansard::test
