#include <cmath>

#include <fmt/core.h>

#include "ir/expr_rules.hpp"
#include "ir/expr_text.hpp"
#include "support/units.hpp"

namespace mansard::ir {

namespace {

/// How tightly a construct binds; an operand that binds less than its place needs gets parentheses.
enum class Binding : std::uint8_t { kSum, kProduct, kPrimary };

constexpr std::size_t kMostNodes = 300'000;

Binding binding_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
    case ExprKind::kSub:
      return Binding::kSum;
    case ExprKind::kMul:
    case ExprKind::kDiv:
      return Binding::kProduct;
    default:
      return Binding::kPrimary;
  }
}

std::string_view operator_text(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
      return " + ";
    case ExprKind::kSub:
      return " - ";
    case ExprKind::kMul:
      return " * ";
    default:
      return " / ";
  }
}

std::string_view reduction_name(Reduction reduction) {
  switch (reduction) {
    case Reduction::kMin:
      return "min_over";
    case Reduction::kMax:
      return "max_over";
    case Reduction::kSum:
      return "sum_over";
    default:
      return "at_min_over";
  }
}

/// "35 us" as "35 [us]", if it reads back as the same bits.
std::optional<std::string> bracketed(std::string text, double value, const Dimension& dimension) {
  const auto read = parse_measure(text);
  const auto space = text.find(' ');
  if (!read || read->value != value || read->dimension != dimension || space == std::string::npos) {
    return std::nullopt;
  }
  text.insert(space + 1, "[");
  text += ']';
  return text;
}

/// A magnitude with its unit; with the prefix that reads best if that reads back exactly.
std::string print_magnitude(double value, const Dimension& dimension) {
  if (dimension == kNumber) {
    return fmt::format("{}", value);
  }
  for (const int digits : {3, 6, 9, 12, 15}) {
    if (auto text = bracketed(format_measure(value, dimension, digits), value, dimension)) {
      return *std::move(text);
    }
  }
  return fmt::format("{} [{}]", value, unit_of(dimension));
}

/// Prints without recursion: a stack of what is still to be written.
class Printer {
 public:
  Printer(const Bindings* bindings, std::size_t longest) : bindings_(bindings), longest_(longest) {}

  std::string print(Expr root) {
    push(root, Binding::kSum);
    for (std::size_t nodes = 0; !todo_.empty() && out_.size() <= longest_;) {
      const Item item = todo_.back();
      todo_.pop_back();
      if (!item.node) {
        out_ += item.text;
      } else if (nodes++ < kMostNodes) {
        write(item.node, item.needed);
      } else {
        out_ += "...";
      }
    }
    return std::move(out_);
  }

 private:
  struct Item {
    Expr node;  ///< Absent: `text`.
    Binding needed = Binding::kSum;
    std::string_view text;
  };

  void push(Expr node, Binding needed) { todo_.push_back({node, needed, {}}); }
  void push(std::string_view text) { todo_.push_back({{}, {}, text}); }

  void write(Expr e, Binding needed) {
    switch (e->kind) {
      case ExprKind::kConstant:
        write_number(e.constant(), e.dimension());
        break;
      case ExprKind::kSymbol:
        write_symbol(e);
        break;
      case ExprKind::kAdd:
      case ExprKind::kSub:
      case ExprKind::kMul:
      case ExprKind::kDiv:
        write_operator(e, needed);
        break;
      default:
        write_call(e);
    }
  }

  void write_number(double value, const Dimension& dimension) {
    if (!std::signbit(value)) {
      out_ += print_magnitude(value, dimension);
      return;
    }
    const bool is_first = out_.empty() || out_.ends_with('(') || out_.ends_with(", ");
    out_ += is_first ? "-" : "(-";
    out_ += print_magnitude(-value, dimension);
    out_ += is_first ? "" : ")";
  }

  void write_symbol(Expr e) {
    const double* bound = bindings_ == nullptr ? nullptr : bindings_->find(e->symbol);
    if (bound != nullptr) {
      write_number(*bound, e.dimension());
    } else {
      out_ += e->symbol;
    }
  }

  void write_operator(Expr e, Binding needed) {
    const Binding own = binding_of(e->kind);
    if (own < needed) {
      out_ += '(';
      push(")");
    }
    push(e->operands[1], own == Binding::kSum ? Binding::kProduct : Binding::kPrimary);
    push(operator_text(e->kind));
    push(e->operands[0], own);
  }

  void write_call(Expr e) {
    std::string_view separator;
    if (e->kind == ExprKind::kReduce) {
      out_ += reduction_name(e->reduction);
      out_ += '(' + e->table->name() + ", " + e->function->name();
      out_ += e->payload == nullptr ? "" : ", " + e->payload->name();
      separator = ", ";
    } else {
      out_ += e->kind == ExprKind::kCall ? e->function->name() : function_name(e->kind);
      out_ += '(';
    }
    push(")");
    for (std::size_t i = e->operands.size(); i-- > 0;) {
      push(e->operands[i], Binding::kSum);
      push(i == 0 ? separator : ", ");
    }
  }

  const Bindings* bindings_;
  std::size_t longest_;
  std::string out_;
  std::vector<Item> todo_;
};

}  // namespace

std::string print(Expr expression) {
  return Printer(nullptr, std::string::npos).print(expression);
}

std::string print_with_values(Expr expression, const Bindings& bindings) {
  return Printer(&bindings, std::string::npos).print(expression);
}

std::string excerpt(Expr expression, std::size_t longest) {
  std::string text = Printer(nullptr, longest).print(expression);
  if (text.size() > longest) {
    text.resize(longest < 3 ? 0 : longest - 3);
    text += "...";
  }
  return text;
}

}  // namespace mansard::ir
