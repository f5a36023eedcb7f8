#include "validate/suite/matmul.cuh"
#include "validate/suite/ops.cuh"
#include "validate/suite/own_op.cuh"

namespace mansard::measure {
namespace {

void measure_own(Lab& lab, const Row& row, bool warm) {
  measure_own_op(lab, row, *find_own_op(row.text("op")), warm);
}

constexpr SuiteOp kOps[] = {
    {"matmul", measure_matmul},
    {"attention", measure_own_attention},
    {"attention", measure_cudnn_attention},
    {"grouped_matmul", measure_grouped_matmul, false},
    {"layer", measure_layer, false},
    {"rmsnorm", measure_own},
    {"layernorm", measure_own},
    {"softmax", measure_own},
    {"rope", measure_own},
    {"silu_mul", measure_own},
    {"gelu", measure_own},
    {"embedding", measure_own},
    {"copy", measure_own},
    {"add", measure_own},
    {"triad", measure_own},
    {"fill", measure_own},
};

}  // namespace

std::span<const SuiteOp> suite_ops() {
  return kOps;
}

const SuiteOp* find_suite_op(std::string_view name) {
  for (const SuiteOp& op : kOps) {
    if (op.name == name) {
      return &op;
    }
  }
  return nullptr;
}

}  // namespace mansard::measure
