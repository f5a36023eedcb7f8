#include "validate/counts.hpp"

#include <catch2/catch.hpp>

#include "hardware/catalog.hpp"
#include "validate/measurements.hpp"

namespace mansard::validate {
namespace {

constexpr const char* kColumns =
    "\"ID\",\"Kernel Name\",\"Grid Size\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\","
    "\"sm__ops_path_tensor_src_fp16.sum\",\"sm__ops_path_tensor_src_bf16_dst_fp32.sum\","
    "\"sm__ops_path_tensor_src_tf32_dst_fp32.sum\",\"sm__ops_path_tensor_src_fp64.sum\","
    "\"sm__ops_path_tensor_src_int8.sum\",\"sm__ops_path_tensor_src_fp8_sparsity_off.sum\","
    "\"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum\","
    "\"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum\","
    "\"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum\","
    "\"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum\","
    "\"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum\","
    "\"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum\","
    "\"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum\","
    "\"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum\","
    "\"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum\"\n";

std::shared_ptr<const SourceFile> source(const char* name, const std::string& text) {
  return std::make_shared<const SourceFile>(SourceFile{name, text});
}

std::string profile(const std::string& kernels) {
  return "==PROF== said before the table\n" + std::string(kColumns) +
         "\"\",\"\",\"\",\"Kbyte\",\"byte\"" + std::string(15, ',') + "\n" + kernels;
}

TEST_CASE("kernels belong to the row whose number is the grid of the mark before them") {
  const auto counted = read_counters(
      source("p.csv", profile("1,warm_up,\"(9, 1, 1)\",1,1,,,,,,,,,,,,,,,\n"
                              "2,mark_kernel,\"(2, 1, 1)\",0,0,,,,,,,,,,,,,,,\n"
                              "3,gemm,\"(132, 1, 1)\",\"1,000\",24,,\"2,048\",,,,,8,1,,,,,,,\n"
                              "4,reduce,\"(4, 1, 1)\",1,0,,,,,,,,,2,,,,,,\n")));
  REQUIRE(counted);
  REQUIRE(counted->size() == 1);
  const Counted& row = counted->front();
  CHECK(row.row == 2);
  CHECK(row.kernels == 2);
  CHECK(row.dram_read == 1001e3);
  CHECK(row.dram_written == 24);
  CHECK(row.tensor_flops == 2048);
  CHECK(row.scalar_flops == 8 * 2 + 1 + 2);
}

TEST_CASE("a profile without a table, without columns or without marks is refused") {
  CHECK_FALSE(read_counters(source("p.csv", "==ERROR== no permission\n")));
  const auto few = read_counters(source("p.csv", "\"ID\",\"Kernel Name\"\n\"\",\"\"\n"));
  REQUIRE_FALSE(few);
  CHECK_THAT(few.error().front().message, Catch::Contains("'dram__bytes_read.sum'"));
  CHECK_FALSE(read_counters(source("p.csv", profile("1,gemm,(1),1,1,,,,,,,,,,,,,,,\n"))));
  CHECK_FALSE(read_counters(source("p.csv", kColumns)));
}

TEST_CASE("an aligned matmul's FLOP and bytes are those that the counters see") {
  const auto rows =
      read_measurements(source("m.csv",
                               "machine,implementation,mode,op,dtype,m,n,k,median_us\n"
                               "h200-sxm,cublaslt-13,graph,matmul,bf16,1024,1024,32,5\n"));
  const auto machine = hardware::load_machine("h200-sxm");
  const auto calibration = model::Calibration::defaults();
  REQUIRE(rows);
  REQUIRE(machine);
  REQUIRE(calibration);
  const Counted counted{.row = 1,
                        .kernels = 1,
                        .tensor_flops = 2.0 * 1024 * 1024 * 32,
                        .dram_read = 2.0 * (1024 * 32 + 1024 * 32),
                        .dram_written = 2.0 * 1024 * 1024};
  const auto classes = compare_counts(*rows, {counted}, *machine, *calibration, {});
  REQUIRE(classes);
  REQUIRE(classes->size() == 1);
  const CountComparison& row = classes->front().rows.front();
  CHECK(row.flop_ratio() == 1);
  CHECK(row.read_ratio() == 1);
  CHECK(row.write_ratio() == 1);
  CHECK_FALSE(compare_counts(*rows, {Counted{.row = 2}}, *machine, *calibration, {}));
}

}  // namespace
}  // namespace mansard::validate
