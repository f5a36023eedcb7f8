#include "ir/expr_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/core.h>

#include "ir/expr_rules.hpp"
#include "support/suggest.hpp"
#include "support/units.hpp"

namespace mansard::ir {

namespace {

constexpr int kDeepest = 200;

constexpr std::array kNamedKinds{ExprKind::kFloorDiv, ExprKind::kCeilDiv, ExprKind::kMod,
                                 ExprKind::kMin,      ExprKind::kMax,     ExprKind::kFloor,
                                 ExprKind::kLess,     ExprKind::kSelect,  ExprKind::kScale2,
                                 ExprKind::kExponent2};

struct NamedReduction {
  std::string_view name;
  Reduction reduction;
};
constexpr std::array<NamedReduction, 4> kReductions{{{"min_over", Reduction::kMin},
                                                     {"max_over", Reduction::kMax},
                                                     {"sum_over", Reduction::kSum},
                                                     {"at_min_over", Reduction::kAtMin}}};

struct NamedMath {
  std::string_view name;
  std::size_t arity;
  Expr (*build)(std::span<const Expr> arguments);
};
constexpr std::array<NamedMath, 3> kMath{
    {{"exp2", 1, [](std::span<const Expr> a) { return exp2(a[0]); }},
     {"log2", 1, [](std::span<const Expr> a) { return log2(a[0]); }},
     {"pow", 2, [](std::span<const Expr> a) { return pow(a[0], a[1]); }}}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// A range of the text.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Recursive descent. A function that fails returns an absent `Expr` with the error noted; the
/// first one stands.
class Parser {
 public:
  Parser(std::string_view text, ExprPool& pool, Location location)
      : text_(text), pool_(pool), location_(std::move(location)) {}

  Result<Expr> parse() {
    const Expr e = sum();
    if (e && peek() != '\0') {
      fail("expr-syntax", fmt::format("expected an operator, found {}", found()), here());
    }
    if (!errors_.empty()) {
      return failure(std::move(errors_));
    }
    return e;
  }

 private:
  Expr sum() {
    Expr left = product();
    while (left && (peek() == '+' || peek() == '-')) {
      const Range sign = here();
      const auto kind = text_[at_++] == '+' ? ExprKind::kAdd : ExprKind::kSub;
      left = combine(kind, left, product(), sign);
    }
    return left;
  }

  Expr product() {
    Expr left = unary();
    while (left && (peek() == '*' || peek() == '/')) {
      Range sign = here();
      auto kind = text_[at_++] == '*' ? ExprKind::kMul : ExprKind::kDiv;
      if (kind == ExprKind::kDiv && at_ < text_.size() && text_[at_] == '/') {
        kind = ExprKind::kFloorDiv;
        sign.end = ++at_;
      }
      left = combine(kind, left, unary(), sign);
    }
    return left;
  }

  Expr combine(ExprKind kind, Expr left, Expr right, Range sign) {
    return right ? build(kind, std::array{left, right}, sign) : Expr();
  }

  Expr build(ExprKind kind, std::span<const Expr> operands, Range where) {
    if (auto why = misuse(kind, operands)) {
      return fail("expr-dimension", *std::move(why), where);
    }
    return pool_.make(kind, {operands.begin(), operands.end()});
  }

  Expr unary() {
    if (peek() != '-') {
      return primary();
    }
    ++at_;
    const bool is_literal = is_digit(peek()) || peek() == '.';
    const Expr operand = nested([this] { return unary(); });
    if (!operand) {
      return {};
    }
    return is_literal ? pool_.constant(-operand.constant(), operand.dimension()) : -1 * operand;
  }

  template <typename Rule>
  Expr nested(const Rule& rule) {
    if (depth_ == kDeepest) {
      return fail("expr-depth", fmt::format("nested more than {} deep", kDeepest), here());
    }
    ++depth_;
    const Expr e = rule();
    --depth_;
    return e;
  }

  Expr primary() {
    const char next = peek();
    if (is_digit(next) || next == '.') {
      return literal();
    }
    if (is_letter(next)) {
      return name();
    }
    if (next != '(') {
      return fail("expr-syntax", fmt::format("expected an expression, found {}", found()), here());
    }
    ++at_;
    const Expr e = nested([this] { return sum(); });
    return e && expect(')') ? e : Expr();
  }

  Expr literal() {
    const Range range = here();
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    at_ += static_cast<std::size_t>(end - begin);
    if (error == std::errc::result_out_of_range) {
      return fail("expr-number", "a number out of the range of doubles", {range.begin, at_});
    }
    if (error != std::errc()) {
      return fail("expr-number", "expected a number", range);
    }
    return peek() == '[' ? with_unit({range.begin, at_}) : pool_.constant(value);
  }

  /// The number in `digits`, which a unit in brackets follows.
  Expr with_unit(Range digits) {
    const std::size_t open = at_;
    const std::size_t close = text_.find(']', open);
    if (close == std::string_view::npos) {
      return fail("expr-syntax", "expected ']' after the unit", {open, open + 1});
    }
    at_ = close + 1;
    const auto unit = text_.substr(open + 1, close - open - 1);
    const auto number = text_.substr(digits.begin, open - digits.begin);
    auto measure = parse_measure(fmt::format("{} {}", number, unit));
    if (!measure) {
      auto& why = measure.error().front();
      return fail(std::move(why.id), std::move(why.message), {open + 1, close},
                  std::move(why.label));
    }
    return pool_.constant(measure->value, measure->dimension);
  }

  std::string_view identifier() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  Expr name() {
    const std::size_t begin = at_;
    const std::string_view word = identifier();
    const Range range{begin, at_};
    if (peek() != '(') {
      const Expr known = pool_.find_symbol(word);
      return known ? known : pool_.symbol(word);
    }
    ++at_;
    const auto* reduction = std::ranges::find(kReductions, word, &NamedReduction::name);
    return nested([&] {
      return reduction != kReductions.end() ? reduce(reduction->reduction, range)
                                            : call(word, range);
    });
  }

  Expr call(std::string_view word, Range range) {
    std::vector<Expr> arguments;
    if (peek() == ')') {
      ++at_;
    } else if (!append_arguments(arguments)) {
      return {};
    }
    const auto* kind = std::ranges::find(kNamedKinds, word, function_name);
    if (kind != kNamedKinds.end()) {
      return takes(arity(*kind), arguments, range) ? build(*kind, arguments, range) : Expr();
    }
    const auto* math = std::ranges::find(kMath, word, &NamedMath::name);
    if (math != kMath.end()) {
      return takes_numbers(math->arity, arguments, range) ? math->build(arguments) : Expr();
    }
    const Function* function = find_function(word, range);
    return function != nullptr && takes(function->parameters(), arguments, range)
               ? pool_.call(*function, std::move(arguments))
               : Expr();
  }

  /// Reads arguments up to the closing parenthesis.
  bool append_arguments(std::vector<Expr>& arguments) {
    while (true) {
      const Expr argument = sum();
      if (!argument) {
        return false;
      }
      arguments.push_back(argument);
      if (peek() != ',') {
        return expect(')');
      }
      ++at_;
    }
  }

  Expr reduce(Reduction reduction, Range range) {
    const auto* table = operand_name<Table>();
    const Function* key = table != nullptr && expect(',') ? operand_name<Function>() : nullptr;
    const Function* payload = nullptr;
    if (key != nullptr && reduction == Reduction::kAtMin) {
      payload = expect(',') ? operand_name<Function>() : nullptr;
      key = payload == nullptr ? nullptr : key;
    }
    std::vector<Expr> arguments;
    if (key == nullptr || !rest_of_arguments(arguments)) {
      return {};
    }
    for (const Function* function : {key, payload}) {
      if (function != nullptr && !takes_rows(*function, *table, arguments, range)) {
        return {};
      }
    }
    return pool_.reduce(reduction, *table, *key, std::move(arguments), payload);
  }

  bool rest_of_arguments(std::vector<Expr>& arguments) {
    if (peek() == ',') {
      ++at_;
      return append_arguments(arguments);
    }
    return expect(')');
  }

  /// The function or table of the pool whose name comes next.
  template <typename T>
  const T* operand_name() {
    peek();
    const std::size_t begin = at_;
    const std::string_view word = identifier();
    if constexpr (std::is_same_v<T, Function>) {
      return find_function(word, {begin, at_});
    } else {
      const Table* table = pool_.find_table(word);
      if (table == nullptr) {
        fail("expr-table", fmt::format("unknown table '{}'", word), {begin, at_});
      }
      return table;
    }
  }

  const Function* find_function(std::string_view word, Range range) {
    const Function* function = pool_.find_function(word);
    if (function == nullptr) {
      const auto names = function_names();
      const auto meant = did_you_mean(word, names);
      fail("expr-function", fmt::format("unknown function '{}'", word), range,
           meant ? fmt::format("did you mean {}?", *meant) : "");
    }
    return function;
  }

  [[nodiscard]] std::vector<std::string> function_names() const {
    auto names = pool_.function_names();
    for (const ExprKind kind : kNamedKinds) {
      names.emplace_back(function_name(kind));
    }
    for (const NamedMath& math : kMath) {
      names.emplace_back(math.name);
    }
    for (const NamedReduction& reduction : kReductions) {
      names.emplace_back(reduction.name);
    }
    return names;
  }

  bool takes(std::size_t count, std::span<const Expr> arguments, Range range) {
    if (arguments.size() == count) {
      return true;
    }
    fail("expr-arguments",
         fmt::format("{} takes {} argument{}, found {}",
                     text_.substr(range.begin, range.end - range.begin), count,
                     count == 1 ? "" : "s", arguments.size()),
         range);
    return false;
  }

  bool takes_numbers(std::size_t count, std::span<const Expr> arguments, Range range) {
    if (!takes(count, arguments, range)) {
      return false;
    }
    return std::ranges::all_of(arguments, [&](Expr e) { return has(kNumber, e, range); });
  }

  bool takes(std::span<const Expr> parameters, std::span<const Expr> arguments, Range range) {
    if (!takes(parameters.size(), arguments, range)) {
      return false;
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!has(parameters[i].dimension(), arguments[i], range)) {
        return false;
      }
    }
    return true;
  }

  bool takes_rows(const Function& function, const Table& table, std::span<const Expr> arguments,
                  Range range) {
    const std::size_t columns = table.columns().size();
    if (function.parameters().size() < columns) {
      fail("expr-table",
           fmt::format("{} does not take the {} columns of {}", function.name(), columns,
                       table.name()),
           range);
      return false;
    }
    return takes(function.parameters().subspan(columns), arguments, range);
  }

  bool has(const Dimension& expected, Expr e, Range range) {
    if (e.dimension() == expected) {
      return true;
    }
    fail("expr-dimension",
         fmt::format("expected {}, found {}", describe(expected), describe(e.dimension())), range);
    return false;
  }

  /// The next byte that is no space, or 0 at the end.
  char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool expect(char wanted) {
    if (peek() == wanted && at_ < text_.size()) {
      ++at_;
      return true;
    }
    fail("expr-syntax", fmt::format("expected '{}', found {}", wanted, found()), here());
    return false;
  }

  [[nodiscard]] Range here() const { return {at_, std::min(at_ + 1, text_.size())}; }

  [[nodiscard]] std::string found() const {
    if (at_ >= text_.size()) {
      return "the end";
    }
    const char c = text_[at_];
    return c > ' ' && c <= '~' ? fmt::format("'{}'", c)
                               : fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
  }

  Expr fail(std::string id, std::string message, Range where, std::string label = {}) {
    if (errors_.empty()) {
      Location location = location_;
      location.end = location_.begin + where.end;
      location.begin += where.begin;
      errors_.push_back({std::move(id), std::move(message), std::move(location), std::move(label),
                         Severity::kError});
    }
    return {};
  }

  std::string_view text_;
  ExprPool& pool_;
  Location location_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Diagnostics errors_;
};

}  // namespace

Result<Expr> parse_expr(std::string_view text, ExprPool& pool, const Location& location) {
  return Parser(text, pool, location).parse();
}

}  // namespace mansard::ir
