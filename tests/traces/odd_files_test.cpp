#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "tests/traces/recorder.hpp"
#include "traces/dataset/schema.hpp"
#include "traces/import.hpp"
#include "traces/ncu/ncu.hpp"

/// Files of other versions and vendors, and broken ones.
namespace mansard::traces {
namespace {

struct Kernel {
  std::string name;
  std::int64_t duration_ns = 0;
};

/// What became of a file: its kernels and the id of its break.
struct Imported {
  std::vector<Kernel> kernels;
  std::string error;
};

std::string stem() {
  return std::filesystem::temp_directory_path() / ("mansard-odd-" + std::to_string(::getpid()));
}

Imported import(const std::string& file) {
  const std::array files{file};
  const std::string path = stem() + ".db";
  auto report = import_files(files, path);
  Imported result;
  if (!report) {
    result.error = report.error().front().id;
    return result;
  }
  result.error = report->errors.empty() ? "" : report->errors.front().id;
  {
    auto database = open_dataset(path);
    REQUIRE(database);
    Statement rows = (*database)->prepare("SELECT name, duration_ns FROM kernels ORDER BY id");
    while (rows.step()) {
      result.kernels.push_back({std::string(rows.text(0)), rows.integer(1)});
    }
  }
  std::filesystem::remove(path);
  return result;
}

Imported import_text(const std::string& text) {
  const std::string file = stem() + ".txt";
  std::ofstream(file, std::ios::binary) << text;
  Imported result = import(file);
  std::filesystem::remove(file);
  return result;
}

/// An export of Nsight Systems that holds what these statements make.
Imported import_nsys(const std::string& statements) {
  const std::string file = stem() + ".sqlite";
  {
    auto database = Database::create(file);
    REQUIRE(database);
    (*database)->execute(statements);
    REQUIRE((*database)->status());
  }
  Imported result = import(file);
  std::filesystem::remove(file);
  return result;
}

constexpr const char* kStrings =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES(1, 'void k<int>(int)'), (2, 'k');";

}  // namespace

TEST_CASE("tables of Nsight Systems are read by the columns that they have", "[traces]") {
  const Imported least = import_nsys(
      std::string(kStrings) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, shortName INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 30, 2), (50, 40, 2);");
  REQUIRE(least.kernels.size() == 2);
  CHECK(least.kernels[0].name == "k");
  CHECK(least.kernels[0].duration_ns == 20);
  CHECK(least.kernels[1].duration_ns == 0);  // It ends before it starts.
  const Imported texts = import_nsys(
      "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V3(start INTEGER, \"end\" INTEGER, name TEXT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_V3 VALUES(10, 30, 'plain');");
  REQUIRE(texts.kernels.size() == 1);
  CHECK(texts.kernels[0].name == "plain");
  CHECK(import_nsys(kStrings).kernels.empty());
  CHECK(import_nsys("CREATE TABLE other(a INTEGER);").error == "trace-format");
}

TEST_CASE("rows of Nsight Systems without values are kept", "[traces]") {
  const Imported rows = import_nsys(
      std::string(kStrings) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", demangledName, gridX);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(NULL, NULL, NULL, NULL), ('x', 'y', 99, 'z'), "
      "(5, NULL, 1, 1);");
  CHECK(rows.kernels.size() == 3);
}

TEST_CASE("a cut file of Nsight Systems is refused", "[traces]") {
  const std::string file = stem() + ".sqlite";
  std::ofstream(file) << std::string("SQLite format 3\0", 16) << "...";
  CHECK(import(file).error == "dataset-open");
  std::filesystem::remove(file);
}

TEST_CASE("counters: other separators, a mark, no units, a row that breaks off", "[traces]") {
  const Imported semicolons = import_text(
      "\"ID\";\"Kernel Name\";\"Metric Name\";\"Metric Unit\";\"Metric Value\"\n"
      "\"0\";\"k;x\";\"Duration\";\"usecond\";\"4,51\"\n");
  REQUIRE(semicolons.kernels.size() == 1);
  CHECK(semicolons.kernels[0].name == "k;x");
  CHECK(semicolons.kernels[0].duration_ns == 4510);
  const Imported marked = import_text(
      "\xEF\xBB\xBF\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"ns\"\n"
      "\"0\",\"k\",\"5\"\n");
  REQUIRE(marked.kernels.size() == 1);
  CHECK(marked.kernels[0].duration_ns == 5);
  const Imported bare =
      import_text("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"0\",\"k\",\"1,000\"\n");
  REQUIRE(bare.kernels.size() == 1);
  CHECK(bare.kernels[0].duration_ns == 1000);
  const Imported cut = import_text(
      "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"ns\"\n\"0\",\"k\",\"5\"\n"
      "\"1\",\"k(int, ");
  CHECK(cut.error == "trace-truncated");
  CHECK(cut.kernels.size() == 1);
}

TEST_CASE("traces of AMD's profiler", "[traces]") {
  const KinetoRead read = read_text(
      R"~({"deviceProperties": [{"id": 2, "name": "AMD Instinct MI250X / MI250", "numSms": 104, "warpSize": 64}],
       "traceEvents": [
       {"ph": "X", "cat": "hip_runtime", "name": "hipLaunchKernel", "pid": 5, "tid": 5, "ts": 1, "dur": 2, "args": {"cid": 107, "correlation": 7}},
       {"ph": "X", "cat": "kernel", "name": "foo.kd", "pid": 2, "tid": 0, "ts": 4, "dur": 2, "args": {"stream": "0x0", "correlation": 7}},
       {"ph": "X", "cat": "gpu_memcpy", "name": "CopyHostToDevice", "pid": 2, "tid": 0, "ts": 9, "dur": 2, "args": {"size": "2560"}}]})~");
  REQUIRE(read.recorder.events.size() == 3);
  CHECK(read.recorder.devices[0].warp_size == 64);
  CHECK(read.recorder.events[0].event.kind == ir::TraceEventKind::kLaunch);
  CHECK(read.recorder.events[1].event.device == 2);
  CHECK(read.recorder.events[1].event.stream == 0);
  CHECK(read.recorder.events[2].copy_kind == "HtoD");
  CHECK(read.recorder.events[2].event.bytes == 2560);
}

TEST_CASE("events without category are told by their process, as autograd's profiler names it",
          "[traces]") {
  const KinetoRead read = read_text(
      R"~([{"name": "k", "ph": "X", "ts": 1, "dur": 2, "tid": 0, "pid": "CUDA functions", "args": {}},
          {"name": "aten::add", "ph": "X", "ts": 1, "dur": 2, "tid": 0, "pid": "CPU functions", "args": {}},
          {"name": "else", "ph": "X", "ts": 1, "dur": 2, "tid": 0, "pid": 3, "args": {}}])~");
  REQUIRE(read.recorder.events.size() == 3);
  CHECK(read.recorder.events[0].event.kind == ir::TraceEventKind::kKernel);
  CHECK(read.recorder.events[1].event.kind == ir::TraceEventKind::kOp);
  CHECK(read.recorder.events[2].event.kind == ir::TraceEventKind::kAnnotation);
}

TEST_CASE("any cut of any format is an error or a whole file, never a crash", "[traces]") {
  const std::string counters =
      "==PROF== x\n\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"ns\"\n"
      "\"0\",\"k, \"\"q\"\"\",\"1,234\"\n\"1\",\"l\",\"2\"\n";
  for (std::size_t length = 0; length <= counters.size(); ++length) {
    Recorder recorder;
    const ReadReport report = read_ncu(std::string_view(counters).substr(0, length), recorder);
    CAPTURE(length);
    CHECK(recorder.events.size() <= 2);
    CHECK(recorder.events.size() + (report.broken ? 1U : 0U) <= 3);
  }
}

}  // namespace mansard::traces
