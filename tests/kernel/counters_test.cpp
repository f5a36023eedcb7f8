#include <cmath>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "tests/kernel/kernels.hpp"

namespace mansard::test {
namespace {

/// Counters of an H200 (Nsight Compute, 2026-11-30) for launches of the shared kernels.
struct Measured {
  const char* kernel;
  std::array<std::int64_t, 3> grid;
  std::array<std::int64_t, 3> block;
  std::map<std::uint32_t, std::int64_t> arguments;  ///< By position.
  double load_sectors;
  double store_sectors;
  double conflicts;
};

const Measured kMeasured[] = {
    {"saxpy", {1056, 1, 1}, {256, 1, 1}, {{0, 67108864}}, 16777216, 8391360, 0},
    {"copy_strided", {32768, 1, 1}, {256, 1, 1}, {{0, 8388608}, {1, 8}}, 8388608, 1048576, 0},
    {"transpose_tiled", {256, 256, 1}, {32, 8, 1}, {{0, 8192}}, 8388608, 8388608, 65011700},
    {"transpose_padded", {256, 256, 1}, {32, 8, 1}, {{0, 8192}}, 8388608, 8388608, 0},
    {"matmul_wmma", {8192, 1, 1}, {256, 1, 1}, {{0, 4096}}, 1073741824, 2099370, 0},
    {"stencil5", {256, 1024, 1}, {32, 8, 1}, {{0, 8192}}, 50286600, 10474100, 0},
    {"bank_stride", {1056, 1, 1}, {256, 1, 1}, {{0, 32}, {1, 4096}}, 0, 33792, 1072690000},
};

}  // namespace

TEST_CASE("sectors and bank conflicts of the shared kernels are those measured on an H200",
          "[kernel]") {
  const char* shared = std::getenv("MANSARD_SHARED");
  if (shared == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  const auto parsed =
      frontend::ptx::parse_file(std::string(shared) + "/data/kernels/kernels.sm_90.ptx");
  REQUIRE(parsed);
  for (const Measured& each : kMeasured) {
    CAPTURE(each.kernel);
    const ir::Kernel kernel =
        frontend::ptx::lower(parsed->module, *parsed->module.find_function(each.kernel));
    model::kernel::Launch launch{.grid = each.grid, .block = each.block};
    for (const ir::KernelParameter& parameter : kernel.parameters) {
      const auto given = each.arguments.find(parameter.position);
      launch.arguments.push_back(given == each.arguments.end() ? std::nullopt
                                                               : std::optional(given->second));
    }
    const auto totals = model::kernel::totals_of(
        kernel, model::kernel::count(kernel, ir::analyse_flow(kernel), launch));
    CHECK(totals.global_load.sectors == Approx(each.load_sectors).epsilon(0.001));
    CHECK(totals.global_store.sectors == Approx(each.store_sectors).epsilon(0.002));
    CHECK(totals.shared_load.bank_conflicts + totals.shared_store.bank_conflicts ==
          Approx(each.conflicts).epsilon(0.001));
  }
}

}  // namespace mansard::test
