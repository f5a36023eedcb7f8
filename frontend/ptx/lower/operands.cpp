#include "frontend/ptx/lower/operands.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "frontend/ptx/special_registers.hpp"

namespace mansard::frontend::ptx {
namespace {

using ir::KernelOperand;
using ir::SpecialValue;
using Kind = KernelOperand::Kind;

struct SpecialName {
  std::string_view name;
  SpecialValue first;  ///< Of component x; y and z follow if it is a vector.
  bool vector = false;
};

constexpr SpecialName kSpecials[] = {
    {"%tid", SpecialValue::kTidX, true},
    {"%ntid", SpecialValue::kBlockDimX, true},
    {"%ctaid", SpecialValue::kBlockX, true},
    {"%nctaid", SpecialValue::kGridX, true},
    {"%clusterid", SpecialValue::kBlockX,
     true},  // clusters of one block unless the launch says more
    {"%nclusterid", SpecialValue::kGridX, true},
    {"%laneid", SpecialValue::kLane},
    {"%warpid", SpecialValue::kWarp},
    {"%nwarpid", SpecialValue::kWarps},
    {"%lanemask_eq", SpecialValue::kLaneMaskEq},
    {"%lanemask_le", SpecialValue::kLaneMaskLe},
    {"%lanemask_lt", SpecialValue::kLaneMaskLt},
    {"%lanemask_ge", SpecialValue::kLaneMaskGe},
    {"%lanemask_gt", SpecialValue::kLaneMaskGt},
    {"%dynamic_smem_size", SpecialValue::kDynamicShared},
    {"%total_smem_size", SpecialValue::kTotalShared},
    {"%cluster_nctarank", SpecialValue::kOne},
    {"%cluster_ctarank", SpecialValue::kZero},
    {"%cluster_ctaid", SpecialValue::kZero},
    {"%cluster_nctaid", SpecialValue::kOne},
};

SpecialValue special_value(const Operand& operand) {
  const std::string_view name = special_register(operand.as<SpecialId>()).name;
  for (const SpecialName& each : kSpecials) {
    if (each.name != name) {
      continue;
    }
    if (!each.vector) {
      return each.first;
    }
    const int component = operand.component == Component::kY   ? 1
                          : operand.component == Component::kZ ? 2
                                                               : 0;
    return operand.component == Component::kW
               ? SpecialValue::kZero
               : static_cast<SpecialValue>(static_cast<int>(each.first) + component);
  }
  return SpecialValue::kUnknown;
}

std::int64_t aligned(std::int64_t offset, std::int64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace

void Operands::place(VariableId id) {
  const Variable& variable = module_.variable(id);
  const auto alignment = static_cast<std::int64_t>(std::max(1U, variable.natural_alignment()));
  const auto bytes =
      static_cast<std::int64_t>(std::min<std::uint64_t>(variable.bytes(), 1U << 30U));
  if (offsets_.contains(static_cast<std::uint32_t>(id))) {
    return;
  }
  if (variable.space == Space::kShared) {
    const std::int64_t at = aligned(kernel_.static_shared, alignment);
    offsets_[static_cast<std::uint32_t>(id)] = at;
    kernel_.static_shared = static_cast<std::uint32_t>(at + bytes);
  } else if (variable.space == Space::kLocal) {
    const std::int64_t at = aligned(local_end_, alignment);
    offsets_[static_cast<std::uint32_t>(id)] = at;
    local_end_ = at + bytes;
    kernel_.local_bytes = static_cast<std::uint32_t>(local_end_);
  }
}

void Operands::place_variables() {
  const auto used = [&](bool open) {
    for (const Operand& operand : function_.operands) {
      if (operand.kind == OperandKind::kVariable) {
        const auto id = operand.as<VariableId>();
        if ((module_.variable(id).bytes() == 0) == open) {
          place(id);
        }
      }
    }
  };
  used(false);
  used(true);  // extern arrays of open size lie behind the others
}

KernelOperand Operands::variable(const Operand& operand) {
  const auto id = operand.as<VariableId>();
  const Variable& variable = module_.variable(id);
  if (const auto placed = offsets_.find(operand.id); placed != offsets_.end()) {
    return {.kind = Kind::kImmediate, .value = placed->second + operand.value};
  }
  if (variable.space == Space::kGlobal || variable.space == Space::kConst ||
      variable.space == Space::kTex) {
    const auto [found, is_new] =
        globals_.emplace(operand.id, static_cast<std::uint32_t>(kernel_.variables.size()));
    if (is_new) {
      kernel_.variables.emplace_back(variable.name);
    }
    return {.kind = Kind::kImmediate,
            .value = ir::kVariableBase + found->second * ir::kObjectBytes + operand.value};
  }
  return {};
}

KernelOperand Operands::convert(const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kRegister:
      return {.kind = operand.component == Component::kNone ? Kind::kRegister : Kind::kNone,
              .negated = operand.negated,
              .id = operand.id};
    case OperandKind::kSpecial:
      return {.kind = Kind::kSpecial, .id = static_cast<std::uint32_t>(special_value(operand))};
    case OperandKind::kInteger:
      return {.kind = Kind::kImmediate, .value = operand.value};
    case OperandKind::kVariable:
      return variable(operand);
    case OperandKind::kFloat32:
    case OperandKind::kFloat64:
      return {.kind = Kind::kImmediate, .value = operand.value};
    default:
      return {};
  }
}

KernelOperand Operands::convert(const Instruction& instruction, std::size_t n) {
  return n < instruction.operands.count ? convert(function_.operand(instruction, n))
                                        : KernelOperand{};
}

KernelOperand Operands::address(const Operand& operand) {
  if (operand.kind != OperandKind::kAddress) {
    return convert(operand);
  }
  const auto children = function_.children(operand);
  if (children.empty()) {
    return {.kind = Kind::kImmediate, .value = operand.value};
  }
  KernelOperand base = convert(children[0]);
  base.value += operand.value;
  return base;
}

KernelOperand Operands::parameter(const Operand& operand, unsigned bytes, bool is_float) {
  const auto children = function_.children(operand);
  if (operand.kind != OperandKind::kAddress || children.empty() ||
      children[0].kind != OperandKind::kVariable) {
    return {};
  }
  const auto id = children[0].as<VariableId>();
  const auto found = std::find(function_.parameters.begin(), function_.parameters.end(), id);
  if (found == function_.parameters.end()) {
    return {};
  }
  const auto position = static_cast<std::uint32_t>(found - function_.parameters.begin());
  const auto offset = static_cast<std::uint32_t>(children[0].value + operand.value);
  const Variable& variable = module_.variable(id);
  const auto [at, is_new] = parameters_.emplace(
      std::pair(position, offset), static_cast<std::uint32_t>(kernel_.parameters.size()));
  if (is_new) {
    std::string name(variable.name);
    if (variable.is_array) {
      name += "[" + std::to_string(offset) + "]";
    }
    kernel_.parameters.push_back({.name = std::move(name),
                                  .position = position,
                                  .offset = offset,
                                  .bytes = bytes,
                                  .is_pointer = variable.is_pointer,
                                  .is_float = is_float,
                                  .alignment = variable.pointee_alignment});
  }
  return {.kind = Kind::kParameter, .id = at->second};
}

void Operands::collect(const Operand& operand, std::vector<std::uint32_t>& registers) const {
  if (operand.kind == OperandKind::kRegister) {
    registers.push_back(operand.id);
  } else if (operand.kind == OperandKind::kVector || operand.kind == OperandKind::kPair ||
             operand.kind == OperandKind::kList) {
    for (const Operand& child : function_.children(operand)) {
      collect(child, registers);
    }
  }
}

std::vector<std::uint32_t> Operands::results(const Instruction& instruction) const {
  std::vector<std::uint32_t> registers;
  const std::string_view op = instruction.opcode();
  const bool none = op == "st" || op == "red" || op == "bra" || op == "brx" || op == "bar" ||
                    op == "stmatrix" || op == "prefetch" || op == "cp" || op == "sust" ||
                    op == "sured" || op == "fence" || op == "membar" || op == "ret" ||
                    op == "exit" || (op == "wmma" && instruction.has("store")) ||
                    (op == "multimem" && !instruction.has("ld_reduce")) ||
                    (op == "mbarrier" && (instruction.has("init") || instruction.has("inval"))) ||
                    (op == "tcgen05" && !instruction.has("ld"));
  if (!none && instruction.operands.count > 0) {
    collect(function_.operand(instruction, 0), registers);
  }
  return registers;
}

}  // namespace mansard::frontend::ptx
