#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/traces/generated_trace.hpp"
#include "traces/dataset/schema.hpp"
#include "traces/import.hpp"

namespace mansard::traces {
namespace {

/// The most memory that this process has held, in bytes.
std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

void import_generated(std::size_t kernels, std::int64_t most_memory) {
  const std::string stem =
      std::filesystem::temp_directory_path() / ("mansard-large-" + std::to_string(::getpid()));
  const std::array files{stem + ".json"};
  {
    std::ofstream file(files.front(), std::ios::binary);
    generate_trace(kernels, [&file](std::string_view piece) { file << piece; });
  }
  const auto report = import_files(files, stem + ".db");
  REQUIRE(report);
  CHECK(report->errors.empty());
  CHECK(report->files.front().kernels == static_cast<std::int64_t>(kernels));
  CHECK(report->files.front().linked == static_cast<std::int64_t>(kernels));
  CHECK(report->files.front().in_op == static_cast<std::int64_t>(kernels));
  CHECK(peak_memory() < most_memory);
  std::filesystem::remove(files.front());
  std::filesystem::remove(stem + ".db");
}

}  // namespace

TEST_CASE("a trace of 20,000 kernels is linked whole", "[traces]") {
  import_generated(20'000, 200'000'000);
}

// 2.1 GB on the disk and half a minute: test_traces "[.large]".
TEST_CASE("a trace of a million kernels takes no more than 200 MB", "[.large]") {
  import_generated(1'150'000, 200'000'000);
}

}  // namespace mansard::traces
