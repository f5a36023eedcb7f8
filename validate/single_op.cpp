#include "validate/single_op.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace mansard::validate {
namespace {

struct Combination {
  std::string_view name;
  std::string_view activation;
  std::string_view weight;
};

/// dtype columns that name two types.
constexpr std::array kCombinations{
    Combination{"int4_wo", "bf16", "int4_wo"},
    Combination{"w4a16_mxfp4", "bf16", "mxfp4"},
    Combination{"w4a8_mxfp4_mxfp8", "mxfp8", "mxfp4"},
};

const ir::Dtype* dtype_or(std::string_view name, const ir::Dtype* otherwise) {
  const ir::Dtype* found = name.empty() ? nullptr : ir::find_dtype(name);
  return found != nullptr ? found : otherwise;
}

}  // namespace

RowTypes row_types(std::string_view dtype) {
  for (const Combination& c : kCombinations) {
    if (c.name == dtype) {
      return {ir::find_dtype(c.activation), ir::find_dtype(c.weight)};
    }
  }
  const ir::Dtype* type = dtype_or(dtype, ir::find_dtype("fp32"));
  return {type, type};
}

std::string combined_type(const ir::Dtype& activation, const ir::Dtype& weight) {
  if (&activation == &weight) {
    return std::string(weight.name);
  }
  for (const Combination& c : kCombinations) {
    if (c.activation == activation.name && c.weight == weight.name) {
      return std::string(c.name);
    }
  }
  return fmt::format("{}*{}", activation.name, weight.name);
}

GraphMaker::GraphMaker(const ir::Measurement& row)
    : block_(graph_.add_block("op", 1)),
      dtype_(row_types(row.dtype).activation),
      out_dtype_(dtype_or(row.out_dtype, dtype_)),
      kv_dtype_(dtype_or(row.kv_dtype, dtype_)) {
  graph_.facts.name = row.op;
  graph_.facts.activations = ir::find_dtype("bf16");
}

ir::Expr GraphMaker::column(std::string_view name) {
  return graph_.pool().symbol(name);
}
ir::Expr GraphMaker::number(double value) {
  return graph_.pool().constant(value);
}

GraphMaker& GraphMaker::op(std::string_view kind, std::initializer_list<Dim> dims,
                           std::initializer_list<Override> dtypes,
                           std::initializer_list<std::string_view> optional) {
  ir::Op op{.name = fmt::format("{}.{}", kind, graph_.ops().size()),
            .def = ir::find_op(kind),
            .block = block_};
  for (const Dim& dim : dims) {
    op.dims.emplace(dim.name, dim.value);
  }
  for (const ir::OperandDef& operand : op.def->operands) {
    if (operand.optional && std::count(optional.begin(), optional.end(), operand.name) == 0) {
      op.operands.emplace_back();
      continue;
    }
    const ir::Dtype* type = operand.access == ir::Access::kWrite ? out_dtype_ : dtype_;
    for (const Override& other : dtypes) {
      type = other.operand == operand.name ? other.dtype : type;
    }
    op.operands.emplace_back(graph_.add_tensor({.name = fmt::format("{}.{}", op.name, operand.name),
                                                .role = operand.role,
                                                .dtype = type,
                                                .shape = {graph_.instantiate(op, operand.touched)},
                                                .block = block_}));
  }
  graph_.add_op(std::move(op));
  return *this;
}

GraphMaker& GraphMaker::attribute(std::string name, std::string value) {
  graph_.ops().back().attributes[std::move(name)] = std::move(value);
  return *this;
}

}  // namespace mansard::validate
