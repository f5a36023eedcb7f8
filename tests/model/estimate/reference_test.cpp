#include "tests/model/estimate/one_op.hpp"
#include "tests/model/estimate/reference_calibration.hpp"

/// The estimates against prototypes of the same models in Python (NumPy; kept with the research of
/// 2026-11-30), which took the same constants: an independent evaluation of each formula.
namespace mansard::model::test {
namespace {

/// Microseconds on an H200.
double time_of(const OneOp& op, const std::string& implementation) {
  constexpr double kMicro = 1e6;
  const CostModel cost = cost_with({op}, "h200-sxm", kReferenceCalibration, alone(implementation));
  return kMicro * ir::value(cost.ops.front().estimate.expr(), cost.bindings({}));
}

OneOp matmul(const std::string& dtype, double m, double n, double k) {
  const std::string out = dtype == "fp8" ? "bf16" : dtype == "int8" ? "fp32" : dtype;
  return {.kind = "matmul",
          .dims = {{"b", 1}, {"m", m}, {"n", n}, {"k", k}},
          .dtype = dtype,
          .dtypes = {{"c", out}}};
}

TEST_CASE("a matmul takes the time that the prototype finds for its best tile", "[estimate]") {
  struct Row {
    const char* dtype;
    double m, n, k, microseconds;
  };
  const Row row =
      GENERATE(Row{"bf16", 1, 6144, 4096, 15.322}, Row{"bf16", 16, 4096, 4096, 14.553},
               Row{"bf16", 64, 28672, 4096, 60.576}, Row{"bf16", 2048, 28672, 8192, 1409.410},
               Row{"bf16", 8192, 8192, 8192, 1624.076}, Row{"fp8", 256, 10240, 8192, 37.454},
               Row{"fp8", 4096, 4096, 4096, 112.936}, Row{"fp32", 2048, 2048, 2048, 355.632},
               Row{"int8", 4096, 4096, 4096, 159.172}, Row{"bf16", 1, 50257, 768, 31.713},
               Row{"bf16", 1024, 1002, 1024, 19.650}, Row{"bf16", 16, 11230, 1074, 18.781},
               Row{"bf16", 512, 50257, 768, 360.961});
  CAPTURE(row.dtype, row.m, row.n, row.k);
  const double time = time_of(matmul(row.dtype, row.m, row.n, row.k), "cublaslt");
  // The 8-norm and the root are short forms here, the constants are rounded.
  CHECK(time == Approx(row.microseconds).epsilon(0.005));
}

OneOp attention(double b, double h, double g, double q, double t, double d, double pairs) {
  return {
      .kind = "attention",
      .dims = {{"b", b}, {"h", h}, {"g", g}, {"q", q}, {"t", t}, {"p", pairs}, {"d", d}, {"v", d}}};
}

TEST_CASE("decode attention takes the prototype's time", "[estimate]") {
  struct Row {
    double b, h, g, context, d, microseconds;
  };
  const Row row = GENERATE(Row{1, 32, 8, 2048, 128, 8.208}, Row{16, 32, 8, 8192, 128, 124.805},
                           Row{64, 8, 1, 512, 128, 9.223}, Row{128, 64, 8, 1024, 128, 124.845},
                           Row{4, 32, 8, 300, 64, 5.785});
  CAPTURE(row.b, row.h, row.context);
  const OneOp op = attention(row.b, row.h, row.g, 1, row.context, row.d, row.context);
  CHECK(time_of(op, "cudnn") == Approx(row.microseconds).epsilon(0.001));
}

TEST_CASE("prefill attention takes the prototype's time, masked or not", "[estimate]") {
  struct Row {
    double b, h, g, q, t, d;
    bool causal;
    double microseconds;
  };
  const Row row = GENERATE(
      Row{1, 32, 8, 2048, 2048, 128, true, 82.290}, Row{8, 32, 8, 512, 512, 128, true, 56.673},
      Row{1, 64, 8, 4096, 4096, 128, true, 466.522}, Row{1, 32, 8, 512, 8192, 128, false, 106.658},
      Row{2, 8, 8, 128, 128, 64, true, 6.612});
  CAPTURE(row.b, row.h, row.q, row.t);
  const double all = row.q * row.t;
  const double pairs = row.causal ? all - row.q * (row.q - 1) / 2 : all;
  const OneOp op = attention(row.b, row.h, row.g, row.q, row.t, row.d, pairs);
  CHECK(time_of(op, "cudnn") == Approx(row.microseconds).epsilon(0.002));
}

TEST_CASE("a collective takes the time of the prototype's best protocol", "[estimate]") {
  struct Row {
    const char* kind;
    double devices, bytes, microseconds;
  };
  const Row row =
      GENERATE(Row{"all_reduce", 2, 16384, 10.493}, Row{"all_reduce", 2, 67108864, 250.894},
               Row{"all_reduce", 8, 268435456, 1201.896}, Row{"all_gather", 4, 1048576, 18.134},
               Row{"all_to_all", 8, 4194304, 33.775}, Row{"reduce_scatter", 8, 33554432, 139.453});
  CAPTURE(row.kind, row.devices, row.bytes);
  const OneOp op{.kind = row.kind, .dims = {{"n", row.bytes / 2}, {"p", row.devices}}};
  CHECK(time_of(op, "nccl") == Approx(row.microseconds).epsilon(0.005));
}

TEST_CASE("experts' matmuls take the prototype's time", "[estimate]") {
  struct Row {
    double tokens, top_k, experts, touched, k, n, microseconds;
  };
  const Row row =
      GENERATE(Row{64, 2, 8, 8, 4096, 28672, 671.988}, Row{256, 8, 128, 128, 2048, 1536, 298.767},
               Row{4096, 8, 128, 128, 768, 2048, 266.189}, Row{1, 2, 8, 2, 14336, 4096, 104.034});
  CAPTURE(row.tokens, row.experts, row.n);
  const OneOp op{.kind = "grouped_matmul",
                 .dims = {{"m", row.tokens * row.top_k},
                          {"n", row.n},
                          {"k", row.k},
                          {"e", row.experts},
                          {"u", row.touched},
                          {"l", row.touched}}};
  CHECK(time_of(op, "cutlass-grouped") == Approx(row.microseconds).epsilon(0.002));
}

}  // namespace
}  // namespace mansard::model::test
