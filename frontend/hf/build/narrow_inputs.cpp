#include <map>
#include <utility>

#include "frontend/hf/build/builder.hpp"
#include "ir/passes/rewrite.hpp"

namespace mansard::frontend::hf {

namespace {

class Narrowing {
 public:
  Narrowing(ir::Graph& graph, const std::vector<NarrowInput>& inputs)
      : graph_(graph), types_(graph.ops().size()) {
    for (const auto& [op, type] : inputs) {
      types_[op] = type;
    }
  }

  void run() {
    std::vector<ir::Op> ops;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      ir::Op op = graph_.ops()[i];
      if (types_[i] != nullptr) {
        narrow(op, *types_[i], ops);
      }
      std::erase_if(copies_, [&](const auto& copy) { return ir::writes(op, copy.first); });
      ops.push_back(std::move(op));
    }
    graph_.ops() = std::move(ops);
  }

 private:
  void narrow(ir::Op& op, const ir::Dtype& type, std::vector<ir::Op>& ops) {
    const ir::TensorId input = ir::operand_of(op, "a").value();
    if (all_read_as(input, type)) {
      graph_.tensor(input).dtype = &type;
      return;
    }
    if (!copies_.contains(input)) {
      copies_.emplace(input, quantize(op, type, input, ops));
    }
    ir::set_operand(op, "a", copies_.at(input));
  }

  [[nodiscard]] bool all_read_as(ir::TensorId tensor, const ir::Dtype& type) const {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (ir::reads(graph_.ops()[i], tensor) && types_[i] != &type) {
        return false;
      }
    }
    return true;
  }

  ir::TensorId quantize(const ir::Op& reader, const ir::Dtype& type, ir::TensorId input,
                        std::vector<ir::Op>& ops) {
    const ir::Expr elements = graph_.elements(graph_.tensor(input));
    ir::Tensor copy = graph_.tensor(input);
    copy.name = reader.name + ".quantized";
    copy.dtype = &type;
    copy.block = reader.block;
    const ir::TensorId output = graph_.add_tensor(std::move(copy));
    const ir::OpDef* def = ir::find_op("elementwise");
    ops.push_back({.name = reader.name + ".quantize",
                   .def = def,
                   .block = reader.block,
                   .dims = {{"n", elements}, {"i", elements}, {"a", graph_.pool().constant(1)}},
                   .operands = ir::operands_by_name(*def, {{"x", input}, {"o", output}}),
                   .attributes = {{"function", "quantize"}}});
    return output;
  }

  ir::Graph& graph_;
  std::vector<const ir::Dtype*> types_;
  std::map<ir::TensorId, ir::TensorId> copies_;
};

}  // namespace

void narrow_inputs(ir::Graph& graph, const std::vector<NarrowInput>& inputs) {
  if (!inputs.empty()) {
    Narrowing(graph, inputs).run();
  }
}

}  // namespace mansard::frontend::hf
