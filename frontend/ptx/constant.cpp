#include "frontend/ptx/constant.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <string>

namespace mansard::frontend::ptx {
namespace {

constexpr int kUnaryPrecedence = 11;
constexpr std::size_t kDeepest = 200;

int precedence_of(const Token& token) {
  if (token.kind != TokenKind::kPunctuation) {
    return 0;
  }
  switch (token.punctuation) {
    case 'o':
      return 1;
    case 'a':
      return 2;
    case '|':
      return 3;
    case '^':
      return 4;
    case '&':
      return 5;
    case 'e':
    case 'n':
      return 6;
    case '<':
    case '>':
    case 'k':
    case 'g':
      return 7;
    case 'l':
    case 'r':
      return 8;
    case '+':
    case '-':
      return 9;
    case '*':
    case '/':
    case '%':
      return 10;
    default:
      return 0;
  }
}

double as_double(Constant value) {
  switch (value.kind) {
    case ConstantKind::kFloat32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
    case ConstantKind::kFloat64:
      return std::bit_cast<double>(value.bits);
    case ConstantKind::kUnsigned:
      return static_cast<double>(static_cast<std::uint64_t>(value.bits));
    case ConstantKind::kSigned:
      break;
  }
  return static_cast<double>(value.bits);
}

Constant from_double(double value) {
  return {ConstantKind::kFloat64, std::bit_cast<std::int64_t>(value)};
}

Constant from_bool(bool value) {
  return {ConstantKind::kSigned, value ? 1 : 0};
}

std::optional<Constant> apply_float(char op, double a, double b) {
  switch (op) {
    case '+':
      return from_double(a + b);
    case '-':
      return from_double(a - b);
    case '*':
      return from_double(a * b);
    case '/':
      return from_double(a / b);
    case '<':
      return from_bool(a < b);
    case '>':
      return from_bool(a > b);
    case 'k':
      return from_bool(a <= b);
    case 'g':
      return from_bool(a >= b);
    case 'e':
      return from_bool(a == b);
    case 'n':
      return from_bool(a != b);
    default:
      return std::nullopt;
  }
}

/// -1, 0 or 1, by the signedness of the operands.
int compare(std::uint64_t a, std::uint64_t b, bool is_unsigned) {
  if (a == b) {
    return 0;
  }
  const bool less =
      is_unsigned ? a < b : static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
  return less ? -1 : 1;
}

std::optional<std::uint64_t> divide(char op, std::uint64_t a, std::uint64_t b, bool is_unsigned) {
  if (b == 0) {
    return std::nullopt;
  }
  if (is_unsigned) {
    return op == '/' ? a / b : a % b;
  }
  const auto x = static_cast<std::int64_t>(a);
  const auto y = static_cast<std::int64_t>(b);
  if (y == -1) {
    return op == '/' ? 0 - a : 0;
  }
  return static_cast<std::uint64_t>(op == '/' ? x / y : x % y);
}

std::uint64_t shift(char op, std::uint64_t a, std::uint64_t b, bool is_unsigned) {
  constexpr std::uint64_t kMask = 63;
  if (op == 'l') {
    return a << (b & kMask);
  }
  return is_unsigned ? a >> (b & kMask)
                     : static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> (b & kMask));
}

std::optional<Constant> compare_integer(char op, std::uint64_t a, std::uint64_t b,
                                        bool is_unsigned) {
  const int order = compare(a, b, is_unsigned);
  switch (op) {
    case '<':
      return from_bool(order < 0);
    case '>':
      return from_bool(order > 0);
    case 'k':
      return from_bool(order <= 0);
    case 'g':
      return from_bool(order >= 0);
    case 'e':
      return from_bool(order == 0);
    case 'n':
      return from_bool(order != 0);
    case 'a':
      return from_bool(a != 0 && b != 0);
    case 'o':
      return from_bool(a != 0 || b != 0);
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> combine(char op, std::uint64_t a, std::uint64_t b, bool is_unsigned) {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
    case '%':
      return divide(op, a, b, is_unsigned);
    case '&':
      return a & b;
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    default:
      return shift(op, a, b, is_unsigned);
  }
}

std::optional<Constant> apply(char op, Constant left, Constant right) {
  if (left.is_float() || right.is_float()) {
    return apply_float(op, as_double(left), as_double(right));
  }
  const bool shifts = op == 'l' || op == 'r';
  const bool is_unsigned =
      left.kind == ConstantKind::kUnsigned || (!shifts && right.kind == ConstantKind::kUnsigned);
  const auto a = static_cast<std::uint64_t>(left.bits);
  const auto b = static_cast<std::uint64_t>(right.bits);
  if (const std::optional<Constant> truth = compare_integer(op, a, b, is_unsigned)) {
    return truth;
  }
  const std::optional<std::uint64_t> value = combine(op, a, b, is_unsigned);
  if (!value) {
    return std::nullopt;
  }
  return Constant{is_unsigned ? ConstantKind::kUnsigned : ConstantKind::kSigned,
                  static_cast<std::int64_t>(*value)};
}

std::optional<Constant> read_float(std::string_view text);

class ConstantParser {
 public:
  ConstantParser(TokenStream& tokens, Report& report) : tokens_(tokens), report_(report) {}

  std::optional<Constant> conditional() {
    if (++depth_ > kDeepest) {
      tokens_.expected("a constant expression nested less deeply");
      return std::nullopt;
    }
    std::optional<Constant> value = binary(1);
    if (value && tokens_.accept('?')) {
      value = choose(*value);
    }
    --depth_;
    return value;
  }

 private:
  std::optional<Constant> choose(Constant condition) {
    const std::optional<Constant> yes = conditional();
    if (!yes || !tokens_.expect(':', "':' of a conditional constant")) {
      return std::nullopt;
    }
    const std::optional<Constant> no = conditional();
    if (!no) {
      return std::nullopt;
    }
    return (condition.is_float() ? as_double(condition) != 0 : condition.bits != 0) ? yes : no;
  }

 public:
  std::optional<Constant> binary(int least) {
    std::optional<Constant> left = unary();
    while (left) {
      const Token op = tokens_.peek();
      const int precedence = precedence_of(op);
      if (precedence < least || precedence == 0) {
        return left;
      }
      tokens_.take();
      const std::optional<Constant> right = binary(precedence + 1);
      if (!right) {
        return std::nullopt;
      }
      left = apply(op.punctuation, *left, *right);
      if (!left) {
        report_.error("ptx-constant", "constant expression has no value", op.position, op.end);
      }
    }
    return left;
  }

 private:
  std::optional<Constant> unary() {
    if (++depth_ > kDeepest) {
      tokens_.expected("a constant expression nested less deeply");
      return std::nullopt;
    }
    std::optional<Constant> value = unary_inner();
    --depth_;
    return value;
  }

  std::optional<Constant> unary_inner() {
    const Token& next = tokens_.peek();
    if (next.kind == TokenKind::kPunctuation) {
      const char c = next.punctuation;
      if (c == '+' || c == '-' || c == '~' || c == '!') {
        const Token op = tokens_.take();
        const std::optional<Constant> value = unary();
        return value ? negate(op, *value) : std::nullopt;
      }
      if (c == '(') {
        tokens_.take();
        return parenthesised();
      }
    }
    return primary();
  }

  std::optional<Constant> negate(const Token& op, Constant value) {
    switch (op.punctuation) {
      case '+':
        return value;
      case '-':
        if (value.is_float()) {
          return from_double(-as_double(value));
        }
        return Constant{value.kind,
                        static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(value.bits))};
      case '!':
        return from_bool(value.is_float() ? as_double(value) == 0 : value.bits == 0);
      default:
        if (value.is_float()) {
          report_.error("ptx-constant", "'~' of a floating-point constant", op.position, op.end);
          return std::nullopt;
        }
        return Constant{value.kind, ~value.bits};
    }
  }

  std::optional<Constant> parenthesised() {
    const bool to_signed = tokens_.peek().is_dot("s64");
    if (to_signed || tokens_.peek().is_dot("u64")) {
      tokens_.take();
      if (!tokens_.expect(')', "')'")) {
        return std::nullopt;
      }
      std::optional<Constant> value = unary();
      if (value) {
        if (value->is_float()) {
          value->bits = static_cast<std::int64_t>(as_double(*value));
        }
        value->kind = to_signed ? ConstantKind::kSigned : ConstantKind::kUnsigned;
      }
      return value;
    }
    const std::optional<Constant> value = conditional();
    if (!value || !tokens_.expect(')', "')'")) {
      return std::nullopt;
    }
    return value;
  }

  /// `.5`: to the lexer a word behind a dot.
  std::optional<Constant> fraction(const Token& digits) {
    const std::optional<Constant> value = read_float("0." + std::string(digits.text));
    if (!value) {
      report_.error("ptx-constant", "malformed number " + describe(digits), digits.position,
                    digits.end);
    }
    return value;
  }

  std::optional<Constant> primary() {
    const Token& next = tokens_.peek();
    if (next.is_word("WARP_SZ")) {
      tokens_.take();
      return Constant{ConstantKind::kSigned, 32};
    }
    if (next.kind == TokenKind::kDot && next.text.front() >= '0' && next.text.front() <= '9') {
      return fraction(tokens_.take());
    }
    if (next.kind != TokenKind::kInteger && next.kind != TokenKind::kFloat) {
      tokens_.expected("a constant");
      return std::nullopt;
    }
    const std::optional<Constant> value = read_literal(next);
    if (!value) {
      report_.error("ptx-constant", "malformed number " + describe(next), next.position, next.end);
      return std::nullopt;
    }
    tokens_.take();
    return value;
  }

  TokenStream& tokens_;
  Report& report_;
  std::size_t depth_ = 0;
};

std::optional<std::uint64_t> read_digits(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<Constant> read_integer(std::string_view text) {
  const bool has_suffix = text.back() == 'U';
  if (has_suffix) {
    text.remove_suffix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char prefix = text[1];
    base = prefix == 'x' || prefix == 'X' ? 16 : prefix == 'b' || prefix == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  constexpr std::size_t kMostDigits = 16;
  if (base == 16 && text.size() > kMostDigits) {
    text.remove_prefix(text.size() - kMostDigits);  // As ptxas: the low 64 bits.
  }
  const std::optional<std::uint64_t> value = read_digits(text, base);
  if (!value) {
    return std::nullopt;
  }
  const bool is_unsigned =
      has_suffix || *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return Constant{is_unsigned ? ConstantKind::kUnsigned : ConstantKind::kSigned,
                  static_cast<std::int64_t>(*value)};
}

std::optional<Constant> read_float(std::string_view text) {
  const bool has_bits = text.size() > 1 && text[0] == '0' && text[1] != '.' && text[1] != 'e' &&
                        text[1] != 'E' && (text[1] < '0' || text[1] > '9');
  if (has_bits) {
    const bool is_single = text[1] == 'f' || text[1] == 'F';
    const std::string_view digits = text.substr(2);
    const std::optional<std::uint64_t> value = read_digits(digits, 16);
    if (!value || digits.size() != (is_single ? 8U : 16U)) {
      return std::nullopt;
    }
    return Constant{is_single ? ConstantKind::kFloat32 : ConstantKind::kFloat64,
                    static_cast<std::int64_t>(*value)};
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return from_double(value);
}

}  // namespace

std::optional<Constant> parse_constant(TokenStream& tokens, Report& report) {
  return ConstantParser(tokens, report).conditional();
}

std::optional<Constant> parse_term(TokenStream& tokens, Report& report) {
  return ConstantParser(tokens, report).binary(kUnaryPrecedence - 1);
}

std::optional<Constant> read_literal(const Token& token) {
  return token.kind == TokenKind::kInteger ? read_integer(token.text) : read_float(token.text);
}

}  // namespace mansard::frontend::ptx
