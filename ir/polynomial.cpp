#include "ir/polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace mansard::ir {
namespace {

constexpr std::size_t kMostTerms = 16;  ///< Longer sums are taken whole.

/// Factors by node id, each as often as it occurs.
using Factors = std::vector<Expr>;

struct ById {
  bool operator()(const Factors& a, const Factors& b) const {
    return std::ranges::lexicographical_compare(
        a, b, {}, [](Expr e) { return e->id; }, [](Expr e) { return e->id; });
  }
};

/// A sum of products: coefficient by factors.
using Terms = std::map<Factors, double, ById>;

Terms terms_of(Expr e);

/// A quotient, minimum or the like of operands in the one form.
Expr with_canonical_operands(Expr e) {
  std::vector<Expr> operands;
  for (const Expr operand : e->operands) {
    operands.push_back(canonical(operand));
  }
  return e.pool().make(e->kind, std::move(operands));
}

Terms atom(Expr e) {
  if (e.is_constant()) {
    return e.constant() == 0 ? Terms() : Terms{{Factors(), e.constant()}};
  }
  return {{Factors{e}, 1.0}};
}

Terms added(Terms a, const Terms& b, double sign) {
  for (const auto& [factors, coefficient] : b) {
    double& total = a[factors];
    total += sign * coefficient;
    if (total == 0) {
      a.erase(factors);
    }
  }
  return a;
}

Terms multiplied(const Terms& a, const Terms& b) {
  Terms result;
  for (const auto& [left, left_coefficient] : a) {
    for (const auto& [right, right_coefficient] : b) {
      Factors factors = left;
      factors.insert(factors.end(), right.begin(), right.end());
      std::ranges::sort(factors, {}, [](Expr e) { return e->id; });
      result = added(std::move(result), {{factors, left_coefficient * right_coefficient}}, 1);
    }
  }
  return result;
}

Terms terms_of(Expr e) {
  if (e.is_constant()) {
    return e.constant() == 0 ? Terms() : Terms{{Factors(), e.constant()}};
  }
  const auto operand = [&](std::size_t i) { return terms_of(e->operands[i]); };
  switch (e->kind) {
    case ExprKind::kAdd:
      return added(operand(0), operand(1), 1);
    case ExprKind::kSub:
      return added(operand(0), operand(1), -1);
    case ExprKind::kMul: {
      const Terms left = operand(0);
      const Terms right = operand(1);
      return left.size() * right.size() <= kMostTerms ? multiplied(left, right) : atom(e);
    }
    case ExprKind::kSymbol:
    case ExprKind::kCall:
    case ExprKind::kReduce:
      return atom(e);
    default:
      return atom(with_canonical_operands(e));
  }
}

Expr expression(ExprPool& pool, const Factors& factors, double coefficient) {
  Expr result = pool.constant(coefficient);
  for (const Expr factor : factors) {
    result = result * factor;
  }
  return result;
}

/// Positive terms first, so that differences read as such; the constant last.
Expr expression(ExprPool& pool, const Terms& terms) {
  Expr result = pool.constant(0);
  double constant = 0;
  for (const bool positive : {true, false}) {
    for (const auto& [factors, coefficient] : terms) {
      if (factors.empty()) {
        constant = coefficient;
      } else if ((coefficient > 0) == positive) {
        const Expr term = expression(pool, factors, std::abs(coefficient));
        result = positive ? result + term : result - term;
      }
    }
  }
  return constant < 0 ? result - -constant : result + constant;
}

/// a / b where b's factors and coefficient divide it.
std::optional<std::pair<Factors, double>> divided(const Factors& factors, double coefficient,
                                                  const Factors& by, double divisor) {
  if (std::fmod(coefficient, divisor) != 0) {
    return std::nullopt;
  }
  Factors rest = factors;
  for (const Expr factor : by) {
    const auto found = std::ranges::find(rest, factor);
    if (found == rest.end()) {
      return std::nullopt;
    }
    rest.erase(found);
  }
  return std::pair(std::move(rest), coefficient / divisor);
}

std::optional<Terms> divided(const Terms& terms, const Factors& by, double divisor) {
  Terms result;
  for (const auto& [factors, coefficient] : terms) {
    auto quotient = divided(factors, coefficient, by, divisor);
    if (!quotient) {
      return std::nullopt;
    }
    result.insert(std::move(*quotient));
  }
  return result;
}

}  // namespace

Expr canonical(Expr e) {
  return expression(e.pool(), terms_of(e));
}

Expr sum(Expr a, Expr b) {
  return canonical(a + b);
}

Expr difference(Expr a, Expr b) {
  return canonical(a - b);
}

Expr product(Expr a, Expr b) {
  return canonical(a * b);
}

Expr quotient(Expr a, Expr b) {
  if (a == b || (b.is_constant() && b.constant() == 0)) {
    return a.pool().constant(1);
  }
  const Terms divisor = terms_of(b);
  if (divisor.size() == 1) {
    const auto& [factors, coefficient] = *divisor.begin();
    if (const auto exact = divided(terms_of(a), factors, coefficient)) {
      return expression(a.pool(), *exact);
    }
  }
  return floor_div(a, b);
}

}  // namespace mansard::ir
