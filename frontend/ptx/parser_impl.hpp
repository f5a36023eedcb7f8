#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontend/ptx/ast.hpp"
#include "frontend/ptx/constant.hpp"
#include "frontend/ptx/scopes.hpp"
#include "frontend/ptx/token_stream.hpp"

/// The recursive-descent parser. Its parts are in parse_module.cpp (directives of the module),
/// parse_declaration.cpp (variables, registers, parameters), parse_function.cpp (heads and bodies)
/// and parse_operand.cpp (instructions and operands). A member that can fail reports and returns
/// false; statements recover at the next `;`.
namespace mansard::frontend::ptx {

class Parser {
 public:
  Parser(std::shared_ptr<const SourceFile> source, Report& report);

  [[nodiscard]] Module parse();

 private:
  /// What stands before a name in a declaration.
  struct DeclarationHead {
    Space space = Space::kGeneric;
    Type type = Type::kNone;
    std::uint8_t width = 1;
    std::uint32_t alignment = 0;
    std::int32_t bank = -1;
    bool is_pointer = false;
    Space pointee_space = Space::kGeneric;
    std::uint32_t pointee_alignment = 0;
    std::string_view attributes;
    Position position = 0;
  };
  /// Labels that were named in a scope before they were defined.
  using PendingLabels = std::vector<LabelId>;

  // parse_module.cpp
  void parse_header();
  void parse_version();
  void parse_target();
  void parse_architecture(const Token& word);
  void parse_item();
  void parse_dot_item();
  void parse_file_directive();
  void parse_line();
  void parse_section();
  [[nodiscard]] bool parse_section_body();
  [[nodiscard]] bool parse_section_value();
  void parse_pragma(std::vector<Directive>& directives);
  void parse_alias();
  [[nodiscard]] Linkage parse_linkage();
  void add_item(ItemKind kind, std::size_t index);

  // parse_declaration.cpp
  [[nodiscard]] bool parse_head(DeclarationHead& head);
  [[nodiscard]] bool parse_head_word(DeclarationHead& head);
  [[nodiscard]] bool parse_pointer(DeclarationHead& head);
  [[nodiscard]] bool parse_alignment(std::uint32_t& alignment);
  [[nodiscard]] std::string_view parse_attributes();
  [[nodiscard]] bool parse_dimensions(Variable& variable);
  [[nodiscard]] bool parse_variables(const DeclarationHead& head, Linkage linkage);
  [[nodiscard]] bool parse_variable(const DeclarationHead& head, Linkage linkage);
  [[nodiscard]] bool parse_registers(const DeclarationHead& head);
  [[nodiscard]] bool parse_register(const DeclarationHead& head);
  [[nodiscard]] bool parse_range(std::uint32_t& count);
  [[nodiscard]] bool parse_initialiser(Variable& variable);
  [[nodiscard]] bool parse_initial_value(Operand& operand);
  [[nodiscard]] bool parse_initial_list(Operand& operand);
  [[nodiscard]] bool parse_initial_symbol(Operand& operand);
  [[nodiscard]] bool parse_parameters(std::vector<VariableId>& parameters, bool is_return);
  [[nodiscard]] bool parse_parameter(std::vector<VariableId>& parameters, bool is_return);
  [[nodiscard]] Variable variable_of(const DeclarationHead& head, const Token& name) const;
  void declare(std::string_view name, Entity entity, const Token& at);
  void duplicate(const Token& name);

  // parse_function.cpp
  void parse_function(Linkage linkage, bool is_entry);
  [[nodiscard]] bool parse_function_head(Function& function);
  void declare_function(const Token& name);
  void parse_performance_directives(std::vector<Directive>& directives);
  void parse_body();
  void parse_statement();
  void parse_dot_statement();
  void parse_label(const Token& name);
  void parse_targets(const Token& name, bool calls);
  void parse_prototype(const Token& name);
  void open_scope();
  void close_scope();
  void define_label(const Token& name);
  void add_statement(StatementKind kind, std::size_t index);

  // parse_operand.cpp
  void parse_instruction();
  [[nodiscard]] bool parse_guard(Guard& guard);
  [[nodiscard]] const Form* parse_form();
  [[nodiscard]] const Form* intern_form(std::string_view opcode,
                                        std::vector<std::string_view> modifiers);
  [[nodiscard]] bool parse_operands(std::vector<Operand>& operands, char end);
  [[nodiscard]] bool parse_operand(Operand& operand);
  [[nodiscard]] bool parse_one(Operand& operand);
  [[nodiscard]] bool parse_group(Operand& operand, OperandKind kind, char end);
  [[nodiscard]] bool parse_pair(Operand& operand);
  [[nodiscard]] bool parse_named(Operand& operand);
  [[nodiscard]] bool parse_immediate(Operand& operand);
  [[nodiscard]] bool parse_offset(Operand& operand);
  [[nodiscard]] bool parse_component(Operand& operand);
  [[nodiscard]] bool resolve(const Token& name, Operand& operand);
  [[nodiscard]] bool refer(Entity& entity, const Token& name, Operand& operand);
  void refer_to_label(const Token& name, Operand& operand);
  [[nodiscard]] RegisterId use_register(Entity& entity, std::string_view name);
  [[nodiscard]] Range store(const std::vector<Operand>& children);
  void undefined(std::string_view what, std::string_view name, Position begin, Position end);

  [[nodiscard]] Function& function() { return *function_; }

  Report& report_;
  Module module_;
  TokenStream tokens_;
  Scopes scopes_;
  std::unordered_map<std::string_view, const Form*> forms_;
  std::unordered_set<std::string_view> defined_;  ///< Functions with a body.
  Function* function_ = nullptr;                  ///< The one that is being read.
  std::unique_ptr<Function> current_;
  std::vector<PendingLabels> pending_;  ///< One a scope of the function.
  LineId line_ = kNone<LineId>;
  std::size_t depth_ = 0;       ///< Of nested operands, initialisers and scopes.
  bool in_call_ = false;        ///< Parentheses are lists.
  bool in_address_ = false;     ///< Within brackets no variable has a subscript.
  bool allows_labels_ = false;  ///< An unknown name may be a label that follows.
};

}  // namespace mansard::frontend::ptx
