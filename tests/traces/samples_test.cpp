#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "traces/analysis/summary.hpp"
#include "traces/dataset/schema.hpp"
#include "traces/import.hpp"

namespace mansard::traces {
namespace {

/// The folder of shared samples; nullopt, said aloud, where there is none.
std::optional<std::string> samples() {
  const char* shared = std::getenv("MANSARD_SHARED");
  if (shared == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return std::nullopt;
  }
  return std::string(shared) + "/data/";
}

/// A dataset of some files, removed at the end.
class Imported {
 public:
  explicit Imported(const std::vector<std::string>& files)
      : path_(std::filesystem::temp_directory_path() /
              ("mansard-test-" + std::to_string(::getpid()) + ".db")) {
    const auto imported = import_files(files, path_);
    REQUIRE(imported);
    report = *imported;
    database = std::move(*open_dataset(path_));
    summary = *summarise(*database);
  }
  ~Imported() {
    database.reset();
    std::filesystem::remove(path_);
  }
  std::int64_t number(std::string_view sql) {
    Statement row = database->prepare(sql);
    return row.step() ? row.integer(0) : -1;
  }

  ImportReport report;
  std::unique_ptr<Database> database;
  Summary summary;

 private:
  std::string path_;
};

std::int64_t nanoseconds(const std::string& microseconds) {
  return std::llround(std::stod(microseconds) * 1000);
}

}  // namespace

TEST_CASE("published Kineto traces give the sums, links and busy times of their oracle",
          "[traces]") {
  const auto folder = samples();
  if (!folder) {
    return;
  }
  std::ifstream oracle(*folder + "samples/kineto/ORACLE.tsv");
  std::string line;
  std::getline(oracle, line);
  while (std::getline(oracle, line)) {
    std::istringstream fields(line);
    std::vector<std::string> f;
    for (std::string field; std::getline(fields, field, '\t');) {
      f.push_back(field);
    }
    CAPTURE(f[0]);
    Imported trace({*folder + "samples/kineto/" + f[0]});
    if (f[1].starts_with("INVALID")) {
      CHECK(trace.report.errors.size() == 1);
      continue;
    }
    CHECK(trace.report.errors.empty());
    CHECK(trace.summary.kernels == std::stoll(f[2]));
    CHECK(trace.summary.kernel_time_ns == nanoseconds(f[3]));
    CHECK(trace.summary.linked == std::stoll(f[4]));
    CHECK(trace.summary.unlinked == std::stoll(f[5]));
    // The oracle added times as doubles, which are up to 1 ns off at each end of an interval; in
    // decimal arithmetic the union of nccl_data is 155215315 ns.
    CHECK(std::abs(trace.summary.kernel_busy_ns - nanoseconds(f[6])) <= 10);
    CHECK(trace.summary.copies == std::stoll(f[7]));
    CHECK(trace.number("SELECT count(*) FROM kernels WHERE name LIKE '%nccl%'") ==
          std::stoll(f[8]));
    std::int64_t events = 0;
    for (const ImportReport::Line& counted : trace.report.files.front().lines) {
      events += counted.events;
    }
    CHECK(events == std::stoll(f[1]));
  }
}

TEST_CASE("an Nsight Systems export gives the figures of its oracle", "[traces]") {
  const auto folder = samples();
  if (!folder) {
    return;
  }
  // samples/nsys/ORACLE.txt
  Imported trace({*folder + "samples/nsys/power_iteration__baseline.sqlite"});
  CHECK(trace.summary.kernels == 3689);
  CHECK(trace.summary.kernel_time_ns == 1131742684);
  CHECK(trace.summary.linked == 3689);
  CHECK(trace.summary.copies == 89);
  CHECK(trace.summary.copy_bytes == 2883944);
  CHECK(trace.summary.copy_time_ns == 322040);
  CHECK(trace.summary.launches == 7417);
  CHECK(trace.number("SELECT min(start_ns) FROM kernels") == 15057495);
  CHECK(trace.number("SELECT max(start_ns + duration_ns) FROM kernels") == 1805665356);
  CHECK(trace.number("SELECT count(*) FROM annotations") == 786);  // 787 less a domain's name.
  CHECK(
      trace.number("SELECT sum(duration_ns) FROM kernels WHERE short_name = 'gemv2T_kernel_val'") ==
      1074732935);
  REQUIRE(trace.summary.devices.size() == 1);
  CHECK(trace.summary.devices[0].name == "Tesla T4");
  CHECK(trace.summary.devices[0].bandwidth == 320064000000);
  CHECK(trace.number("SELECT count(DISTINCT kernel) FROM kernel_annotations") > 0);
}

TEST_CASE("both pages of Nsight Compute give launches and metrics in base units", "[traces]") {
  const auto folder = samples();
  if (!folder) {
    return;
  }
  Imported details({*folder + "samples/ncu/copy_blocked.csv"});
  CHECK(details.summary.kernels == 1);
  CHECK(details.summary.kernel_time_ns == 21058944);
  CHECK(details.number("SELECT registers FROM kernels") == 32);
  CHECK(details.number(
            "SELECT CAST(value AS INTEGER) FROM counters WHERE metric = 'DRAM Frequency'") ==
        4963609951);
  CHECK(details.number("SELECT count(*) FROM counters WHERE metric LIKE 'rule %'") > 5);

  Imported raw({*folder + "kernels/ncu_raw.csv.gz"});
  CHECK(raw.summary.kernels == 23);
  CHECK_FALSE(raw.summary.runs.front().clocks_locked);
  CHECK(raw.summary.by_kernel.front().name == "matmul_wmma");
  // notes/ncu-columns.md: saxpy loads 16,777,216 sectors.
  CHECK(raw.number("SELECT CAST(value AS INTEGER) FROM counters WHERE kernel = 1 AND metric = "
                   "'l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum'") == 16777216);
}

TEST_CASE("kernels of our H200 steps find their launch and their op", "[traces]") {
  const auto folder = samples();
  if (!folder) {
    return;
  }
  Imported trace({*folder + "traces/trace_llama3-8b_decode_b1_c2048.json.gz"});
  CHECK(trace.summary.kernels == 483);
  CHECK(trace.summary.linked == 483);
  CHECK(trace.summary.in_op == 483);
  CHECK(trace.number("SELECT count(*) FROM kernels WHERE op_name = 'aten::mm'") == 193);
}

}  // namespace mansard::traces
