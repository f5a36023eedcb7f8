#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "frontend/ptx/parser_impl.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

constexpr std::size_t kDeepestScope = 256;

constexpr std::array<std::string_view, 16> kPerformanceDirectives = {
    "maxntid",           "reqntid",         "minnctapersm",
    "maxnctapersm",      "maxnreg",         "noreturn",
    "reqnctapercluster", "explicitcluster", "maxclusterrank",
    "blocksareclusters", "abi_preserve",    "abi_preserve_control",
    "language",          "unique",          "pragma",
    "noinline"};

bool is_performance_directive(std::string_view name) {
  return std::find(kPerformanceDirectives.begin(), kPerformanceDirectives.end(), name) !=
         kPerformanceDirectives.end();
}

}  // namespace

void Parser::add_statement(StatementKind kind, std::size_t index) {
  function().statements.push_back({kind, static_cast<std::uint32_t>(index)});
}

void Parser::parse_function(Linkage linkage, bool is_entry) {
  current_ = std::make_unique<Function>();
  function_ = current_.get();
  function().linkage = linkage;
  function().is_entry = is_entry;
  line_ = kNone<LineId>;
  open_scope();
  if (!parse_function_head(function())) {
    tokens_.recover();
    if (tokens_.peek().is('{')) {
      static_cast<void>(tokens_.skip_braces());
    }
  } else if (tokens_.peek().is('{')) {
    parse_body();
  } else if (!tokens_.expect(';', "'{' or ';' behind the head of a function")) {
    tokens_.recover();
  }
  close_scope();
  function_ = nullptr;
  add_item(ItemKind::kFunction, module_.functions.size());
  module_.functions.push_back(std::move(*current_));
}

bool Parser::parse_function_head(Function& function) {
  while (tokens_.peek().kind == TokenKind::kDot) {
    const Token word = tokens_.peek();
    if (word.text == "attribute") {
      tokens_.take();
      function.attributes = parse_attributes();
    } else if (is_performance_directive(word.text)) {
      parse_performance_directives(function.directives);
    } else {
      break;
    }
  }
  if (!function.is_entry && tokens_.accept('(') && !parse_parameters(function.returns, true)) {
    return false;
  }
  const Token name = tokens_.expect_identifier("the name of a function");
  if (name.text.empty()) {
    return false;
  }
  function.name = name.text;
  function.position = name.position;
  declare_function(name);
  if (tokens_.accept('(') && !parse_parameters(function.parameters, false)) {
    return false;
  }
  parse_performance_directives(function.directives);
  return true;
}

void Parser::declare_function(const Token& name) {
  const Entity entity = {EntityKind::kFunction, Type::kNone, 1,
                         static_cast<std::uint32_t>(module_.functions.size())};
  Entity* earlier = scopes_.find_outermost(name.text);
  if (earlier == nullptr) {
    scopes_.declare_outermost(name.text, entity);
  } else if (earlier->kind == EntityKind::kFunction) {
    *earlier = entity;
  } else {
    duplicate(name);
  }
}

void Parser::parse_performance_directives(std::vector<Directive>& directives) {
  while (tokens_.peek().kind == TokenKind::kDot) {
    const Token word = tokens_.peek();
    if (word.text == "pragma") {
      parse_pragma(directives);
      continue;
    }
    if (!is_performance_directive(word.text)) {
      report_.error("ptx-directive", "unknown directive " + describe(word) + " of a function",
                    word.position, word.end);
    }
    tokens_.take();
    Directive directive;
    directive.name = word.text;
    directive.position = word.position;
    while (tokens_.peek().kind == TokenKind::kInteger) {
      const std::optional<Constant> value = parse_constant(tokens_, report_);
      directive.values.push_back(value ? value->bits : 0);
      if (!tokens_.accept(',')) {
        break;
      }
    }
    directives.push_back(std::move(directive));
  }
}

void Parser::open_scope() {
  scopes_.open();
  pending_.emplace_back();
}

void Parser::close_scope() {
  PendingLabels unresolved = std::move(pending_.back());
  pending_.pop_back();
  scopes_.close();
  for (const LabelId id : unresolved) {
    Label& label = function().labels[index(id)];
    const Entity* entity = pending_.empty() ? nullptr : scopes_.find_innermost(label.name);
    if (entity != nullptr && entity->kind == EntityKind::kLabel) {
      label.target = function().labels[entity->id].target;
    } else if (pending_.empty()) {
      undefined("label", label.name, label.position,
                label.position + static_cast<Position>(label.name.size()));
    } else {
      pending_.back().push_back(id);
    }
  }
}

void Parser::parse_body() {
  function().has_body = true;
  const Token open = tokens_.take();
  if (!defined_.insert(function().name).second) {
    const Position begin = function().position;
    duplicate({.kind = TokenKind::kIdentifier,
               .text = function().name,
               .position = begin,
               .end = begin + static_cast<Position>(function().name.size())});
  }
  std::size_t depth = 1;
  while (depth > 0 && !report_.is_full()) {
    const Token& next = tokens_.peek();
    if (next.kind == TokenKind::kEnd) {
      report_.error("ptx-syntax", "body without an end", open.position, open.end, "expected }");
      break;
    }
    if (next.is('{')) {
      if (++depth > kDeepestScope) {
        tokens_.expected("blocks nested less deeply");
        static_cast<void>(tokens_.skip_braces());
        --depth;
        continue;
      }
      tokens_.take();
      open_scope();
      add_statement(StatementKind::kOpen, 0);
    } else if (next.is('}')) {
      tokens_.take();
      if (--depth > 0) {
        close_scope();
        add_statement(StatementKind::kClose, 0);
      }
    } else {
      parse_statement();
    }
  }
  for (; depth > 1; --depth) {
    close_scope();
  }
}

void Parser::parse_statement() {
  depth_ = 0;
  const Token next = tokens_.peek();
  if (next.kind == TokenKind::kDot) {
    return parse_dot_statement();
  }
  if (next.kind == TokenKind::kIdentifier && tokens_.peek_second().is(':')) {
    tokens_.take();
    tokens_.take();
    return parse_label(next);
  }
  if (next.kind == TokenKind::kIdentifier || next.is('@')) {
    return parse_instruction();
  }
  if (next.kind == TokenKind::kDwarf) {
    tokens_.take();
    return;
  }
  tokens_.expected("an instruction");
  if (!tokens_.take().is(';')) {
    tokens_.recover();
  }
}

void Parser::parse_dot_statement() {
  const Token next = tokens_.peek();
  if (next.text == "loc") {
    return parse_line();
  }
  if (next.text == "file") {
    return parse_file_directive();
  }
  if (next.text == "section") {
    return parse_section();
  }
  if (next.text == "pragma") {
    parse_pragma(function().body_directives);
    return add_statement(StatementKind::kDirective, function().body_directives.size() - 1);
  }
  const Linkage linkage = parse_linkage();
  DeclarationHead head;
  const bool good =
      parse_head(head) &&
      (head.space == Space::kReg ? parse_registers(head) : parse_variables(head, linkage));
  if (!good) {
    if (tokens_.peek().position == next.position) {
      tokens_.take();
    }
    tokens_.recover();
  }
}

void Parser::parse_label(const Token& name) {
  if (tokens_.accept_dot("branchtargets")) {
    return parse_targets(name, false);
  }
  if (tokens_.accept_dot("calltargets")) {
    return parse_targets(name, true);
  }
  if (tokens_.accept_dot("callprototype")) {
    return parse_prototype(name);
  }
  define_label(name);
}

void Parser::define_label(const Token& name) {
  const auto target = static_cast<InstructionId>(function().instructions.size());
  const auto id = static_cast<std::uint32_t>(function().labels.size());
  function().labels.push_back({name.text, target, name.position});
  declare(name.text, {EntityKind::kLabel, Type::kNone, 1, id}, name);
  PendingLabels& pending = pending_.back();
  const auto resolved = [&](LabelId each) {
    Label& label = function().labels[index(each)];
    if (label.name != name.text) {
      return false;
    }
    label.target = target;
    return true;
  };
  pending.erase(std::remove_if(pending.begin(), pending.end(), resolved), pending.end());
  add_statement(StatementKind::kLabel, id);
}

void Parser::parse_targets(const Token& name, bool calls) {
  Targets targets = {name.text, {}, calls, name.position};
  in_call_ = false;
  allows_labels_ = !calls;
  do {
    if (!parse_operand(targets.targets.emplace_back())) {
      return tokens_.recover();
    }
  } while (tokens_.accept(','));
  const auto id = static_cast<std::uint32_t>(function().targets.size());
  declare(name.text, {EntityKind::kTargets, Type::kNone, 1, id}, name);
  function().targets.push_back(std::move(targets));
  add_statement(StatementKind::kTargets, id);
  if (!tokens_.expect(';', "';' behind the targets")) {
    tokens_.recover();
  }
}

void Parser::parse_prototype(const Token& name) {
  Prototype prototype;
  prototype.name = name.text;
  prototype.position = name.position;
  open_scope();
  const bool good = (!tokens_.accept('(') || parse_parameters(prototype.returns, true)) &&
                    !tokens_.expect_identifier("'_' of a prototype").text.empty() &&
                    (!tokens_.accept('(') || parse_parameters(prototype.parameters, false));
  close_scope();
  if (good) {
    parse_performance_directives(prototype.directives);
  }
  const auto id = static_cast<std::uint32_t>(function().prototypes.size());
  declare(name.text, {EntityKind::kPrototype, Type::kNone, 1, id}, name);
  function().prototypes.push_back(std::move(prototype));
  add_statement(StatementKind::kPrototype, id);
  if (!good || !tokens_.expect(';', "';' behind a prototype")) {
    tokens_.recover();
  }
}

}  // namespace mansard::frontend::ptx
