#include <array>
#include <utility>

#include <fmt/format.h>

#include "frontend/ptx/parser_impl.hpp"
#include "frontend/ptx/signature.hpp"
#include "frontend/ptx/special_registers.hpp"
#include "support/suggest.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

constexpr std::size_t kDeepestOperand = 32;

struct ComponentName {
  std::string_view name;
  Component component;
};

constexpr std::array kComponentNames = {
    ComponentName{"x", Component::kX},   ComponentName{"y", Component::kY},
    ComponentName{"z", Component::kZ},   ComponentName{"w", Component::kW},
    ComponentName{"r", Component::kX},   ComponentName{"g", Component::kY},
    ComponentName{"b", Component::kZ},   ComponentName{"a", Component::kW},
    ComponentName{"b0", Component::kB0}, ComponentName{"b1", Component::kB1},
    ComponentName{"b2", Component::kB2}, ComponentName{"b3", Component::kB3},
    ComponentName{"h0", Component::kH0}, ComponentName{"h1", Component::kH1},
};

/// "b7610", "h10": the bytes or halves that a SIMD video instruction selects.
bool is_selection(std::string_view name) {
  return name.size() > 2 && (name[0] == 'b' || name[0] == 'h') &&
         name.find_first_not_of("01234567", 1) == std::string_view::npos;
}

unsigned vector_width_named(std::string_view name) {
  return name == "v2" ? 2 : name == "v4" ? 4 : name == "v8" ? 8 : 1;
}

}  // namespace

void Parser::parse_instruction() {
  Instruction instruction;
  instruction.line = line_;
  if (!parse_guard(instruction.guard)) {
    return tokens_.recover();
  }
  const Token opcode = tokens_.peek();
  instruction.position = opcode.position;
  instruction.form = parse_form();
  if (instruction.form == nullptr) {
    return tokens_.recover();
  }
  instruction.end = tokens_.last_end();
  in_call_ = opcode.text == "call";
  allows_labels_ =
      in_call_ || opcode.text == "bra" || opcode.text == "brx" || !instruction.form->known;
  std::vector<Operand> operands;
  const bool good = tokens_.peek().is(';') || parse_operands(operands, ';');
  instruction.operands = store(operands);
  if (!good) {
    return tokens_.recover();
  }
  if (!tokens_.expect(';', "';' behind an instruction")) {
    return tokens_.recover();
  }
  add_statement(StatementKind::kInstruction, function().instructions.size());
  function().instructions.push_back(instruction);
}

bool Parser::parse_guard(Guard& guard) {
  if (!tokens_.accept('@')) {
    return true;
  }
  guard.negated = tokens_.accept('!');
  const Token name = tokens_.expect_identifier("a predicate");
  if (name.text.empty()) {
    return false;
  }
  Entity* entity = scopes_.find(name.text);
  if (entity == nullptr) {
    undefined("predicate", name.text, name.position, name.end);
    return false;
  }
  const bool is_register =
      entity->kind == EntityKind::kRegister || entity->kind == EntityKind::kUnusedRegister;
  if (!is_register || entity->type != Type::kPred) {
    report_.error("ptx-type", fmt::format("expected a predicate, found {}", describe(name)),
                  name.position, name.end);
    return false;
  }
  guard.predicate = use_register(*entity, name.text);
  return true;
}

const Form* Parser::parse_form() {
  const Token opcode = tokens_.expect_identifier("an instruction");
  if (opcode.text.empty()) {
    return nullptr;
  }
  std::vector<std::string_view> modifiers;
  const std::string_view text = module_.source->text;
  while (tokens_.peek().kind == TokenKind::kDot) {
    const Token modifier = tokens_.take();
    std::string_view word = modifier.text;
    if (word == "const" && tokens_.peek().is('[') && tokens_.peek().position == modifier.end) {
      tokens_.take();
      static_cast<void>(parse_constant(tokens_, report_));
      if (!tokens_.expect(']', "']' behind the bank")) {
        return nullptr;
      }
      word = text.substr(modifier.position + 1, tokens_.last_end() - modifier.position - 1);
    }
    modifiers.push_back(word);
  }
  const std::string_view whole = text.substr(opcode.position, tokens_.last_end() - opcode.position);
  const auto found = forms_.find(whole);
  if (found != forms_.end()) {
    return found->second;
  }
  const Form* form = intern_form(opcode.text, std::move(modifiers));
  forms_.emplace(whole, form);
  return form;
}

const Form* Parser::intern_form(std::string_view opcode, std::vector<std::string_view> modifiers) {
  auto form = std::make_unique<Form>();
  form->opcode = opcode;
  form->modifiers = std::move(modifiers);
  form->known = is_opcode(opcode);
  for (const std::string_view modifier : form->modifiers) {
    if (const std::optional<Type> type = type_named(modifier)) {
      form->types.push_back(*type);
    } else if (const std::optional<Space> space =
                   space_named(modifier.substr(0, modifier.find('[')));
               space && form->space == Space::kGeneric) {
      form->space = *space;
    } else if (vector_width_named(modifier) > 1) {
      form->vector_width = vector_width_named(modifier);
    }
  }
  module_.forms.push_back(std::move(form));
  return module_.forms.back().get();
}

Range Parser::store(const std::vector<Operand>& children) {
  const Range range = {static_cast<std::uint32_t>(function().operands.size()),
                       static_cast<std::uint32_t>(children.size())};
  function().operands.insert(function().operands.end(), children.begin(), children.end());
  return range;
}

bool Parser::parse_operands(std::vector<Operand>& operands, char end) {
  if (tokens_.peek().is(end)) {
    return true;
  }
  do {
    if (!parse_operand(operands.emplace_back())) {
      return false;
    }
  } while (tokens_.accept(','));
  return true;
}

bool Parser::parse_operand(Operand& operand) {
  if (++depth_ > kDeepestOperand) {
    tokens_.expected("an operand nested less deeply");
    return false;
  }
  operand.position = tokens_.peek().position;
  const bool good = parse_one(operand) && (!tokens_.peek().is('|') || parse_pair(operand));
  operand.end = tokens_.last_end();
  --depth_;
  return good;
}

bool Parser::parse_one(Operand& operand) {
  const Token& next = tokens_.peek();
  if (next.is('[')) {
    return parse_group(operand, OperandKind::kAddress, ']');
  }
  if (next.is('{')) {
    return parse_group(operand, OperandKind::kVector, '}');
  }
  if (next.is('(') && in_call_) {
    return parse_group(operand, OperandKind::kList, ')');
  }
  if (next.is_word("_")) {
    tokens_.take();
    operand.kind = OperandKind::kSink;
    return true;
  }
  const bool is_prefix = next.is('!') || next.is('-') || next.is('+');
  if (is_prefix && tokens_.peek_second().kind == TokenKind::kIdentifier &&
      !tokens_.peek_second().is_word("WARP_SZ")) {
    operand.negated = !next.is('+');
    tokens_.take();
    return parse_named(operand);
  }
  if (next.kind == TokenKind::kIdentifier && !next.is_word("WARP_SZ")) {
    return parse_named(operand);
  }
  return parse_immediate(operand);
}

bool Parser::parse_group(Operand& operand, OperandKind kind, char end) {
  tokens_.take();
  operand.kind = kind;
  std::vector<Operand> children;
  in_address_ = kind == OperandKind::kAddress;
  const bool good = parse_operands(children, end);
  in_address_ = false;
  if (!good) {
    return false;
  }
  if (kind == OperandKind::kAddress && !children.empty()) {
    // [%rd1+16]: the offset belongs to the address; [16] is an address without a base.
    Operand& base = children.front();
    std::swap(operand.value, base.value);
    if (base.kind == OperandKind::kInteger) {
      children.erase(children.begin());
    } else if (base.kind == OperandKind::kFloat32 || base.kind == OperandKind::kFloat64) {
      report_.error("ptx-operand", "a floating-point number is no address", base.position,
                    base.end);
      return false;
    }
  }
  operand.children = store(children);
  constexpr std::string_view kWhat = "',' or the closing bracket of an operand";
  return tokens_.expect(end, kWhat);
}

bool Parser::parse_pair(Operand& operand) {
  tokens_.take();
  std::vector<Operand> both(2);
  both[0] = operand;
  both[0].end = tokens_.last_end();
  operand.kind = OperandKind::kPair;
  operand.negated = false;
  if (!parse_operand(both[1])) {
    return false;
  }
  operand.children = store(both);
  return true;
}

bool Parser::parse_immediate(Operand& operand) {
  const std::optional<Constant> value = parse_constant(tokens_, report_);
  if (!value) {
    return false;
  }
  operand.value = value->bits;
  operand.is_unsigned = value->kind == ConstantKind::kUnsigned;
  switch (value->kind) {
    case ConstantKind::kFloat32:
      operand.kind = OperandKind::kFloat32;
      break;
    case ConstantKind::kFloat64:
      operand.kind = OperandKind::kFloat64;
      break;
    default:
      operand.kind = OperandKind::kInteger;
  }
  return true;
}

bool Parser::parse_named(Operand& operand) {
  const Token name = tokens_.take();
  if (!resolve(name, operand) || !parse_component(operand)) {
    return false;
  }
  if (tokens_.peek().is('[') && operand.kind == OperandKind::kVariable && !in_address_) {
    tokens_.take();
    const std::optional<Constant> subscript = parse_constant(tokens_, report_);
    if (!subscript || !tokens_.expect(']', "']' behind a subscript")) {
      return false;
    }
    const Variable& variable = module_.variable(operand.as<VariableId>());
    operand.value = subscript->bits * bytes_of(variable.type) * variable.width;
  }
  return parse_offset(operand);
}

bool Parser::parse_component(Operand& operand) {
  if (tokens_.peek().kind != TokenKind::kDot) {
    return true;
  }
  const Token word = tokens_.take();
  for (const ComponentName& each : kComponentNames) {
    if (each.name == word.text) {
      operand.component = each.component;
      return true;
    }
  }
  if (is_selection(word.text)) {
    operand.component = Component::kMulti;
    return true;
  }
  report_.error("ptx-operand", "unknown component " + describe(word), word.position, word.end);
  return false;
}

bool Parser::parse_offset(Operand& operand) {
  while (tokens_.accept('+')) {
    const std::optional<Constant> term = parse_term(tokens_, report_);
    if (!term) {
      return false;
    }
    const auto bits = static_cast<std::uint64_t>(term->bits);
    const auto value = static_cast<std::uint64_t>(operand.value);
    operand.value = static_cast<std::int64_t>(value + bits);
  }
  return true;
}

RegisterId Parser::use_register(Entity& entity, std::string_view name) {
  if (entity.kind == EntityKind::kUnusedRegister) {
    entity.kind = EntityKind::kRegister;
    entity.id = static_cast<std::uint32_t>(function().registers.size());
    function().registers.push_back({name, entity.type, entity.width});
  }
  return static_cast<RegisterId>(entity.id);
}

bool Parser::resolve(const Token& name, Operand& operand) {
  if (Entity* entity = scopes_.find(name.text)) {
    return refer(*entity, name, operand);
  }
  if (const std::optional<SpecialId> special = special_register_named(name.text)) {
    operand.kind = OperandKind::kSpecial;
    operand.id = static_cast<std::uint32_t>(*special);
    return true;
  }
  if (!allows_labels_ || name.text.front() == '%') {
    undefined(name.text.front() == '%' ? "register" : "symbol", name.text, name.position, name.end);
    return false;
  }
  refer_to_label(name, operand);
  return true;
}

bool Parser::refer(Entity& entity, const Token& name, Operand& operand) {
  operand.id = entity.id;
  switch (entity.kind) {
    case EntityKind::kRegister:
    case EntityKind::kUnusedRegister:
      operand.kind = OperandKind::kRegister;
      operand.id = static_cast<std::uint32_t>(use_register(entity, name.text));
      return true;
    case EntityKind::kVariable:
      operand.kind = OperandKind::kVariable;
      return true;
    case EntityKind::kFunction:
      operand.kind = OperandKind::kFunction;
      return true;
    case EntityKind::kLabel:
      operand.kind = OperandKind::kLabel;
      return true;
    case EntityKind::kTargets:
      operand.kind = OperandKind::kTargets;
      return true;
    case EntityKind::kPrototype:
      operand.kind = OperandKind::kPrototype;
      return true;
  }
  return false;
}

void Parser::refer_to_label(const Token& name, Operand& operand) {
  const auto id = static_cast<LabelId>(function().labels.size());
  function().labels.push_back({name.text, kNone<InstructionId>, name.position});
  pending_.back().push_back(id);
  operand.kind = OperandKind::kLabel;
  operand.id = static_cast<std::uint32_t>(id);
}

void Parser::undefined(std::string_view what, std::string_view name, Position begin, Position end) {
  const std::optional<std::string> meant = did_you_mean(name, scopes_.names());
  report_.error("ptx-undefined", fmt::format("undefined {} '{}'", what, printable(name)), begin,
                end, meant ? fmt::format("did you mean '{}'?", printable(*meant)) : std::string());
}

}  // namespace mansard::frontend::ptx
