#include <algorithm>
#include <thread>
#include <vector>

#include "validate/probes/probe.cuh"
#include "validate/suite/matmul.cuh"
#include "validate/suite/own_op.cuh"

namespace mansard::measure {
namespace {

/// Long against the steps of the energy counter.
constexpr Seconds kLoad{1.5};
/// The clocks and the power settle.
constexpr Seconds kWarmUp{0.4};

double energy(const Lab& lab) {
  const std::optional<double> joules = lab.nvml().energy_j();
  if (!joules) {
    throw Unsupported("the device has no energy counter");
  }
  return *joules;
}

/// Replays for `length`, the host one replay ahead of the device. How many.
int replay_for(const Lab& lab, const Graph& graph, Seconds length) {
  const Event events[2];
  const Seconds start = steady_now();
  int replays = 0;
  for (; steady_now() - start < length; ++replays) {
    graph.launch(lab.stream());
    events[replays % 2].record(lab.stream());
    if (replays > 0) {
      check(cudaEventSynchronize(events[(replays + 1) % 2]));
    }
  }
  lab.stream().wait();
  return replays;
}

/// `value`: joules of one call, everything that the device draws meanwhile included; median_us: its
/// time in that steady state.
void measure_energy(Lab& lab, Row row, const Subject& subject, Seconds one_call) {
  if (!begin_row(lab, row)) {
    return;
  }
  constexpr Seconds kReplay{30e-3};
  const int calls = calls_per_replay(one_call, kReplay, subject.most_calls);
  const Graph graph(lab.stream(), [&](cudaStream_t stream) {
    for (int turn = 0; turn < calls; ++turn) {
      subject.call(stream, turn % subject.rotation.sets);
    }
  });
  (void)replay_for(lab, graph, kWarmUp);
  const double before = energy(lab);
  const Seconds start = steady_now();
  const int replays = replay_for(lab, graph, kLoad);
  const double each = 1e6 * (steady_now() - start).count() / replays / calls;
  const double joules = (energy(lab) - before) / replays / calls;
  const double samples[] = {each};
  row.set("value", joules).set("unit", "J");
  lab.record(row, lab.timing_of(samples, replays * calls));
}

void measure_matmul(Lab& lab, std::string_view dtype, std::int64_t m, std::int64_t n,
                    std::int64_t k) {
  lab.arena().reset();
  const MatmulShape shape{dtype, m, n, k, 1};
  const std::size_t element = element_bytes(dtype);
  const Rotation rotation = lab.rotation(static_cast<double>(n * k * element));
  const Matmul matmul(shape, lab.arena().take(Matmul::kWorkspaceBytes));
  std::byte* const x = lab.arena().take(m * k * element);
  std::byte* const w = lab.arena().take(rotation.sets * n * k * element);
  std::byte* const y = lab.arena().take(m * n * element_bytes(matmul_output(dtype)));
  fill_random(dtype, x, m * k, lab.seed(), lab.stream());
  fill_random(dtype, w, rotation.sets * n * k, lab.seed(), lab.stream());
  const auto call = [&](cudaStream_t stream, int turn) {
    matmul.run(x, w + turn * n * k * element, y, stream);
  };
  call(lab.stream(), 0);
  check_matmul(shape, x, w, y, lab.stream());
  constexpr Seconds kRough{200e-6};
  Row row{{"op", "energy"}, {"variant", "matmul"}, {"dtype", dtype}};
  measure_energy(lab, row.set("m", m).set("n", n).set("k", k), {call, rotation}, kRough);
}

void measure_stream(Lab& lab, std::string_view name, std::size_t elements) {
  lab.arena().reset();
  const OwnOp& op = *find_own_op(name);
  const std::vector<Operand> operands =
      op.operands(Row{{"dtype", "bf16"}}.set("elements", static_cast<std::int64_t>(elements)));
  std::vector<void*> data;
  for (const Operand& operand : operands) {
    data.push_back(lab.arena().take(operand.count * element_bytes(operand.dtype)));
    fill_random(operand.dtype, data.back(), operand.count, lab.seed(), lab.stream());
  }
  Row row{{"op", "energy"}, {"variant", name}, {"dtype", "bf16"}};
  row.set("elements", static_cast<std::int64_t>(elements));
  const auto call = [&](cudaStream_t stream, int) { op.launch(row, data, stream); };
  constexpr double kRoughBytesPerSecond = 3e12;
  const Seconds rough(4.0 * static_cast<double>(elements) / kRoughBytesPerSecond);
  measure_energy(lab, row, {call, Rotation{}}, std::max(rough, Seconds(2e-6)));
}

/// `value`: watts with nothing to do, the clocks still up.
void measure_idle(Lab& lab) {
  Row row{{"op", "energy"}, {"variant", "idle"}};
  if (!begin_row(lab, row)) {
    return;
  }
  lab.stream().wait();
  const double before = energy(lab);
  std::this_thread::sleep_for(kLoad);
  const double watts = (energy(lab) - before) / kLoad.count();
  const double samples[] = {1e6 * kLoad.count()};
  lab.record(row.set("value", watts).set("unit", "W"), lab.timing_of(samples, 1));
}

}  // namespace

void probe_energy(Lab& lab) {
  constexpr std::int64_t kSquare = 4096;
  measure_idle(lab);
  for (const std::string_view dtype : {"bf16", "fp16", "fp8", "tf32", "fp32", "int8"}) {
    measure_matmul(lab, dtype, kSquare, kSquare, kSquare);
  }
  for (const std::int64_t m : {1, 64, 512}) {
    measure_matmul(lab, "bf16", m, 28672, 8192);
  }
  constexpr std::size_t kBeyondCache = std::size_t{1} << 29;
  constexpr std::size_t kInCache = std::size_t{4} << 20;
  for (const std::size_t elements : {kBeyondCache, kInCache}) {
    measure_stream(lab, "copy", elements);
    measure_stream(lab, "fill", elements);
    measure_stream(lab, "triad", elements);
  }
}

}  // namespace mansard::measure
