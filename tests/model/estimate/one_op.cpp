#include "tests/model/estimate/one_op.hpp"

#include <memory>

#include <fmt/format.h>

#include "support/diagnostic.hpp"
#include "support/document.hpp"

namespace mansard::model::test {
namespace {

class Maker {
 public:
  Maker() : block_(graph_.add_block("op", 1)) {}

  void add(const OneOp& made) {
    ir::Op op{.name = fmt::format("{}.{}", made.kind, graph_.ops().size()),
              .def = ir::find_op(made.kind),
              .block = block_};
    for (const auto& [name, value] : made.dims) {
      op.dims.emplace(name, graph_.pool().constant(value));
    }
    for (const ir::OperandDef& operand : op.def->operands) {
      if (operand.optional) {
        op.operands.emplace_back();
        continue;
      }
      const auto other = made.dtypes.find(std::string(operand.name));
      const std::string& type = other == made.dtypes.end() ? made.dtype : other->second;
      op.operands.emplace_back(
          graph_.add_tensor({.name = std::string(operand.name),
                             .role = operand.role,
                             .dtype = ir::find_dtype(type),
                             .shape = {graph_.instantiate(op, operand.touched)},
                             .block = block_}));
    }
    for (const auto& [name, value] : made.attributes) {
      op.attributes.emplace(name, value);
    }
    graph_.add_op(std::move(op));
  }
  ir::Graph take() { return std::move(graph_); }

 private:
  ir::Graph graph_;
  ir::BlockId block_;
};

template <typename T>
T value_of(Result<T> result) {
  INFO((result ? std::string() : render(result.error())));
  REQUIRE(result.has_value());
  return std::move(*result);
}

}  // namespace

ir::Graph graph_of(const std::vector<OneOp>& ops) {
  Maker maker;
  for (const OneOp& op : ops) {
    maker.add(op);
  }
  return maker.take();
}

CostOptions alone(std::string implementation) {
  return {.implementation = std::move(implementation),
          .chained = false,
          .demand = {.boundary_crosses = false, .weights_cross = false}};
}

CostModel cost_of(const std::vector<OneOp>& ops, const std::string& machine,
                  const CostOptions& options, const std::vector<hardware::Setting>& settings) {
  const hardware::Machine loaded = value_of(hardware::load_machine(machine, {}, settings));
  const Calibration calibration = value_of(Calibration::of(loaded));
  return value_of(build_cost_model(graph_of(ops), loaded, calibration, options));
}

CostModel cost_with(const std::vector<OneOp>& ops, const std::string& machine,
                    const std::string& calibration, const CostOptions& options) {
  const hardware::Machine loaded = value_of(hardware::load_machine(machine));
  const auto file = std::make_shared<const SourceFile>(SourceFile{"calibration.yaml", calibration});
  const Calibration read = value_of(Calibration::read(value_of(parse_yaml(file))));
  return value_of(build_cost_model(graph_of(ops), loaded, read, options));
}

double estimate_of(const OneOp& op, const std::string& machine, const CostOptions& options,
                   const std::vector<hardware::Setting>& settings) {
  const CostModel cost = cost_of({op}, machine, options, settings);
  return ir::value(cost.ops.front().estimate.expr(), cost.bindings({}));
}

}  // namespace mansard::model::test
