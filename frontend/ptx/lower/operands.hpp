#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "frontend/ptx/ast.hpp"
#include "ir/kernel.hpp"

namespace mansard::frontend::ptx {

/// Operands of a PTX function as operands of a kernel; adds parameters and variables to the kernel
/// as they are met.
class Operands {
 public:
  Operands(const Module& module, const Function& function, ir::Kernel& kernel)
      : module_(module), function_(function), kernel_(kernel) {}

  /// Gives every variable in shared and local memory that the function uses its offset.
  void place_variables();

  [[nodiscard]] ir::KernelOperand convert(const Operand& operand);
  [[nodiscard]] ir::KernelOperand convert(const Instruction& instruction, std::size_t n);
  /// What an address operand points at: a register or an immediate, with the offset.
  [[nodiscard]] ir::KernelOperand address(const Operand& operand);
  /// The parameter that `[p + offset]` reads, of `bytes`.
  [[nodiscard]] ir::KernelOperand parameter(const Operand& operand, unsigned bytes, bool is_float);
  /// Registers that an instruction writes, in order.
  [[nodiscard]] std::vector<std::uint32_t> results(const Instruction& instruction) const;
  [[nodiscard]] const Function& function() const { return function_; }
  [[nodiscard]] const Module& module() const { return module_; }

 private:
  void collect(const Operand& operand, std::vector<std::uint32_t>& registers) const;
  void place(VariableId id);
  ir::KernelOperand variable(const Operand& operand);

  const Module& module_;
  const Function& function_;
  ir::Kernel& kernel_;
  std::map<std::uint32_t, std::int64_t> offsets_;  ///< Of variables in shared and local memory.
  std::map<std::uint32_t, std::uint32_t> globals_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> parameters_;
  std::int64_t local_end_ = 0;
};

}  // namespace mansard::frontend::ptx
