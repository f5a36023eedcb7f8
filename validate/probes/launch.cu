#include <vector>

#include "validate/probes/probe.cuh"

namespace mansard::measure {
namespace {

constexpr int kTrials = 15;
constexpr int kLaunches = 1000;

__global__ void empty_kernel() {}

void launch_empty(cudaStream_t stream, int blocks) {
  empty_kernel<<<blocks, 32, 0, stream>>>();
  check_launch();
}

Row launch_row(std::string_view variant, const char* mode, int blocks) {
  return Row{{"op", "launch"}, {"variant", variant}, {"mode", mode}}.set("blocks", blocks);
}

void record(Lab& lab, Row row, std::span<const double> samples) {
  const Timing timing = lab.timing_of(samples, kLaunches);
  lab.record(row.set("value", timing.us.median).set("unit", "us"), timing);
}

/// Microseconds of the device per empty kernel when the host issues kLaunches in a row.
double stream_time(const Lab& lab) {
  const Event begin;
  const Event end;
  begin.record(lab.stream());
  for (int i = 0; i < kLaunches; ++i) {
    launch_empty(lab.stream(), 1);
  }
  end.record(lab.stream());
  lab.stream().wait();
  return end.since(begin) / kLaunches;
}

/// Microseconds of the host per call that issues a launch; the device works on behind.
double issue_time(const Lab& lab) {
  lab.stream().wait();
  const Seconds start = steady_now();
  for (int i = 0; i < kLaunches; ++i) {
    launch_empty(lab.stream(), 1);
  }
  const double issued = 1e6 * (steady_now() - start).count() / kLaunches;
  lab.stream().wait();
  return issued;
}

/// Microseconds from issuing one launch to knowing that it is done.
double round_trip_time(const Lab& lab) {
  const Seconds start = steady_now();
  for (int i = 0; i < kLaunches; ++i) {
    launch_empty(lab.stream(), 1);
    lab.stream().wait();
  }
  return 1e6 * (steady_now() - start).count() / kLaunches;
}

/// Microseconds per replay of a graph with one node, replays queued one behind the other.
double one_node_replay_time(const Lab& lab, const Graph& graph) {
  const Event begin;
  const Event end;
  begin.record(lab.stream());
  for (int i = 0; i < kLaunches; ++i) {
    graph.launch(lab.stream());
  }
  end.record(lab.stream());
  lab.stream().wait();
  return end.since(begin) / kLaunches;
}

template <typename Measure>
void take(Lab& lab, Row row, Measure measure) {
  if (!begin_row(lab, row)) {
    return;
  }
  measure();
  std::vector<double> samples;
  for (int trial = 0; trial < kTrials; ++trial) {
    samples.push_back(measure());
  }
  record(lab, row, samples);
}

/// kLaunches empty kernels side by side between a first and a last one.
Graph independent_nodes() {
  cudaGraph_t graph = nullptr;
  check(cudaGraphCreate(&graph, 0));
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(empty_kernel);
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(32);
  for (int i = 0; i < kLaunches; ++i) {
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  }
  return Graph(graph);
}

double replay_time(const Lab& lab, const Graph& graph) {
  const Event begin;
  const Event end;
  begin.record(lab.stream());
  graph.launch(lab.stream());
  end.record(lab.stream());
  lab.stream().wait();
  return end.since(begin) / kLaunches;
}

}  // namespace

void probe_launch(Lab& lab) {
  take(lab, launch_row("empty kernel", "stream", 1), [&] { return stream_time(lab); });
  take(lab, launch_row("host issue", "eager", 1), [&] { return issue_time(lab); });
  take(lab, launch_row("issue and wait", "eager", 1), [&] { return round_trip_time(lab); });
  const Graph one(lab.stream(), [](cudaStream_t stream) { launch_empty(stream, 1); });
  take(lab, launch_row("one node replay", "graph", 1),
       [&] { return one_node_replay_time(lab, one); });
  const Graph many = independent_nodes();
  take(lab, launch_row("independent node", "graph", 1), [&] { return replay_time(lab, many); });
  for (const int blocks : {1, 132, 1056, 8448, 67584}) {
    const auto call = [blocks](cudaStream_t stream, int) { launch_empty(stream, blocks); };
    measure_rate(lab, launch_row("dependent node", "graph", blocks), {call}, {1, 1, "1/us"});
  }
}

}  // namespace mansard::measure
