#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "frontend/ptx/parser_impl.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

constexpr std::size_t kDeepest = 100;

/// Types that only instructions have: .bf16, .tf32, the formats of eight bits and less.
bool is_register_type(Type type) {
  switch (kind_of(type)) {
    case TypeKind::kFloat:
      return type == Type::kF16 || type == Type::kF32 || type == Type::kF64;
    case TypeKind::kFloatPacked:
      return type == Type::kF16x2;
    case TypeKind::kUnsignedPacked:
    case TypeKind::kSignedPacked:
      return false;
    default:
      return bits_of(type) >= 8 || type == Type::kPred;
  }
}

}  // namespace

bool Parser::parse_alignment(std::uint32_t& alignment) {
  const Position begin = tokens_.peek().position;
  const std::optional<Constant> value = parse_constant(tokens_, report_);
  if (!value) {
    return false;
  }
  const std::int64_t bits = value->bits;
  constexpr std::int64_t kLargest = 1 << 30;
  if (value->is_float() || bits < 1 || bits > kLargest || (bits & (bits - 1)) != 0) {
    report_.error("ptx-alignment", "alignment is not a power of two", begin, tokens_.last_end());
    return false;
  }
  alignment = static_cast<std::uint32_t>(bits);
  return true;
}

std::string_view Parser::parse_attributes() {
  const Position begin = tokens_.peek().end;
  if (!tokens_.accept('(')) {
    tokens_.expected("'(' behind .attribute");
    return {};
  }
  std::size_t depth = 1;
  Position end = begin;
  while (depth > 0 && tokens_.peek().kind != TokenKind::kEnd && !tokens_.peek().is(';')) {
    const Token token = tokens_.take();
    if (token.is('(')) {
      ++depth;
    } else if (token.is(')')) {
      --depth;
      end = token.position;
    }
  }
  if (depth > 0) {
    tokens_.expected("')' behind the attributes");
  }
  return std::string_view(module_.source->text).substr(begin, end - begin);
}

bool Parser::parse_pointer(DeclarationHead& head) {
  head.is_pointer = true;
  while (tokens_.peek().kind == TokenKind::kDot) {
    const std::optional<Space> space = space_named(tokens_.peek().text);
    if (space) {
      head.pointee_space = *space;
      tokens_.take();
    } else if (tokens_.accept_dot("align")) {
      if (!parse_alignment(head.pointee_alignment)) {
        return false;
      }
    } else {
      return true;
    }
  }
  return true;
}

bool Parser::parse_head_word(DeclarationHead& head) {
  const Token word = tokens_.take();
  if (const std::optional<Space> space = space_named(word.text)) {
    if (head.space != Space::kGeneric) {
      report_.error("ptx-space", "second state space of a declaration", word.position, word.end);
      return false;
    }
    head.space = *space;
    if (head.space == Space::kConst && tokens_.peek().is('[')) {
      tokens_.take();
      const std::optional<Constant> bank = parse_constant(tokens_, report_);
      if (!bank || !tokens_.expect(']', "']' behind the bank")) {
        return false;
      }
      head.bank = static_cast<std::int32_t>(bank->bits);
    }
    return true;
  }
  if (const std::optional<Type> type = type_named(word.text)) {
    if (head.type != Type::kNone) {
      report_.error("ptx-type", "second type of a declaration", word.position, word.end);
      return false;
    }
    head.type = *type;
    return true;
  }
  if (word.text == "align") {
    return parse_alignment(head.alignment);
  }
  if (word.text == "attribute") {
    head.attributes = parse_attributes();
    return true;
  }
  if (word.text == "ptr") {
    return parse_pointer(head);
  }
  if (word.text == "v2" || word.text == "v4") {
    head.width = word.text == "v2" ? 2 : 4;
    return true;
  }
  report_.error("ptx-directive", "unknown directive " + describe(word), word.position, word.end);
  return false;
}

bool Parser::parse_head(DeclarationHead& head) {
  head.position = tokens_.peek().position;
  while (tokens_.peek().kind == TokenKind::kDot) {
    if (!parse_head_word(head)) {
      return false;
    }
  }
  if (head.space == Space::kGeneric) {
    tokens_.expected("a state space");
    return false;
  }
  if (head.type == Type::kNone && head.space == Space::kTex) {
    head.type = Type::kTexref;
  }
  if (head.type == Type::kNone) {
    tokens_.expected("a type");
    return false;
  }
  return true;
}

Variable Parser::variable_of(const DeclarationHead& head, const Token& name) const {
  Variable variable;
  variable.name = name.text;
  variable.space = head.space;
  variable.type = head.type;
  variable.width = head.width;
  variable.is_pointer = head.is_pointer;
  variable.pointee_space = head.pointee_space;
  variable.pointee_alignment = head.pointee_alignment;
  variable.alignment = head.alignment;
  variable.bank = head.bank;
  variable.attributes = head.attributes;
  variable.position = name.position;
  return variable;
}

void Parser::declare(std::string_view name, Entity entity, const Token& at) {
  if (!scopes_.declare(name, entity)) {
    duplicate(at);
  }
}

void Parser::duplicate(const Token& name) {
  report_.error("ptx-duplicate", fmt::format("'{}' is declared twice", printable(name.text)),
                name.position, name.end);
}

bool Parser::parse_range(std::uint32_t& count) {
  const Position begin = tokens_.peek().position;
  const std::optional<Constant> value = parse_term(tokens_, report_);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (!value) {
    return false;
  }
  if (value->is_float() || value->bits < 1 || value->bits > kMost) {
    report_.error("ptx-range", "a range holds at least one and at most 2147483647 names", begin,
                  tokens_.last_end());
    return false;
  }
  count = static_cast<std::uint32_t>(value->bits);
  return tokens_.expect('>', "'>' behind the number of names");
}

bool Parser::parse_register(const DeclarationHead& head) {
  const Token name = tokens_.expect_identifier("the name of a register");
  if (name.text.empty()) {
    return false;
  }
  if (kind_of(head.type) == TypeKind::kOpaque || !is_register_type(head.type)) {
    report_.error("ptx-type", fmt::format("no register is of type .{}", name_of(head.type)),
                  name.position, name.end);
  }
  RegisterDeclaration declaration = {name.text, 0, head.type, head.width, name.position};
  if (tokens_.accept('<')) {
    if (!parse_range(declaration.count)) {
      return false;
    }
    if (!scopes_.declare_range(name.text, declaration.count, head.type, head.width)) {
      report_.error("ptx-duplicate",
                    fmt::format("registers '{}' are declared twice", printable(name.text)),
                    name.position, name.end);
    }
  } else {
    declare(name.text, {EntityKind::kUnusedRegister, head.type, head.width, 0}, name);
  }
  function().register_declarations.push_back(declaration);
  add_statement(StatementKind::kRegisters, function().register_declarations.size() - 1);
  return true;
}

bool Parser::parse_registers(const DeclarationHead& head) {
  do {
    if (!parse_register(head)) {
      return false;
    }
  } while (tokens_.accept(','));
  return tokens_.expect(';', "';' behind a declaration");
}

bool Parser::parse_variables(const DeclarationHead& head, Linkage linkage) {
  do {
    if (!parse_variable(head, linkage)) {
      return false;
    }
  } while (tokens_.accept(','));
  return tokens_.expect(';', "';' behind a declaration");
}

bool Parser::parse_variable(const DeclarationHead& head, Linkage linkage) {
  const Token name = tokens_.expect_identifier("the name of a variable");
  if (name.text.empty()) {
    return false;
  }
  if (kind_of(head.type) != TypeKind::kOpaque && !is_register_type(head.type)) {
    report_.error("ptx-type", fmt::format("no variable is of type .{}", name_of(head.type)),
                  name.position, name.end);
  }
  Variable variable = variable_of(head, name);
  variable.linkage = linkage;
  if (tokens_.accept('<') && !parse_range(variable.count)) {
    return false;
  }
  if (!parse_dimensions(variable)) {
    return false;
  }
  const auto id = static_cast<std::uint32_t>(module_.variables.size());
  const Entity* earlier = scopes_.find_innermost(name.text);
  const bool again =
      earlier != nullptr && earlier->kind == EntityKind::kVariable && linkage != Linkage::kNone &&
      (linkage == Linkage::kExtern || module_.variables[earlier->id].linkage == Linkage::kExtern);
  if (!again) {
    declare(name.text, {EntityKind::kVariable, head.type, head.width, id}, name);
  }
  if (tokens_.accept('=') && !parse_initialiser(variable)) {
    return false;
  }
  module_.variables.push_back(std::move(variable));
  if (function_ == nullptr) {
    add_item(ItemKind::kVariable, id);
  } else {
    module_.variables.back().owner = static_cast<FunctionId>(module_.functions.size());
    function().variables.push_back(static_cast<VariableId>(id));
    add_statement(StatementKind::kVariable, id);
  }
  return true;
}

bool Parser::parse_dimensions(Variable& variable) {
  while (tokens_.accept('[')) {
    variable.is_array = true;
    if (tokens_.accept(']')) {
      variable.dimensions.push_back(0);
      continue;
    }
    const Position begin = tokens_.peek().position;
    const std::optional<Constant> size = parse_constant(tokens_, report_);
    if (!size) {
      return false;
    }
    if (size->is_float() || size->bits < 0) {
      report_.error("ptx-size", "size of an array is not a number of elements", begin,
                    tokens_.last_end());
      return false;
    }
    variable.dimensions.push_back(static_cast<std::uint64_t>(size->bits));
    if (!tokens_.expect(']', "']' behind the size")) {
      return false;
    }
  }
  return true;
}

bool Parser::parse_initialiser(Variable& variable) {
  Operand operand;
  if (!parse_initial_value(operand)) {
    return false;
  }
  variable.initialiser = {static_cast<std::uint32_t>(module_.operands.size()), 1};
  module_.operands.push_back(operand);
  return true;
}

bool Parser::parse_initial_value(Operand& operand) {
  operand.position = tokens_.peek().position;
  bool good = false;
  if (tokens_.peek().is('{')) {
    if (++depth_ > kDeepest) {
      tokens_.expected("an initialiser nested less deeply");
      return false;
    }
    tokens_.take();
    good = parse_initial_list(operand);
    --depth_;
  } else if (tokens_.peek().kind == TokenKind::kIdentifier && !tokens_.peek().is_word("WARP_SZ")) {
    good = parse_initial_symbol(operand);
  } else if (tokens_.peek().kind == TokenKind::kInteger && tokens_.peek_second().is('(')) {
    const std::optional<Constant> mask = parse_term(tokens_, report_);
    tokens_.take();
    Operand child;
    good = mask && parse_initial_symbol(child) && tokens_.expect(')', "')' behind the symbol");
    operand.kind = OperandKind::kByte;
    operand.value = mask ? mask->bits : 0;
    operand.children = {static_cast<std::uint32_t>(module_.operands.size()), 1};
    module_.operands.push_back(child);
  } else {
    good = parse_immediate(operand);
  }
  operand.end = tokens_.last_end();
  return good;
}

bool Parser::parse_initial_list(Operand& operand) {
  operand.kind = OperandKind::kVector;
  std::vector<Operand> children;
  while (!tokens_.peek().is('}')) {
    if (!parse_initial_value(children.emplace_back())) {
      return false;
    }
    if (!tokens_.accept(',')) {
      break;
    }
  }
  operand.children = {static_cast<std::uint32_t>(module_.operands.size()),
                      static_cast<std::uint32_t>(children.size())};
  module_.operands.insert(module_.operands.end(), children.begin(), children.end());
  return tokens_.expect('}', "'}' behind the values");
}

bool Parser::parse_initial_symbol(Operand& operand) {
  operand.position = tokens_.peek().position;
  const Token name = tokens_.expect_identifier("a symbol");
  if (name.text.empty()) {
    return false;
  }
  if (name.text == "generic" && tokens_.accept('(')) {
    Operand child;
    if (!parse_initial_symbol(child) || !tokens_.expect(')', "')' behind the symbol")) {
      return false;
    }
    operand.kind = OperandKind::kGeneric;
    operand.children = {static_cast<std::uint32_t>(module_.operands.size()), 1};
    module_.operands.push_back(child);
    return parse_offset(operand);
  }
  const Entity* entity = scopes_.find(name.text);
  if (entity == nullptr ||
      (entity->kind != EntityKind::kVariable && entity->kind != EntityKind::kFunction)) {
    undefined("symbol", name.text, name.position, name.end);
    return false;
  }
  operand.kind =
      entity->kind == EntityKind::kVariable ? OperandKind::kVariable : OperandKind::kFunction;
  operand.id = entity->id;
  if (!parse_offset(operand)) {
    return false;
  }
  operand.end = tokens_.last_end();
  return true;
}

bool Parser::parse_parameters(std::vector<VariableId>& parameters, bool is_return) {
  if (tokens_.accept(')')) {
    return true;
  }
  do {
    if (!parse_parameter(parameters, is_return)) {
      return false;
    }
  } while (tokens_.accept(','));
  return tokens_.expect(')', "')' behind the parameters");
}

bool Parser::parse_parameter(std::vector<VariableId>& parameters, bool is_return) {
  DeclarationHead head;
  if (!parse_head(head)) {
    return false;
  }
  if (head.space != Space::kParam && head.space != Space::kReg) {
    report_.error("ptx-space", "expected .param or .reg of a parameter", head.position,
                  tokens_.last_end());
    return false;
  }
  const Token name = tokens_.expect_identifier("the name of a parameter");
  if (name.text.empty()) {
    return false;
  }
  Variable variable = variable_of(head, name);
  variable.is_parameter = true;
  variable.is_return = is_return;
  variable.owner = static_cast<FunctionId>(module_.functions.size());
  if (tokens_.accept('<') && !parse_range(variable.count)) {
    return false;
  }
  if (!parse_dimensions(variable)) {
    return false;
  }
  const auto id = static_cast<std::uint32_t>(module_.variables.size());
  if (name.text != "_") {
    const bool is_register = head.space == Space::kReg;
    declare(name.text,
            {is_register ? EntityKind::kUnusedRegister : EntityKind::kVariable, head.type,
             head.width, id},
            name);
  }
  module_.variables.push_back(std::move(variable));
  parameters.push_back(static_cast<VariableId>(id));
  return true;
}

}  // namespace mansard::frontend::ptx
