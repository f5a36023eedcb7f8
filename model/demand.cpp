#include "model/demand.hpp"

#include <array>

namespace mansard::model {
namespace {

using ir::Expr;

/// Which activations come from outside the graph (no op writes them) or leave it (no op reads
/// them).
std::vector<bool> boundary_tensors(const ir::Graph& graph) {
  std::vector<bool> written(graph.tensors().size());
  std::vector<bool> read(graph.tensors().size());
  for (const ir::Op& op : graph.ops()) {
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (!op.operands[i]) {
        continue;
      }
      const ir::Access access = op.def->operands[i].access;
      const std::size_t t = ir::index(*op.operands[i]);
      written[t] = written[t] || access != ir::Access::kRead;
      read[t] = read[t] || access != ir::Access::kWrite;
    }
  }
  std::vector<bool> boundary(graph.tensors().size());
  for (std::size_t t = 0; t < boundary.size(); ++t) {
    boundary[t] = !written[t] || !read[t];
  }
  return boundary;
}

class Collector {
 public:
  Collector(const ir::Graph& graph, Expr last_level, const DemandOptions& options)
      : graph_(graph),
        last_level_(last_level),
        weights_cross_(options.weights_cross),
        boundary_(options.boundary_crosses ? boundary_tensors(graph)
                                           : std::vector<bool>(graph.tensors().size())) {}

  Demand demand(ir::OpId id) const {
    const ir::Op& op = graph_.op(id);
    Demand result{.op = id,
                  .flops = Typed<Flops>(count(op, op.def->flops, kFlop)),
                  .vector_flops = Typed<Flops>(count(op, op.def->vector_flops, kFlop)),
                  .special_ops = count(op, op.def->special_ops, kNumber)};
    result.bytes = result.bytes_least = result.main_bytes = result.main_least =
        Typed<Bytes>(zero(kByte));
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (op.operands[i]) {
        const OperandDemand operand = operand_demand(op, i);
        result.bytes = result.bytes + operand.bytes;
        result.bytes_least = result.bytes_least + operand.least;
        result.main_bytes = result.main_bytes + operand.main;
        result.main_least = result.main_least + operand.main_least;
        result.operands.push_back(operand);
      }
    }
    result.link_bytes = Typed<Bytes>(link_bytes(op));
    return result;
  }

 private:
  Expr zero(const Dimension& dimension) const { return graph_.pool().constant(0, dimension); }

  Expr count(const ir::Op& op, Expr definition, const Dimension& dimension) const {
    return definition ? graph_.instantiate(op, definition) : zero(dimension);
  }

  OperandDemand operand_demand(const ir::Op& op, std::size_t i) const {
    const ir::OperandDef& def = op.def->operands[i];
    const ir::Tensor& tensor = graph_.tensor(*op.operands[i]);
    const double times = def.access == ir::Access::kReadWrite ? 2 : 1;
    const auto bytes_for = [&](Expr touched) {
      return Typed<Bytes>(times * ir::bytes_of(*tensor.dtype, graph_.instantiate(op, touched)));
    };
    OperandDemand result{.def = &def,
                         .tensor = *op.operands[i],
                         .bytes = bytes_for(def.touched),
                         .least = bytes_for(def.touched_least ? def.touched_least : def.touched)};
    const bool stays = tensor.role == ir::Role::kActivation && !boundary_[ir::index(result.tensor)];
    result.main = stays ? when_larger(tensor, result.bytes) : result.bytes;
    result.main_least = !weights_cross_ ? beyond_cache(result.least)
                        : stays         ? when_larger(tensor, result.least)
                                        : result.least;
    return result;
  }

  /// `bytes` of a tensor that is larger than the last-level cache; else none of them.
  Typed<Bytes> when_larger(const ir::Tensor& tensor, Typed<Bytes> bytes) const {
    const Expr whole = ir::bytes_of(*tensor.dtype, graph_.elements(tensor));
    return Typed<Bytes>(ir::select(ir::less(last_level_, whole), bytes.expr(), zero(kByte)));
  }

  /// What a repeated op must fetch again: all but a cache full.
  Typed<Bytes> beyond_cache(Typed<Bytes> bytes) const {
    return Typed<Bytes>(ir::max(bytes.expr() - last_level_, zero(kByte)));
  }

  Expr link_bytes(const ir::Op& op) const {
    if (!op.def->link_elements) {
      return zero(kByte);
    }
    const ir::Tensor& message = graph_.tensor(*op.operands.front());
    return graph_.pool().constant(message.dtype->bits / 8, kByte) *
           graph_.instantiate(op, op.def->link_elements);
  }

  const ir::Graph& graph_;
  Expr last_level_;
  bool weights_cross_;
  std::vector<bool> boundary_;
};

}  // namespace

std::vector<Demand> demands(const ir::Graph& graph, ir::Expr last_level,
                            const DemandOptions& options) {
  const Collector collector(graph, last_level, options);
  std::vector<Demand> result;
  result.reserve(graph.ops().size());
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    result.push_back(collector.demand(static_cast<ir::OpId>(i)));
  }
  return result;
}

}  // namespace mansard::model
