#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "frontend/ptx/parser_impl.hpp"
#include "frontend/ptx/targets.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

/// "9.0" as a version; nothing if it is not two numbers.
std::optional<Version> read_version(std::string_view text) {
  Version version;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') {
    return std::nullopt;
  }
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc() || minor.ptr != end) {
    return std::nullopt;
  }
  return version;
}

/// "sm_90a": the number and the suffix. False if it is no such name.
bool read_architecture(std::string_view text, Target& target) {
  std::string_view rest = text;
  rest.remove_prefix(rest.find('_') + 1);
  const char* end = rest.data() + rest.size();
  const auto number = std::from_chars(rest.data(), end, target.sm);
  if (number.ec != std::errc()) {
    return false;
  }
  if (number.ptr != end) {
    target.suffix = *number.ptr;
  }
  target.name = text;
  return number.ptr == end ||
         (number.ptr + 1 == end && (target.suffix == 'a' || target.suffix == 'f'));
}

bool is_target_option(std::string_view word) {
  constexpr std::array<std::string_view, 4> kOptions = {"texmode_unified", "texmode_independent",
                                                        "debug", "map_f64_to_f32"};
  return std::find(kOptions.begin(), kOptions.end(), word) != kOptions.end();
}

}  // namespace

Parser::Parser(std::shared_ptr<const SourceFile> source, Report& report)
    : report_(report), tokens_(source->text, report) {
  module_.source = std::move(source);
}

Module Parser::parse() {
  parse_header();
  while (tokens_.peek().kind != TokenKind::kEnd && !report_.is_full()) {
    parse_item();
  }
  return std::move(module_);
}

void Parser::add_item(ItemKind kind, std::size_t index) {
  module_.items.push_back({kind, static_cast<std::uint32_t>(index)});
}

void Parser::parse_header() {
  if (!tokens_.accept_dot("version")) {
    tokens_.expected(".version at the beginning");
    if (tokens_.peek().kind == TokenKind::kEnd) {
      return;
    }
  } else {
    parse_version();
  }
  if (!tokens_.accept_dot("target")) {
    tokens_.expected(".target behind .version");
    return;
  }
  parse_target();
}

void Parser::parse_version() {
  const Token number = tokens_.take();
  const std::optional<Version> version =
      number.kind == TokenKind::kFloat ? read_version(number.text) : std::nullopt;
  if (!version) {
    report_.error("ptx-version", "expected a version such as 8.7, found " + describe(number),
                  number.position, number.end);
    return;
  }
  module_.version = *version;
  if (!is_version(*version)) {
    report_.error("ptx-version", "there is no PTX version " + describe(number), number.position,
                  number.end);
  } else if (*version > newest_version()) {
    report_.warning("ptx-version", "newer than the versions known here", number.position,
                    number.end);
  }
}

void Parser::parse_target() {
  do {
    const Token word = tokens_.expect_identifier("a target such as sm_90");
    if (word.text.empty()) {
      return;
    }
    if (word.text.substr(0, 3) == "sm_" || word.text.substr(0, 8) == "compute_") {
      parse_architecture(word);
    } else if (is_target_option(word.text)) {
      module_.target.options.push_back(word.text);
    } else {
      report_.error("ptx-target", "unknown option " + describe(word) + " of .target", word.position,
                    word.end);
    }
  } while (tokens_.accept(','));
  if (module_.target.name.empty()) {
    report_.error("ptx-target", "no architecture in .target", tokens_.last_end() - 1,
                  tokens_.last_end(), "expected a target such as sm_90");
  }
}

void Parser::parse_architecture(const Token& word) {
  Target& target = module_.target;
  const std::optional<Version> since =
      read_architecture(word.text, target) ? version_of_target(target) : std::nullopt;
  const bool is_newer = module_.version > newest_version();
  if (!since && !is_newer) {
    report_.error("ptx-target", "unknown target " + describe(word), word.position, word.end,
                  "expected a target such as sm_90");
  } else if (since && module_.version < *since) {
    report_.error("ptx-target",
                  fmt::format("{} needs PTX {}.{}, the file is {}.{}", describe(word), since->major,
                              since->minor, module_.version.major, module_.version.minor),
                  word.position, word.end);
  }
}

void Parser::parse_item() {
  const Token& next = tokens_.peek();
  if (next.kind == TokenKind::kDot) {
    parse_dot_item();
    return;
  }
  if (next.kind == TokenKind::kDwarf) {
    const Token line = tokens_.take();
    module_.sections.push_back({"@@DWARF", line.text, line.position});
    add_item(ItemKind::kSection, module_.sections.size() - 1);
    return;
  }
  tokens_.expected("a directive of the module");
  tokens_.take();
  tokens_.recover();
  while (tokens_.peek().is('{') || tokens_.peek().is('}')) {
    if (!tokens_.accept('}')) {
      static_cast<void>(tokens_.skip_braces());
    }
  }
}

void Parser::parse_dot_item() {
  const Token directive = tokens_.peek();
  if (directive.text == "file") {
    return parse_file_directive();
  }
  if (directive.text == "loc") {
    return parse_line();
  }
  if (directive.text == "section") {
    return parse_section();
  }
  if (directive.text == "pragma") {
    parse_pragma(module_.directives);
    return add_item(ItemKind::kDirective, module_.directives.size() - 1);
  }
  if (directive.text == "alias") {
    return parse_alias();
  }
  if (tokens_.accept_dot("address_size")) {
    const Token size = tokens_.take();
    if (size.text == "32") {
      report_.error("ptx-address-size", "32-bit PTX is not read", size.position, size.end,
                    "compile for 64-bit addresses");
    } else if (size.text != "64") {
      report_.error("ptx-address-size", "expected an address size of 64, found " + describe(size),
                    size.position, size.end);
    }
    module_.has_address_size = true;
    return;
  }
  const Linkage linkage = parse_linkage();
  if (tokens_.accept_dot("entry")) {
    return parse_function(linkage, true);
  }
  if (tokens_.accept_dot("func")) {
    return parse_function(linkage, false);
  }
  DeclarationHead head;
  if (!parse_head(head) || !parse_variables(head, linkage)) {
    if (tokens_.peek().position == directive.position) {
      tokens_.take();
    }
    tokens_.recover();
    if (tokens_.peek().is('{')) {
      static_cast<void>(tokens_.skip_braces());
    }
  }
}

Linkage Parser::parse_linkage() {
  struct Word {
    std::string_view name;
    Linkage linkage;
  };
  constexpr std::array kWords = {Word{"extern", Linkage::kExtern},
                                 Word{"visible", Linkage::kVisible}, Word{"weak", Linkage::kWeak},
                                 Word{"common", Linkage::kCommon}};
  const auto* found = std::find_if(kWords.begin(), kWords.end(), [&](const Word& word) {
    return tokens_.peek().is_dot(word.name);
  });
  if (found == kWords.end()) {
    return Linkage::kNone;
  }
  tokens_.take();
  return found->linkage;
}

void Parser::parse_file_directive() {
  const Token directive = tokens_.take();
  File file;
  file.position = directive.position;
  const Token number = tokens_.take();
  const std::optional<Constant> value =
      number.kind == TokenKind::kInteger ? read_literal(number) : std::nullopt;
  const Token name = tokens_.peek();
  if (!value || name.kind != TokenKind::kString) {
    report_.error("ptx-syntax", "expected a number and a name in quotes behind .file",
                  directive.position, directive.end);
    return;
  }
  tokens_.take();
  file.number = static_cast<std::uint32_t>(value->bits);
  file.name = name.text;
  while (tokens_.peek().is(',') && tokens_.peek_second().kind == TokenKind::kInteger) {
    tokens_.take();
    tokens_.take();
  }
  file.tail =
      std::string_view(module_.source->text).substr(name.end, tokens_.last_end() - name.end);
  module_.files.push_back(file);
  add_item(ItemKind::kFile, module_.files.size() - 1);
}

void Parser::parse_line() {
  const Token directive = tokens_.take();
  Line line;
  line.position = directive.position;
  const auto read_numbers = [&](std::initializer_list<std::uint32_t*> numbers) {
    for (std::uint32_t* number : numbers) {
      const std::optional<Constant> value =
          tokens_.peek().kind == TokenKind::kInteger ? read_literal(tokens_.peek()) : std::nullopt;
      if (!value) {
        tokens_.expected("a number of .loc");
        return;
      }
      tokens_.take();
      *number = static_cast<std::uint32_t>(value->bits);
    }
  };
  read_numbers({&line.file, &line.line, &line.column});
  while (tokens_.accept(',')) {
    const Token word = tokens_.expect_identifier("function_name or inlined_at");
    if (word.text == "inlined_at") {
      read_numbers({&line.inlined_file, &line.inlined_line, &line.inlined_column});
    } else if (word.text == "function_name") {
      const Token label = tokens_.expect_identifier("a label");
      if (tokens_.accept('+')) {
        tokens_.take();
      }
      line.function_name = std::string_view(module_.source->text)
                               .substr(label.position, tokens_.last_end() - label.position);
    } else {
      return;
    }
  }
  line_ = static_cast<LineId>(module_.lines.size());
  module_.lines.push_back(line);
  if (function_ != nullptr) {
    add_statement(StatementKind::kLine, index(line_));
  }
}

void Parser::parse_section() {
  const Token directive = tokens_.take();
  Section section;
  section.position = directive.position;
  section.name = tokens_.take().text;
  if (!tokens_.expect('{', "'{' of a section") || !parse_section_body()) {
    tokens_.recover();
    while (tokens_.peek().is('{') || tokens_.peek().is('}')) {
      tokens_.take();
    }
    return;
  }
  section.text = std::string_view(module_.source->text)
                     .substr(directive.position, tokens_.last_end() - directive.position);
  module_.sections.push_back(section);
  add_item(ItemKind::kSection, module_.sections.size() - 1);
}

/// Labels, and data: `.b32 .debug_line + 4, 17`.
bool Parser::parse_section_body() {
  while (!tokens_.accept('}')) {
    if (tokens_.peek().kind == TokenKind::kIdentifier) {
      tokens_.take();
      if (!tokens_.expect(':', "':' behind a label")) {
        return false;
      }
      continue;
    }
    if (tokens_.peek().kind != TokenKind::kDot || !type_named(tokens_.peek().text)) {
      tokens_.expected("data of a section, or '}'");
      return false;
    }
    tokens_.take();
    do {
      if (!parse_section_value()) {
        return false;
      }
    } while (tokens_.accept(','));
  }
  return true;
}

bool Parser::parse_section_value() {
  do {
    tokens_.accept('-');
    const TokenKind kind = tokens_.peek().kind;
    if (kind != TokenKind::kInteger && kind != TokenKind::kIdentifier && kind != TokenKind::kDot &&
        kind != TokenKind::kString) {
      tokens_.expected("a number or a label");
      return false;
    }
    tokens_.take();
  } while (tokens_.accept('+') || tokens_.peek().is('-'));
  return true;
}

void Parser::parse_pragma(std::vector<Directive>& directives) {
  const Token word = tokens_.take();
  Directive directive;
  directive.name = word.text;
  directive.position = word.position;
  const Position begin = tokens_.peek().position;
  do {
    if (tokens_.peek().kind != TokenKind::kString) {
      tokens_.expected("a text in quotes");
      break;
    }
    tokens_.take();
  } while (tokens_.accept(','));
  directive.text = std::string_view(module_.source->text).substr(begin, tokens_.last_end() - begin);
  directives.push_back(directive);
  if (!tokens_.expect(';', "';' behind .pragma")) {
    tokens_.recover();
  }
}

void Parser::parse_alias() {
  const Token word = tokens_.take();
  Directive directive;
  directive.name = word.text;
  directive.position = word.position;
  const Token alias = tokens_.expect_identifier("the name of a function");
  bool complete = !alias.text.empty() && tokens_.expect(',', "','");
  const Token aliasee = complete ? tokens_.expect_identifier("the name of a function") : Token{};
  for (const Token& name : {alias, aliasee}) {
    const Entity* entity = complete ? scopes_.find(name.text) : nullptr;
    if (complete && (entity == nullptr || entity->kind != EntityKind::kFunction)) {
      undefined("function", name.text, name.position, name.end);
      complete = false;
    }
  }
  directive.text = std::string_view(module_.source->text)
                       .substr(alias.position, tokens_.last_end() - alias.position);
  module_.directives.push_back(directive);
  add_item(ItemKind::kDirective, module_.directives.size() - 1);
  if (!tokens_.expect(';', "';' behind .alias")) {
    tokens_.recover();
  }
}

}  // namespace mansard::frontend::ptx
