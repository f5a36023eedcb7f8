#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "traces/dataset/schema.hpp"
#include "traces/import.hpp"

namespace mansard::traces {
namespace {

/// A timeline of kernels of these names, in order, 10 us each.
std::string timeline_of(const std::vector<std::string>& names) {
  std::string text = "{\"traceEvents\": [\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format(
        "{}{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{}\", \"pid\": 0, \"tid\": 7, \"ts\": "
        "{}, \"dur\": 10, \"args\": {{\"grid\": [4, 1, 1], \"block\": [128, 1, 1]}}}}\n",
        i == 0 ? "" : ",", names[i], 20 * i);
  }
  return text + "]}\n";
}

/// Counters of kernels of these names; times twice those of the timeline.
std::string counters_of(const std::vector<std::string>& names) {
  std::string text =
      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
      "\"gpu__time_duration.sum\",\"dram__bytes_read.sum\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"byte\"\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("\"{}\",\"{}\",\"(128, 1, 1)\",\"(4, 1, 1)\",\"0\",\"9.0\",\"20\",\"{}\"\n",
                        i, names[i], 1000 + i);
  }
  return text;
}

struct Combined {
  ImportReport report;
  std::vector<std::pair<std::int64_t, double>> bytes;  ///< Of kernels of the timeline, in order.
};

Combined combine(const std::vector<std::string>& timeline,
                 const std::vector<std::string>& counters) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string stem = folder / ("mansard-combine-" + std::to_string(::getpid()));
  const std::array files{stem + ".json", stem + ".csv"};
  std::ofstream(files[0]) << timeline_of(timeline);
  std::ofstream(files[1]) << counters_of(counters);
  auto report = import_files(files, stem + ".db");
  REQUIRE(report);
  Combined result{.report = std::move(*report)};
  auto database = open_dataset(stem + ".db");
  REQUIRE(database);
  Statement rows = (*database)->prepare(
      "SELECT m.timeline_kernel, c.value FROM matches m JOIN counters c ON c.kernel = "
      "m.counter_kernel AND c.metric = 'dram__bytes_read.sum' ORDER BY 1");
  while (rows.step()) {
    result.bytes.emplace_back(rows.integer(0), rows.real(1));
  }
  for (const std::string& file : {files[0], files[1], stem + ".db"}) {
    std::filesystem::remove(file);
  }
  return result;
}

using Bytes = std::vector<std::pair<std::int64_t, double>>;

}  // namespace

TEST_CASE("counters go to the kernels of the same name and place", "[traces]") {
  const Combined c = combine({"a", "b", "a"}, {"a", "b", "a"});
  CHECK(c.bytes == Bytes{{1, 1000}, {2, 1001}, {3, 1002}});
  CHECK(c.report.matched == 3);
  CHECK(c.report.verified == 3);
  CHECK(c.report.unmatched.empty());
  CHECK(c.report.clocks_locked);  // Nothing says otherwise, and it is the profiler's default.
}

TEST_CASE("names that one side has more of stay apart, and are listed on both", "[traces]") {
  const Combined c = combine({"a", "b", "b", "c"}, {"a", "b", "c", "d"});
  CHECK(c.bytes == Bytes{{1, 1000}, {4, 1002}});
  REQUIRE(c.report.unmatched.size() == 3);
  CHECK(c.report.unmatched[0].name == "b");
  CHECK(c.report.unmatched[0].timed);
  CHECK(c.report.unmatched[0].kernels == 2);
  CHECK_FALSE(c.report.unmatched[1].timed);
  CHECK_FALSE(c.report.unmatched[2].timed);
}

TEST_CASE("a part that was profiled is found where the timeline has just that", "[traces]") {
  const Combined c = combine({"a", "b", "c", "a", "b", "b", "a"}, {"a", "b", "b"});
  CHECK(c.bytes == Bytes{{4, 1000}, {5, 1001}, {6, 1002}});
  CHECK(c.report.verified == 3);
}

TEST_CASE("a match against the order of launches is not verified", "[traces]") {
  const Combined c = combine({"a", "b", "c", "d"}, {"b", "c", "d", "a"});
  CHECK(c.report.matched == 4);
  CHECK(c.report.verified == 3);
}

}  // namespace mansard::traces
