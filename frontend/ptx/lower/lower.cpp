#include "frontend/ptx/lower/lower.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ptx/lower/access.hpp"
#include "frontend/ptx/lower/arithmetic.hpp"
#include "frontend/ptx/lower/classify.hpp"
#include "frontend/ptx/lower/expand.hpp"
#include "frontend/ptx/lower/merge_loads.hpp"
#include "frontend/ptx/lower/operands.hpp"
#include "frontend/ptx/lower/pointers.hpp"
#include "frontend/ptx/lower/predicate.hpp"
#include "frontend/ptx/lower/unroll.hpp"

namespace mansard::frontend::ptx {
namespace {

using ir::KernelBlock;
using ir::KernelInstruction;
using ir::KernelOp;
using ir::kNothing;

/// A destination beyond the second: `ld.v4` writes four registers.
const std::string kFurtherResult = "(further result)";

std::array<std::uint32_t, 3> three(const Directive* directive) {
  std::array<std::uint32_t, 3> sides{};
  if (directive != nullptr) {
    sides = {1, 1, 1};
    for (std::size_t i = 0; i < std::min<std::size_t>(3, directive->values.size()); ++i) {
      sides[i] = static_cast<std::uint32_t>(directive->values[i]);
    }
  }
  return sides;
}

std::uint32_t first_value(const Directive* directive) {
  return directive == nullptr || directive->values.empty()
             ? 0
             : static_cast<std::uint32_t>(directive->values[0]);
}

/// Greatest number of 32-bit registers alive at once, from the first to the last place that names
/// each; one that is alive where a loop begins and named in it lives until the loop ends.
class Pressure {
 public:
  explicit Pressure(const Function& function)
      : function_(function),
        first_(function.registers.size(), kNothing),
        last_(function.registers.size()) {}

  std::uint32_t estimate() {
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      const Instruction& each = function_.instructions[i];
      if (each.guard) {
        name(index(each.guard.predicate), i);
      }
      for (const Operand& operand : function_.operands_of(each)) {
        visit(operand, i);
      }
    }
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      extend_over_loop(i);
    }
    std::vector<std::int64_t> change(function_.instructions.size() + 2);
    for (std::size_t r = 0; r < first_.size(); ++r) {
      const unsigned bits = bits_of(function_.registers[r].type) * function_.registers[r].width;
      if (first_[r] != kNothing && bits > 1) {
        change[first_[r]] += (bits + 31) / 32;
        change[last_[r] + 1] -= (bits + 31) / 32;
      }
    }
    std::int64_t alive = 0;
    std::int64_t most = 0;
    for (const std::int64_t each : change) {
      alive += each;
      most = std::max(most, alive);
    }
    return static_cast<std::uint32_t>(most);
  }

 private:
  void name(std::size_t reg, std::uint32_t at) {
    first_[reg] = std::min(first_[reg], at);
    last_[reg] = std::max(last_[reg], at);
  }
  void visit(const Operand& operand, std::uint32_t at) {
    if (operand.kind == OperandKind::kRegister) {
      name(operand.id, at);
    }
    for (const Operand& child : function_.children(operand)) {
      visit(child, at);
    }
  }
  void extend_over_loop(std::uint32_t end) {
    for (const Operand& operand : function_.operands_of(function_.instructions[end])) {
      if (operand.kind != OperandKind::kLabel) {
        continue;
      }
      const auto begin = static_cast<std::uint32_t>(function_.label(operand.as<LabelId>()).target);
      for (std::size_t r = 0; r < first_.size() && begin <= end; ++r) {
        if (first_[r] < begin && last_[r] >= begin && last_[r] < end) {
          last_[r] = end;
        }
      }
    }
  }

  const Function& function_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> last_;
};

class Lowering {
 public:
  Lowering(const Module& module, const Function& function)
      : module_(module), function_(function), operands_(module, function, kernel_) {}

  ir::Kernel run() {
    describe();
    find_leaders();
    for (std::size_t i = 0; i < function_.instructions.size(); ++i) {
      lower(i);
    }
    close_block(static_cast<std::uint32_t>(function_.instructions.size()));
    resolve_targets();
    mark_pointers(kernel_);
    expand(kernel_);
    merge_shared_loads(kernel_);
    mark_unrolled(kernel_);
    mark_predicated(kernel_);
    return std::move(kernel_);
  }

 private:
  void describe() {
    kernel_.name = function_.name;
    kernel_.target = module_.target.name;
    kernel_.required_block = three(function_.directive("reqntid"));
    kernel_.max_block = three(function_.directive("maxntid"));
    kernel_.cluster = three(function_.directive("reqnctapercluster"));
    kernel_.max_registers = first_value(function_.directive("maxnreg"));
    kernel_.min_blocks = first_value(function_.directive("minnctapersm"));
    for (const VariableId each : function_.parameters) {
      kernel_.signature.emplace_back(module_.variable(each).name);
    }
    for (const Register& each : function_.registers) {
      kernel_.registers.emplace_back(each.name);
    }
    for (const File& file : module_.files) {
      kernel_.source_files.emplace_back(file.name);
    }
    operands_.place_variables();
    kernel_.live_registers = Pressure(function_).estimate();
  }

  void find_leaders() {
    leader_.assign(function_.instructions.size() + 1, false);
    leader_[0] = true;
    for (const Label& label : function_.labels) {
      if (label.target != kNone<InstructionId>) {
        leader_[index(label.target)] = true;
      }
    }
  }

  std::uint32_t class_of(const Form& form) {
    const auto [found, is_new] =
        classes_.emplace(&form, static_cast<std::uint32_t>(kernel_.classes.size()));
    if (is_new) {
      kernel_.classes.push_back(classify(form));
    }
    return found->second;
  }

  void lower(std::size_t i) {
    if (leader_[i]) {
      close_block(static_cast<std::uint32_t>(i));
    }
    const Instruction& source = function_.instructions[i];
    KernelInstruction each = plain(source);
    lower_arithmetic(operands_, source, each);
    if (auto access = access_of(operands_, source)) {
      access->instruction = static_cast<std::uint32_t>(kernel_.instructions.size());
      each.access = static_cast<std::uint32_t>(kernel_.accesses.size());
      kernel_.accesses.push_back(*std::move(access));
    }
    kernel_.instructions.push_back(each);
    further_results(source, each);
    note_cold(source);
    if (is_terminator(source)) {
      terminate(source, i);
    }
  }

  KernelInstruction plain(const Instruction& source) {
    KernelInstruction each{.kind = class_of(*source.form)};
    if (source.guard && !is_terminator(source)) {
      each.guard = static_cast<std::uint32_t>(source.guard.predicate);
      each.guard_negated = source.guard.negated;
    }
    each.machine = kernel_.classes[each.kind].machine;
    each.barrier = (source.opcode() == "bar" || source.opcode() == "barrier") &&
                   !source.has("warp") && !source.has("cluster") && !source.has("arrive");
    each.position = source.position;
    if (source.line != kNone<LineId>) {
      const Line& line = module_.lines[index(source.line)];
      each.line = line.line;
    }
    const std::vector<std::uint32_t> results = operands_.results(source);
    if (!results.empty()) {
      each.destination = results[0];
    }
    if (results.size() > 1) {
      each.destination2 = results[1];
    }
    return each;
  }

  /// Registers beyond the second that an instruction writes.
  void further_results(const Instruction& source, const KernelInstruction& each) {
    const std::vector<std::uint32_t> results = operands_.results(source);
    for (std::size_t r = 2; r < results.size(); r += 2) {
      KernelInstruction more{.kind = further_class()};
      more.guard = each.guard;
      more.guard_negated = each.guard_negated;
      more.machine = 0;
      more.destination = results[r];
      more.destination2 = r + 1 < results.size() ? results[r + 1] : kNothing;
      kernel_.instructions.push_back(more);
    }
  }

  std::uint32_t further_class() {
    if (further_ == kNothing) {
      further_ = static_cast<std::uint32_t>(kernel_.classes.size());
      kernel_.classes.push_back({.name = kFurtherResult,
                                 .written = 0,
                                 .pipe = ir::Pipe::kNone,
                                 .machine = 0,
                                 .machine_low = 0,
                                 .machine_high = 0});
    }
    return further_;
  }

  static bool is_terminator(const Instruction& source) {
    const std::string_view op = source.opcode();
    return op == "bra" || op == "brx" || op == "ret" || op == "exit" || op == "trap";
  }

  /// Traps, failed assertions, and the reduction of huge angles by a table (libdevice's i2opi).
  void note_cold(const Instruction& source) {
    if (source.opcode() == "trap") {
      cold_ = true;
    }
    for (const Operand& operand : function_.operands_of(source)) {
      if (operand.kind == OperandKind::kFunction) {
        const std::string_view name = module_.function(operand.as<FunctionId>()).name;
        cold_ = cold_ || name.find("assert") != std::string_view::npos ||
                name.find("trap") != std::string_view::npos;
      } else if (operand.kind == OperandKind::kVariable) {
        const std::string_view name = module_.variable(operand.as<VariableId>()).name;
        cold_ = cold_ || name.find("i2opi") != std::string_view::npos;
      }
    }
  }

  void terminate(const Instruction& source, std::size_t i) {
    KernelBlock& block = open_;
    if (source.guard) {
      block.predicate = static_cast<std::uint32_t>(source.guard.predicate);
      block.predicate_negated = source.guard.negated;
    }
    ends_ = true;
    if (source.opcode() == "bra") {
      jump_ = label_target(function_.operand(source, 0));
    } else if (source.opcode() == "brx") {
      indirect(source);
    } else {
      jump_ = kNothing;
    }
    leader_[i + 1] = true;
  }

  std::uint32_t label_target(const Operand& operand) {
    return operand.kind == OperandKind::kLabel
               ? static_cast<std::uint32_t>(function_.label(operand.as<LabelId>()).target)
               : kNothing;
  }

  void indirect(const Instruction& source) {
    for (const Operand& operand : function_.operands_of(source)) {
      if (operand.kind == OperandKind::kTargets) {
        for (const Operand& target : function_.targets[operand.id].targets) {
          open_.targets.push_back(label_target(target));
        }
      }
    }
    kernel_.notes.push_back("an indirect branch is priced as all of its targets");
  }

  /// Ends the open block before instruction `i` of the file.
  void close_block(std::uint32_t i) {
    const auto count = static_cast<std::uint32_t>(kernel_.instructions.size());
    block_at_[i] = static_cast<std::uint32_t>(kernel_.blocks.size());
    if (open_.first == count && !ends_) {
      open_.first = count;
      block_at_[i] = static_cast<std::uint32_t>(kernel_.blocks.size());
      return;
    }
    open_.count = count - open_.first;
    open_.cold = cold_;
    open_.taken = ends_ ? jump_ : i;
    open_.next = open_.predicate != kNothing || !open_.targets.empty() ? i : kNothing;
    kernel_.blocks.push_back(std::exchange(open_, KernelBlock{.first = count}));
    block_at_[i] = static_cast<std::uint32_t>(kernel_.blocks.size());
    ends_ = false;
    cold_ = false;
  }

  /// Targets were instructions of the file; they become blocks.
  void resolve_targets() {
    const auto end = static_cast<std::uint32_t>(kernel_.blocks.size());
    const auto block = [&](std::uint32_t instruction) {
      const auto found = instruction == kNothing ? block_at_.end() : block_at_.find(instruction);
      return found == block_at_.end() || found->second == end ? kNothing : found->second;
    };
    for (KernelBlock& each : kernel_.blocks) {
      each.taken = block(each.taken);
      each.next = block(each.next);
      for (std::uint32_t& target : each.targets) {
        target = block(target);
      }
      std::erase(each.targets, kNothing);
    }
    if (kernel_.blocks.empty()) {
      kernel_.blocks.emplace_back();
    }
  }

  const Module& module_;
  const Function& function_;
  ir::Kernel kernel_;
  Operands operands_;
  std::vector<bool> leader_;
  std::map<const Form*, std::uint32_t> classes_;
  std::map<std::uint32_t, std::uint32_t>
      block_at_;  ///< Block that starts at an instruction of the file.
  KernelBlock open_;
  std::uint32_t jump_ = kNothing;
  std::uint32_t further_ = kNothing;
  bool ends_ = false;
  bool cold_ = false;
};

}  // namespace

ir::Kernel lower(const Module& module, const Function& function) {
  return Lowering(module, function).run();
}

}  // namespace mansard::frontend::ptx
