#include <algorithm>

#include "validate/probes/probe.cuh"
#include "validate/suite/matmul.cuh"

namespace mansard::measure {
namespace {

constexpr std::int64_t kSize = 8192;
/// Windows of this length are timed one by one: short at first, where the clock still falls.
constexpr Seconds kWindow{0.25};
constexpr Seconds kLoad{12};

}  // namespace

/// Rows by the second since the load began; `value` is TFLOP/s.
void probe_sustained(Lab& lab) {
  const MatmulShape shape{"bf16", kSize, kSize, kSize, 1};
  const std::size_t count = kSize * kSize;
  const Matmul matmul(shape, lab.arena().take(Matmul::kWorkspaceBytes));
  std::byte* const x = lab.arena().take(2 * count);
  std::byte* const w = lab.arena().take(2 * count);
  std::byte* const y = lab.arena().take(2 * count);
  fill_random("bf16", x, count, lab.seed(), lab.stream());
  fill_random("bf16", w, count, lab.seed(), lab.stream());
  matmul.run(x, w, y, lab.stream());
  check_matmul(shape, x, w, y, lab.stream());

  const Event begin;
  const Event end;
  const Seconds start = steady_now();
  int calls = 16;
  while (steady_now() - start < kLoad && !lab.budget().spent()) {
    begin.record(lab.stream());
    for (int i = 0; i < calls; ++i) {
      matmul.run(x, w, y, lab.stream());
    }
    end.record(lab.stream());
    lab.stream().wait();
    const double each = end.since(begin) / calls;
    const double samples[] = {each};
    Row row{{"op", "sustained"}, {"dtype", "bf16"}, {"mode", "stream"}};
    row.set("m", kSize).set("n", kSize).set("k", kSize);
    row.set("second", (steady_now() - start).count());
    if (begin_row(lab, row)) {
      const double flops = 2.0 * kSize * kSize * kSize;
      lab.record(row.set("value", flops / each * 1e-6).set("unit", "TFLOP/s"),
                 lab.timing_of(samples, calls));
    }
    calls = std::max(1, static_cast<int>(1e6 * kWindow.count() / each));
  }
}

}  // namespace mansard::measure
