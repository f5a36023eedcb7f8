#include "frontend/ptx/printer.hpp"

#include <iterator>
#include <limits>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "frontend/ptx/special_registers.hpp"

namespace mansard::frontend::ptx {
namespace {

std::string_view word_of(Linkage linkage) {
  switch (linkage) {
    case Linkage::kExtern:
      return ".extern ";
    case Linkage::kVisible:
      return ".visible ";
    case Linkage::kWeak:
      return ".weak ";
    case Linkage::kCommon:
      return ".common ";
    case Linkage::kNone:
      break;
  }
  return "";
}

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}

  std::string run() {
    add(".version {}.{}\n.target {}", module_.version.major, module_.version.minor,
        module_.target.name);
    for (const std::string_view option : module_.target.options) {
      add(", {}", option);
    }
    out_ += module_.has_address_size ? "\n.address_size 64\n\n" : "\n\n";
    for (const Item& item : module_.items) {
      print_item(item);
    }
    return std::move(out_);
  }

  std::string instruction(const Function& function, const Instruction& instruction) {
    print_instruction(function, instruction);
    return std::move(out_);
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }

  void print_item(const Item& item) {
    switch (item.kind) {
      case ItemKind::kVariable:
        print_variable(module_.variables[item.index]);
        out_ += ";\n";
        break;
      case ItemKind::kFunction:
        print_function(module_.functions[item.index]);
        break;
      case ItemKind::kFile: {
        const File& file = module_.files[item.index];
        add(".file {} \"{}\"{}\n", file.number, file.name, file.tail);
        break;
      }
      case ItemKind::kSection:
        add("{}\n", module_.sections[item.index].text);
        break;
      case ItemKind::kDirective: {
        const Directive& directive = module_.directives[item.index];
        add(".{} {};\n", directive.name, directive.text);
        break;
      }
    }
  }

  void print_variable(const Variable& variable) {
    out_ += word_of(variable.linkage);
    if (variable.space == Space::kTex) {
      out_ += ".tex";
    } else if (variable.bank >= 0) {
      add(".const[{}]", variable.bank);
    } else {
      add(".{}", name_of(variable.space));
    }
    if (!variable.attributes.empty()) {
      add(" .attribute({})", variable.attributes);
    }
    if (variable.alignment != 0) {
      add(" .align {}", variable.alignment);
    }
    if (variable.width > 1) {
      add(" .v{}", variable.width);
    }
    add(" .{}", name_of(variable.type));
    if (variable.is_pointer) {
      print_pointer(variable);
    }
    add(" {}", variable.name);
    if (variable.count != 0) {
      add("<{}>", variable.count);
    }
    for (const std::uint64_t dimension : variable.dimensions) {
      out_ += dimension == 0 ? "[]" : fmt::format("[{}]", dimension);
    }
    if (variable.initialiser.count != 0) {
      out_ += " = ";
      print_operand(module_.operands, nullptr, module_.operands[variable.initialiser.first]);
    }
  }

  void print_pointer(const Variable& variable) {
    out_ += " .ptr";
    if (variable.pointee_space != Space::kGeneric) {
      add(" .{}", name_of(variable.pointee_space));
    }
    if (variable.pointee_alignment != 0) {
      add(" .align {}", variable.pointee_alignment);
    }
  }

  void print_parameters(const std::vector<VariableId>& parameters) {
    out_ += '(';
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      out_ += i == 0 ? "" : ", ";
      print_variable(module_.variable(parameters[i]));
    }
    out_ += ')';
  }

  void print_directives(const std::vector<Directive>& directives) {
    for (const Directive& directive : directives) {
      add("\n.{}", directive.name);
      for (std::size_t i = 0; i < directive.values.size(); ++i) {
        add("{}{}", i == 0 ? " " : ", ", directive.values[i]);
      }
      if (!directive.text.empty()) {
        add(" {};", directive.text);
      }
    }
  }

  void print_function(const Function& function) {
    add("{}{}", word_of(function.linkage), function.is_entry ? ".entry " : ".func ");
    if (!function.attributes.empty()) {
      add(".attribute({}) ", function.attributes);
    }
    if (!function.returns.empty()) {
      print_parameters(function.returns);
      out_ += ' ';
    }
    out_ += function.name;
    print_parameters(function.parameters);
    print_directives(function.directives);
    if (!function.has_body) {
      out_ += ";\n";
      return;
    }
    out_ += "\n{\n";
    for (const Statement& statement : function.statements) {
      print_statement(function, statement);
    }
    out_ += "}\n";
  }

  void print_statement(const Function& function, const Statement& statement) {
    switch (statement.kind) {
      case StatementKind::kInstruction:
        print_instruction(function, function.instructions[statement.index]);
        out_ += ";\n";
        break;
      case StatementKind::kLabel:
        add("{}:\n", function.labels[statement.index].name);
        break;
      case StatementKind::kOpen:
        out_ += "{\n";
        break;
      case StatementKind::kClose:
        out_ += "}\n";
        break;
      case StatementKind::kRegisters:
        print_registers(function.register_declarations[statement.index]);
        break;
      case StatementKind::kVariable:
        print_variable(module_.variables[statement.index]);
        out_ += ";\n";
        break;
      case StatementKind::kLine:
        print_line(module_.lines[statement.index]);
        break;
      case StatementKind::kDirective: {
        const Directive& directive = function.body_directives[statement.index];
        add(".{} {};\n", directive.name, directive.text);
        break;
      }
      case StatementKind::kTargets:
        print_targets(function, function.targets[statement.index]);
        break;
      case StatementKind::kPrototype:
        print_prototype(function.prototypes[statement.index]);
        break;
    }
  }

  void print_registers(const RegisterDeclaration& declaration) {
    out_ += ".reg ";
    if (declaration.width > 1) {
      add(".v{} ", declaration.width);
    }
    add(".{} {}", name_of(declaration.type), declaration.name);
    if (declaration.count != 0) {
      add("<{}>", declaration.count);
    }
    out_ += ";\n";
  }

  void print_line(const Line& line) {
    add(".loc {} {} {}", line.file, line.line, line.column);
    if (!line.function_name.empty()) {
      add(", function_name {}", line.function_name);
    }
    if (line.inlined_file != 0) {
      add(", inlined_at {} {} {}", line.inlined_file, line.inlined_line, line.inlined_column);
    }
    out_ += '\n';
  }

  void print_targets(const Function& function, const Targets& targets) {
    add("{}: {} ", targets.name, targets.calls ? ".calltargets" : ".branchtargets");
    print_joined(function.operands, &function, targets.targets);
    out_ += ";\n";
  }

  void print_prototype(const Prototype& prototype) {
    add("{}: .callprototype ", prototype.name);
    if (!prototype.returns.empty()) {
      print_parameters(prototype.returns);
      out_ += ' ';
    }
    out_ += "_ ";
    print_parameters(prototype.parameters);
    print_directives(prototype.directives);
    out_ += ";\n";
  }

  void print_instruction(const Function& function, const Instruction& instruction) {
    if (instruction.guard) {
      add("@{}{} ", instruction.guard.negated ? "!" : "",
          function.reg(instruction.guard.predicate).name);
    }
    out_ += instruction.opcode();
    for (const std::string_view modifier : instruction.form->modifiers) {
      add(".{}", modifier);
    }
    if (instruction.operands.count != 0) {
      out_ += ' ';
      print_joined(function.operands, &function, function.operands_of(instruction));
    }
  }

  void print_joined(const std::vector<Operand>& pool, const Function* function,
                    std::span<const Operand> operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      out_ += i == 0 ? "" : ", ";
      print_operand(pool, function, operands[i]);
    }
  }

  void print_integer(const Operand& operand) {
    if (operand.is_unsigned) {
      add("{}U", static_cast<std::uint64_t>(operand.value));
    } else if (operand.value == std::numeric_limits<std::int64_t>::min()) {
      out_ += "(.s64)9223372036854775808U";
    } else {
      add("{}", operand.value);
    }
  }

  void print_operand(const std::vector<Operand>& pool, const Function* function,
                     const Operand& operand) {
    const std::span<const Operand> children =
        std::span(pool).subspan(operand.children.first, operand.children.count);
    switch (operand.kind) {
      case OperandKind::kInteger:
        return print_integer(operand);
      case OperandKind::kFloat32:
        return add("0f{:08X}", static_cast<std::uint32_t>(operand.value));
      case OperandKind::kFloat64:
        return add("0d{:016X}", static_cast<std::uint64_t>(operand.value));
      case OperandKind::kAddress:
        return print_address(pool, function, operand, children);
      case OperandKind::kVector:
        return print_group(pool, function, children, '{', '}');
      case OperandKind::kList:
        return print_group(pool, function, children, '(', ')');
      case OperandKind::kPair:
        print_operand(pool, function, children[0]);
        out_ += '|';
        return print_operand(pool, function, children[1]);
      case OperandKind::kGeneric:
        out_ += "generic";
        print_group(pool, function, children, '(', ')');
        return print_offset(operand);
      case OperandKind::kByte:
        add("{}", operand.value);
        return print_group(pool, function, children, '(', ')');
      case OperandKind::kSink:
        out_ += '_';
        return;
      default:
        return print_name(function, operand);
    }
  }

  void print_group(const std::vector<Operand>& pool, const Function* function,
                   std::span<const Operand> children, char open, char close) {
    out_ += open;
    print_joined(pool, function, children);
    out_ += close;
  }

  void print_address(const std::vector<Operand>& pool, const Function* function,
                     const Operand& operand, std::span<const Operand> children) {
    out_ += '[';
    if (children.empty()) {
      print_integer(operand);
    } else {
      print_operand(pool, function, children[0]);
      print_offset(operand);
      if (children.size() > 1) {
        out_ += ", ";
        print_joined(pool, function, children.subspan(1));
      }
    }
    out_ += ']';
  }

  void print_offset(const Operand& operand) {
    if (operand.value != 0) {
      add("+{}", operand.value);
    }
  }

  void print_name(const Function* function, const Operand& operand) {
    if (operand.negated) {
      const bool is_predicate = operand.kind == OperandKind::kRegister &&
                                function->reg(operand.as<RegisterId>()).type == Type::kPred;
      out_ += is_predicate ? '!' : '-';
    }
    out_ += name_of_symbol(function, operand);
    if (operand.component == Component::kMulti) {
      const std::string_view text = std::string_view(module_.source->text)
                                        .substr(operand.position, operand.end - operand.position);
      out_ += text.substr(text.find('.'));
    } else if (operand.component != Component::kNone) {
      add(".{}", name_of(operand.component));
    }
    print_offset(operand);
  }

  [[nodiscard]] std::string_view name_of_symbol(const Function* function,
                                                const Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::kRegister:
        return function->reg(operand.as<RegisterId>()).name;
      case OperandKind::kSpecial:
        return special_register(operand.as<SpecialId>()).name;
      case OperandKind::kVariable:
        return module_.variable(operand.as<VariableId>()).name;
      case OperandKind::kFunction:
        return called_name(operand);
      case OperandKind::kLabel:
        return function->label(operand.as<LabelId>()).name;
      case OperandKind::kTargets:
        return function->targets[operand.id].name;
      case OperandKind::kPrototype:
        return function->prototypes[operand.id].name;
      default:
        return {};
    }
  }

  [[nodiscard]] std::string_view called_name(const Operand& operand) const {
    return module_.function(operand.as<FunctionId>()).name;
  }

  const Module& module_;
  std::string out_;
};

}  // namespace

std::string print(const Module& module) {
  return Printer(module).run();
}

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  return Printer(module).instruction(function, instruction);
}

}  // namespace mansard::frontend::ptx
