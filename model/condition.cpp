#include "model/condition.hpp"

#include <cctype>
#include <memory>

#include <fmt/format.h>

#include "support/units.hpp"

namespace mansard::model {
namespace {

using ir::Expr;

constexpr int kDeepest = 100;

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}
bool is_number_start(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
}

/// A recursive descent over: or, and, not, comparison, sum, product, value. The first error ends
/// it.
class ConditionParser {
 public:
  ConditionParser(const std::string& text, const std::vector<Output>& outputs, ir::ExprPool& pool)
      : file_(std::make_shared<const SourceFile>(SourceFile{"--where", text})),
        text_(file_->text),
        outputs_(outputs),
        pool_(pool) {}

  Result<Expr> parse() {
    const Expr result = disjunction();
    skip_spaces();
    if (errors_.empty() && at_ < text_.size()) {
      error(at_, text_.size(), "expected the end of the condition");
    }
    if (errors_.empty() && result.dimension() != kNumber) {
      error(0, text_.size(),
            fmt::format("expected a condition, found {}", describe(result.dimension())));
    }
    if (!errors_.empty()) {
      return failure(std::move(errors_));
    }
    return result;
  }

 private:
  void error(std::size_t begin, std::size_t end, std::string message, std::string label = {}) {
    if (errors_.empty()) {
      errors_.push_back({"condition", std::move(message), {file_, begin, end}, std::move(label)});
    }
    at_ = text_.size();
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
  }

  bool take(std::string_view symbol) {
    skip_spaces();
    const bool is_word = is_name_start(symbol[0]);
    const bool found =
        text_.substr(at_).starts_with(symbol) &&
        !(is_word && at_ + symbol.size() < text_.size() && is_name(text_[at_ + symbol.size()]));
    at_ += found ? symbol.size() : 0;
    return found;
  }

  Expr disjunction() {
    Expr left = conjunction();
    while (take("or")) {
      left = truth(left);
      left = ir::max(left, truth(conjunction()));
    }
    return left;
  }

  Expr conjunction() {
    Expr left = negation();
    while (take("and")) {
      left = truth(left);
      left = ir::min(left, truth(negation()));
    }
    return left;
  }

  Expr negation() {
    if (++depth_ > kDeepest) {
      error(at_, text_.size(), "nested too deeply");
      return pool_.constant(0);
    }
    const Expr result = take("not") ? 1 - truth(negation()) : comparison();
    --depth_;
    return result;
  }

  /// 1 where `e` is not zero.
  Expr truth(Expr e) {
    if (e.dimension() != kNumber) {
      error(at_, at_, fmt::format("expected a condition, found {}", describe(e.dimension())));
      return pool_.constant(0);
    }
    return ir::select(e, pool_.constant(1), pool_.constant(0));
  }

  Expr comparison() {
    const std::size_t begin = at_;
    const Expr left = sum();
    for (const std::string_view symbol : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (take(symbol)) {
        const Expr right = sum();
        return are_alike(left, right, begin) ? compare(symbol, left, right) : pool_.constant(0);
      }
    }
    return left;
  }

  static Expr compare(std::string_view symbol, Expr left, Expr right) {
    const Expr below = ir::less(left, right);
    const Expr above = ir::less(right, left);
    if (symbol == "<" || symbol == ">") {
      return symbol == "<" ? below : above;
    }
    if (symbol == "<=" || symbol == ">=") {
      return 1 - (symbol == "<=" ? above : below);
    }
    const Expr differs = below + above;
    return symbol == "!=" ? differs : 1 - differs;
  }

  bool are_alike(Expr left, Expr right, std::size_t begin) {
    if (left.dimension() == right.dimension()) {
      return true;
    }
    error(begin, at_,
          fmt::format("cannot hold {} against {}", describe(left.dimension()),
                      describe(right.dimension())),
          "give numbers a unit: tpot < 50 ms");
    return false;
  }

  Expr sum() {
    const std::size_t begin = at_;
    Expr left = product();
    while (true) {
      const bool plus = take("+");
      if (!plus && !take("-")) {
        return left;
      }
      const Expr right = product();
      if (!are_alike(left, right, begin)) {
        return left;
      }
      left = plus ? left + right : left - right;
    }
  }

  Expr product() {
    Expr left = value();
    while (true) {
      if (take("*")) {
        left = left * value();
      } else if (take("/")) {
        left = left / value();
      } else {
        return left;
      }
    }
  }

  Expr value() {
    skip_spaces();
    if (take("(")) {
      const Expr inner = disjunction();
      if (!take(")")) {
        error(at_, at_ + 1, "expected a closing parenthesis");
      }
      return inner;
    }
    if (at_ < text_.size() && is_number_start(text_[at_])) {
      return number();
    }
    if (at_ < text_.size() && is_name_start(text_[at_])) {
      return name();
    }
    error(at_, std::min(at_ + 1, text_.size()), "expected a field, a number or a parenthesis");
    return pool_.constant(0);
  }

  /// A number with the unit behind it, as far as letters and "/" of a unit go: "50 ms", "8 TB/s".
  Expr number() {
    const std::size_t begin = at_;
    const auto in_number = [&](char c) {
      const bool exponent =
          (c == '+' || c == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      return is_number_start(c) || c == 'e' || c == 'E' || exponent;
    };
    while (at_ < text_.size() && in_number(text_[at_])) {
      ++at_;
    }
    const std::size_t number_end = at_;
    skip_spaces();
    const std::size_t unit_begin = at_;
    while (at_ < text_.size() &&
           (std::isalpha(static_cast<unsigned char>(text_[at_])) != 0 ||
            (text_[at_] == '/' && at_ > unit_begin && at_ + 1 < text_.size() &&
             std::isalpha(static_cast<unsigned char>(text_[at_ + 1])) != 0))) {
      ++at_;
    }
    const std::string_view unit = text_.substr(unit_begin, at_ - unit_begin);
    if (unit == "and" || unit == "or") {
      at_ = number_end;
    }
    const auto measure =
        parse_measure(text_.substr(begin, at_ - begin), Location{file_, begin, at_});
    if (!measure) {
      const Diagnostic first = measure.error().front();
      error(begin, at_, first.message, first.label);
      return pool_.constant(0);
    }
    return pool_.constant(measure->value, measure->dimension);
  }

  Expr name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) {
      ++at_;
    }
    const std::string name(text_.substr(begin, at_ - begin));
    auto output = find_output(outputs_, name);
    if (output) {
      return output->expr;
    }
    if (const Expr symbol = pool_.find_symbol(name)) {
      return symbol;
    }
    error(begin, at_, output.error().front().message, output.error().front().label);
    return pool_.constant(0);
  }

  std::shared_ptr<const SourceFile> file_;
  std::string_view text_;
  const std::vector<Output>& outputs_;
  ir::ExprPool& pool_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Diagnostics errors_;
};

}  // namespace

Result<ir::Expr> parse_condition(const std::string& text, const std::vector<Output>& outputs,
                                 ir::ExprPool& pool) {
  return ConditionParser(text, outputs, pool).parse();
}

}  // namespace mansard::model
