#include "validate/suite/gpu/graph.cuh"

namespace mansard::measure {
namespace {

cudaGraph_t capture(cudaStream_t stream, const std::function<void(cudaStream_t)>& work) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    work(stream);
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph));
  return graph;
}

}  // namespace

Graph::Graph(cudaStream_t stream, const std::function<void(cudaStream_t)>& work)
    : Graph(capture(stream, work)) {}

Graph::Graph(cudaGraph_t graph) : graph_(graph) {
  check(cudaGraphInstantiate(&executable_, graph_, 0));
}

Graph::~Graph() {
  if (executable_ != nullptr) {
    cudaGraphExecDestroy(executable_);
  }
  if (graph_ != nullptr) {
    cudaGraphDestroy(graph_);
  }
}

}  // namespace mansard::measure
