#include "frontend/ptx/check_module.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "frontend/ptx/check_operand.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

constexpr std::array<std::string_view, 8> kEntryOnly = {
    "maxntid",           "reqntid",         "minnctapersm",   "maxnctapersm",
    "reqnctapercluster", "explicitcluster", "maxclusterrank", "blocksareclusters"};

class DeclarationChecker {
 public:
  DeclarationChecker(const Module& module, Report& report) : module_(module), report_(report) {}

  void run() {
    for (const Variable& variable : module_.variables) {
      check(variable);
    }
    for (const Function& function : module_.functions) {
      note(function);
    }
    for (const Function& function : module_.functions) {
      check(function);
    }
    check_target();
  }

 private:
  void error(const Variable& variable, std::string id, std::string message) {
    report_.error(std::move(id), std::move(message), variable.position,
                  variable.position + static_cast<Position>(variable.name.size()));
  }
  void error(const Function& function, std::string id, std::string message) {
    report_.error(std::move(id), std::move(message), function.position,
                  function.position + static_cast<Position>(function.name.size()));
  }

  void check(const Variable& variable) {
    const std::string name = printable(variable.name);
    const bool may_be_open = variable.linkage == Linkage::kExtern || variable.is_parameter ||
                             variable.initialiser.count != 0 || variable.space == Space::kParam;
    const bool has_no_size =
        std::count(variable.dimensions.begin(), variable.dimensions.end(), 0) != 0;
    if (has_no_size && !may_be_open) {
      error(variable, "ptx-size", fmt::format("array '{}' has no size", name));
    }
    constexpr Version kTexref = {1, 5};
    if (variable.space == Space::kTex && module_.version >= kTexref) {
      error(variable, "ptx-space", ".tex is gone from PTX 1.5 on; .global .texref took its place");
    }
    if (variable.type == Type::kPred && variable.space != Space::kReg) {
      error(variable, "ptx-type", fmt::format("predicate '{}' must be a register", name));
    }
    if (variable.initialiser.count != 0) {
      check_initialiser(variable);
    }
  }

  void check_initialiser(const Variable& variable) {
    if (variable.space != Space::kGlobal && variable.space != Space::kConst &&
        variable.type != Type::kSamplerref && variable.type != Type::kTexref) {
      error(variable, "ptx-initialiser",
            fmt::format("'{}' of .{} takes no initial value", printable(variable.name),
                        name_of(variable.space)));
      return;
    }
    const Operand& value = module_.operands[variable.initialiser.first];
    check_values(variable, value);
    std::uint64_t places = variable.width;
    for (const std::uint64_t dimension : variable.dimensions) {
      places *= dimension;
    }
    if (value.kind == OperandKind::kVector && places != 0 && count_values(value) > places) {
      error(variable, "ptx-initialiser",
            fmt::format("more values than the {} elements of '{}'", places,
                        printable(variable.name)));
    }
  }

  [[nodiscard]] std::span<const Operand> children(const Operand& value) const {
    return std::span(module_.operands).subspan(value.children.first, value.children.count);
  }

  [[nodiscard]] std::uint64_t count_values(const Operand& value) const {
    if (value.kind != OperandKind::kVector) {
      return 1;
    }
    std::uint64_t count = 0;
    for (const Operand& child : children(value)) {
      count += count_values(child);
    }
    return count;
  }

  void check_values(const Variable& variable, const Operand& value) {
    if (value.kind == OperandKind::kVector) {
      for (const Operand& child : children(value)) {
        check_values(variable, child);
      }
      return;
    }
    const bool is_float =
        value.kind == OperandKind::kFloat32 || value.kind == OperandKind::kFloat64;
    const bool wants_float = kind_of(variable.type) == TypeKind::kFloat;
    const bool wants_bits = kind_of(variable.type) == TypeKind::kBits;
    const bool is_wrong = (is_float && !wants_float && !wants_bits) ||
                          (value.kind == OperandKind::kInteger && wants_float &&
                           (variable.type == Type::kF32 || variable.type == Type::kF64));
    if (is_wrong) {
      report_.error("ptx-initialiser",
                    fmt::format("expected a value of type .{}", name_of(variable.type)),
                    value.position, value.end);
    }
  }

  void note(const Function& function) {
    const auto [entry, is_new] = functions_.emplace(function.name, &function);
    if (is_new) {
      return;
    }
    if (!alike(entry->second->parameters, function.parameters) ||
        !alike(entry->second->returns, function.returns)) {
      error(function, "ptx-prototype",
            fmt::format("'{}' differs from its earlier declaration", printable(function.name)));
    }
    if (function.has_body || entry->second->linkage != Linkage::kExtern) {
      entry->second = function.has_body ? &function : entry->second;
    }
  }

  [[nodiscard]] bool alike(const std::vector<VariableId>& a,
                           const std::vector<VariableId>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](VariableId x, VariableId y) {
      const Variable& left = module_.variable(x);
      const Variable& right = module_.variable(y);
      return left.bytes() == right.bytes() && left.space == right.space &&
             (left.type == right.type || register_fits(left.type, right.type, false));
    });
  }

  void check(const Function& function) {
    if (function.is_entry) {
      check_entry(function);
    } else {
      check_device_function(function);
    }
    for (const Instruction& instruction : function.instructions) {
      if (instruction.opcode() == "call") {
        check_call(function, instruction);
      }
    }
  }

  void check_entry(const Function& function) {
    constexpr Version kParameters = {1, 4};
    if (module_.version < kParameters && !function.parameters.empty()) {
      error(function, "ptx-version", "a kernel with parameters needs PTX 1.4");
    }
    for (const VariableId id : function.parameters) {
      if (module_.variable(id).space != Space::kParam) {
        error(module_.variable(id), "ptx-space", "a parameter of a kernel must be .param");
      }
    }
    if (function.directive("maxntid") != nullptr && function.directive("reqntid") != nullptr) {
      error(function, "ptx-directive", ".maxntid and .reqntid exclude each other");
    }
  }

  void check_device_function(const Function& function) {
    for (const Directive& directive : function.directives) {
      if (std::find(kEntryOnly.begin(), kEntryOnly.end(), directive.name) != kEntryOnly.end()) {
        report_.error("ptx-directive", fmt::format("'.{}' is for kernels", directive.name),
                      directive.position,
                      directive.position + static_cast<Position>(directive.name.size()) + 1);
      }
    }
  }

  void check_call(const Function& function, const Instruction& instruction) {
    std::size_t returned = 0;
    std::size_t passed = 0;
    const Function* callee = nullptr;
    for (const Operand& operand : function.operands_of(instruction)) {
      if (operand.kind == OperandKind::kFunction) {
        callee = &module_.function(operand.as<FunctionId>());
      } else if (operand.kind == OperandKind::kList) {
        (callee == nullptr && passed == 0 && &operand == &function.operand(instruction, 0)
             ? returned
             : passed) = operand.children.count;
      }
    }
    if (callee == nullptr) {
      return;
    }
    const Function& known = *functions_.at(callee->name);
    if (!known.has_body && known.linkage != Linkage::kExtern) {
      report_.error("ptx-undefined",
                    fmt::format("'{}' is called and has no body", printable(known.name)),
                    instruction.position, instruction.end);
    }
    const bool is_variadic = !known.parameters.empty() &&
                             module_.variable(known.parameters.back()).is_array &&
                             module_.variable(known.parameters.back()).bytes() == 0;
    if (is_variadic) {
      return;
    }
    if (returned != known.returns.size() || passed != known.parameters.size()) {
      report_.error(
          "ptx-call",
          fmt::format("'{}' takes {} and returns {} values, the call passes {} and takes {}",
                      printable(known.name), known.parameters.size(), known.returns.size(), passed,
                      returned),
          instruction.position, instruction.end);
    } else {
      check_arguments(function, instruction, known);
    }
  }

  /// Registers that are passed are as wide as the parameters.
  void check_arguments(const Function& function, const Instruction& instruction,
                       const Function& callee) {
    const std::span<const Operand> operands = function.operands_of(instruction);
    const auto last = std::find_if(operands.rbegin(), operands.rend(), [](const Operand& each) {
      return each.kind == OperandKind::kList;
    });
    if (last == operands.rend() || callee.parameters.empty()) {
      return;
    }
    const std::span<const Operand> arguments = function.children(*last);
    for (std::size_t i = 0; i < std::min(arguments.size(), callee.parameters.size()); ++i) {
      const std::uint64_t wanted = module_.variable(callee.parameters[i]).bytes();
      const std::uint64_t found = argument_bytes(function, arguments[i], wanted);
      if (found != wanted) {
        report_.error(
            "ptx-call",
            fmt::format("expected an argument of {} bytes, found one of {}", wanted, found),
            arguments[i].position, arguments[i].end);
      }
    }
  }

  [[nodiscard]] std::uint64_t argument_bytes(const Function& function, const Operand& argument,
                                             std::uint64_t otherwise) const {
    if (argument.kind == OperandKind::kRegister) {
      const Register& reg = function.reg(argument.as<RegisterId>());
      return std::uint64_t{bytes_of(reg.type)} * reg.width;
    }
    if (argument.kind == OperandKind::kVariable) {
      return module_.variable(argument.as<VariableId>()).bytes();
    }
    return otherwise;
  }

  void check_target() {
    const auto& options = module_.target.options;
    const bool wants_debug = std::find(options.begin(), options.end(), "debug") != options.end();
    if (wants_debug && module_.sections.empty() && module_.lines.empty()) {
      const auto begin =
          static_cast<Position>(module_.target.name.data() - module_.source->text.data());
      report_.error("ptx-target", "'.target debug' without debug information", begin,
                    begin + static_cast<Position>(module_.target.name.size()));
    }
  }

  const Module& module_;
  Report& report_;
  std::unordered_map<std::string_view, const Function*> functions_;
};

}  // namespace

void check_declarations(const Module& module, Report& report) {
  DeclarationChecker(module, report).run();
}

}  // namespace mansard::frontend::ptx
