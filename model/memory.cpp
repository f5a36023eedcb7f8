#include "model/memory.hpp"

#include "ir/algorithms.hpp"

namespace mansard::model {

MemoryModel memory_model(const ir::Graph& graph, std::int64_t repeats) {
  ir::ExprPool& pool = graph.pool();
  ir::Expr most = pool.constant(0, kByte);
  for (const std::vector<ir::TensorId>& alive : ir::live_activations(graph)) {
    ir::Expr sum = pool.constant(0, kByte);
    for (const ir::TensorId id : alive) {
      const ir::Tensor& tensor = graph.tensor(id);
      sum = sum + ir::bytes_of(*tensor.dtype, graph.elements(tensor));
    }
    most = ir::max(most, sum);
  }
  return {.weights = ir::Typed<Bytes>(ir::weight_bytes(graph)),
          .kv = static_cast<double>(repeats) * ir::Typed<Bytes>(ir::kv_bytes(graph)),
          .activations = ir::Typed<Bytes>(most)};
}

}  // namespace mansard::model
