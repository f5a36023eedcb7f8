#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ir/expr.hpp"

/// Random expressions with a slow, obvious evaluator that shares no code with the one under test.
namespace mansard::ir::test {

using Random = std::mt19937_64;

[[nodiscard]] inline std::size_t below(Random& random, std::size_t bound) {
  return random() % bound;
}

/// One operation as it was written, before any simplification; operands are places of earlier
/// steps.
struct Step {
  ExprKind kind = ExprKind::kConstant;
  std::vector<std::size_t> operands;
  double constant = 0;
  std::string symbol;
  std::size_t function = 0;  ///< kCall and kReduce.
  Reduction reduction = Reduction::kMin;
};

/// Steps over parameters, the last of which is the result.
struct Recipe {
  std::vector<std::string> parameters;
  std::vector<Step> steps;
};

/// What a random expression consists of. Function 0 takes (a, b); functions 1 and 2 are key and
/// payload over the rows (c, d) of the table and one argument a. All read the symbol s0 too.
struct Program {
  std::vector<Recipe> functions;
  std::vector<std::array<double, 2>> table;
  Recipe main;
};

inline const std::vector<std::string> kSymbols{"s0", "s1", "s2", "s3"};

/// Doubles by the definitions of ir/expr.hpp; absent where an operand is outside of what they
/// allow.
struct DoubleReference {
  using Value = double;

  static std::optional<double> from(double value) { return value; }

  static bool is_whole(double a) { return std::floor(a) == a && std::abs(a) < 0x1p53; }

  static std::optional<double> apply(ExprKind kind, double a, double b, double c) {
    const auto result = compute(kind, a, b, c);
    const bool in_range =
        result && (*result == 0 || (std::abs(*result) > 1e-90 && std::abs(*result) < 1e90));
    return in_range ? result : std::nullopt;
  }

  static std::optional<double> compute(ExprKind kind, double a, double b, double c) {
    switch (kind) {
      case ExprKind::kAdd:
        return a + b;
      case ExprKind::kSub:
        return a - b;
      case ExprKind::kMul:
        return a * b;
      case ExprKind::kDiv:
        return b == 0 ? std::nullopt : std::optional(a / b);
      case ExprKind::kFloorDiv:
        return divides(a, b) ? std::optional(std::floor(a / b)) : std::nullopt;
      case ExprKind::kCeilDiv:
        return divides(a, b) ? std::optional(std::ceil(a / b)) : std::nullopt;
      case ExprKind::kMod:
        return divides(a, b) ? std::optional(a - b * std::floor(a / b)) : std::nullopt;
      case ExprKind::kMin:
        return a < b ? a : b;
      case ExprKind::kMax:
        return a < b ? b : a;
      case ExprKind::kFloor:
        return std::floor(a);
      case ExprKind::kLess:
        return a < b ? 1 : 0;
      case ExprKind::kSelect:
        return a == 0 ? c : b;
      case ExprKind::kScale2:
        return is_whole(b) && std::abs(b) < 200 ? std::optional(std::ldexp(a, static_cast<int>(b)))
                                                : std::nullopt;
      case ExprKind::kExponent2:
        return a >= 0x1p-1022 ? std::optional<double>(std::ilogb(a)) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  static bool divides(double a, double b) { return is_whole(a) && is_whole(b) && b != 0; }
};

/// The same for exact integers.
struct IntegerReference {
  using Value = __int128;

  static std::optional<Value> from(double value) {
    return std::floor(value) == value ? std::optional(static_cast<Value>(value)) : std::nullopt;
  }

  static Value floor_div(Value a, Value b) {
    const Value quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
  }

  static std::optional<Value> apply(ExprKind kind, Value a, Value b, Value c) {
    Value result = 0;
    switch (kind) {
      case ExprKind::kAdd:
        return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
      case ExprKind::kSub:
        return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
      case ExprKind::kMul:
        return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
      case ExprKind::kDiv:
        return b != 0 && a % b == 0 ? std::optional(a / b) : std::nullopt;
      case ExprKind::kFloorDiv:
        return b != 0 ? std::optional(floor_div(a, b)) : std::nullopt;
      case ExprKind::kCeilDiv:
        return b != 0 ? std::optional(-floor_div(-a, b)) : std::nullopt;
      case ExprKind::kMod:
        return b != 0 ? std::optional(a - b * floor_div(a, b)) : std::nullopt;
      case ExprKind::kMin:
        return a < b ? a : b;
      case ExprKind::kMax:
        return a < b ? b : a;
      case ExprKind::kFloor:
        return a;
      case ExprKind::kLess:
        return a < b ? 1 : 0;
      case ExprKind::kSelect:
        return a == 0 ? c : b;
      case ExprKind::kScale2:
        return b >= 0 && b < 20
                   ? apply(ExprKind::kMul, a, static_cast<Value>(1) << static_cast<int>(b), 0)
                   : std::nullopt;
      default:
        return std::nullopt;
    }
  }
};

/// Evaluates recipes by recursion over their steps.
template <typename Reference>
class Evaluation {
 public:
  using Value = typename Reference::Value;
  using Environment = std::map<std::string, Value>;

  Evaluation(const Program& program, Environment globals)
      : program_(program), globals_(std::move(globals)) {}

  /// The value of a step of `main`, if it has one.
  std::optional<Value> operator()(std::size_t step) {
    main_.resize(program_.main.steps.size());
    return at(program_.main, {}, main_, step);
  }
  /// That value, or 0.
  Value value_of(std::size_t step) { return (*this)(step).value_or(Value{}); }

 private:
  using Memo = std::vector<std::optional<Value>>;

  std::optional<Value> at(const Recipe& recipe, const Environment& parameters, Memo& memo,
                          std::size_t i) {
    if (!memo[i]) {
      memo[i] = compute(recipe.steps[i], recipe, parameters, memo);
    }
    return memo[i];
  }

  std::optional<Value> compute(const Step& step, const Recipe& recipe,
                               const Environment& parameters, Memo& memo) {
    if (step.kind == ExprKind::kConstant) {
      return Reference::from(step.constant);
    }
    if (step.kind == ExprKind::kSymbol) {
      const auto own = parameters.find(step.symbol);
      return own != parameters.end() ? own->second : globals_.at(step.symbol);
    }
    std::vector<Value> operands;
    for (const std::size_t operand : step.operands) {
      const auto value = at(recipe, parameters, memo, operand);
      if (!value) {
        return std::nullopt;
      }
      operands.push_back(*value);
    }
    if (step.kind == ExprKind::kCall) {
      return call(step.function, operands);
    }
    if (step.kind == ExprKind::kReduce) {
      return reduce(step.reduction, operands);
    }
    operands.resize(3);
    return Reference::apply(step.kind, operands[0], operands[1], operands[2]);
  }

  std::optional<Value> call(std::size_t function, const std::vector<Value>& arguments) {
    const Recipe& recipe = program_.functions[function];
    Environment parameters;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      parameters[recipe.parameters[i]] = arguments[i];
    }
    Memo memo(recipe.steps.size());
    return at(recipe, parameters, memo, recipe.steps.size() - 1);
  }

  std::optional<Value> row(std::size_t function, std::size_t r, std::vector<Value> arguments) {
    const auto [c, d] = program_.table[r];
    arguments.insert(arguments.begin(), {static_cast<Value>(c), static_cast<Value>(d)});
    return call(function, arguments);
  }

  std::optional<Value> reduce(Reduction reduction, const std::vector<Value>& arguments) {
    std::optional<Value> result = row(1, 0, arguments);
    std::size_t least = 0;
    for (std::size_t r = 1; r < program_.table.size() && result; ++r) {
      const auto key = row(1, r, arguments);
      if (!key) {
        return std::nullopt;
      }
      if (reduction == Reduction::kSum) {
        result = Reference::apply(ExprKind::kAdd, *result, *key, 0);
      } else if (reduction == Reduction::kMax) {
        result = *result < *key ? key : result;
      } else if (*key < *result) {
        result = key;
        least = r;
      }
    }
    return result && reduction == Reduction::kAtMin ? row(2, least, arguments) : result;
  }

  const Program& program_;
  Environment globals_;
  Memo main_;
};

/// A step of one of `kinds` over earlier steps.
inline Step random_step(Random& random, const std::vector<ExprKind>& kinds, std::size_t earlier) {
  Step step;
  step.kind = kinds[below(random, kinds.size())];
  std::size_t operands = 2;
  if (step.kind == ExprKind::kFloor || step.kind == ExprKind::kExponent2) {
    operands = 1;
  } else if (step.kind == ExprKind::kSelect) {
    operands = 3;
  } else if (step.kind == ExprKind::kReduce) {
    operands = 1;
    step.reduction = static_cast<Reduction>(below(random, 4));
  }
  for (std::size_t i = 0; i < operands; ++i) {
    step.operands.push_back(below(random, earlier));
  }
  return step;
}

/// What random steps are made of.
struct Ingredients {
  std::vector<std::string> symbols;
  std::vector<double> constants;
  std::vector<ExprKind> kinds;
  std::size_t steps = 0;
};

/// Leaves first, then steps over them; `accept` says whether a step may stay.
template <typename Accept>
void grow(Random& random, Recipe& recipe, const Ingredients& of, const Accept& accept) {
  for (const std::string& symbol : of.symbols) {
    recipe.steps.push_back({.kind = ExprKind::kSymbol, .symbol = symbol});
  }
  for (const double constant : of.constants) {
    recipe.steps.push_back({.kind = ExprKind::kConstant, .constant = constant});
  }
  const std::size_t whole = recipe.steps.size() + of.steps;
  for (std::size_t tries = 0; recipe.steps.size() < whole && tries < 50 * of.steps; ++tries) {
    recipe.steps.push_back(random_step(random, of.kinds, recipe.steps.size()));
    if (!accept(recipe.steps.size() - 1)) {
      recipe.steps.pop_back();
    }
  }
}

/// Random functions and a table, for `main` to call.
inline Program random_functions(Random& random) {
  const std::vector<ExprKind> kinds{ExprKind::kAdd, ExprKind::kSub,  ExprKind::kMul,
                                    ExprKind::kMin, ExprKind::kLess, ExprKind::kSelect};
  Program program;
  program.functions = {
      {{"f.a", "f.b"}, {}}, {{"k.c", "k.d", "k.a"}, {}}, {{"p.c", "p.d", "p.a"}, {}}};
  for (Recipe& recipe : program.functions) {
    auto symbols = recipe.parameters;
    symbols.emplace_back("s0");
    grow(random, recipe, {symbols, {0, 1, 3}, kinds, 8}, [](std::size_t) { return true; });
  }
  for (std::size_t r = 0; r < 1 + below(random, 5); ++r) {
    program.table.push_back(
        {static_cast<double>(below(random, 64)), static_cast<double>(1 + below(random, 9))});
  }
  return program;
}

/// Builds recipes as expressions of a pool.
class Builder {
 public:
  Builder(const Program& program, ExprPool& pool) : program_(program), pool_(pool) {
    const std::vector<std::string> names{"f", "key", "payload"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Recipe& recipe = program.functions[i];
      std::vector<Expr> parameters(recipe.parameters.size());
      std::ranges::transform(recipe.parameters, parameters.begin(),
                             [&](const std::string& name) { return pool.symbol(name); });
      functions_.push_back(&pool.define(names[i], parameters, build(recipe).back()));
    }
    std::vector<double> values;
    for (const auto& row : program.table) {
      values.insert(values.end(), row.begin(), row.end());
    }
    table_ = &pool.add_table("table", {"c", "d"}, values);
  }

  /// Every step of `main`.
  std::vector<Expr> operator()() { return build(program_.main); }

 private:
  std::vector<Expr> build(const Recipe& recipe) {
    std::vector<Expr> built;
    built.reserve(recipe.steps.size());
    for (const Step& step : recipe.steps) {
      std::vector<Expr> operands(step.operands.size());
      std::ranges::transform(step.operands, operands.begin(),
                             [&](std::size_t operand) { return built[operand]; });
      built.push_back(build(step, std::move(operands)));
    }
    return built;
  }

  Expr build(const Step& step, std::vector<Expr> operands) {
    switch (step.kind) {
      case ExprKind::kConstant:
        return pool_.constant(step.constant);
      case ExprKind::kSymbol:
        return pool_.symbol(step.symbol);
      case ExprKind::kCall:
        return pool_.call(*functions_[0], std::move(operands));
      case ExprKind::kReduce:
        return pool_.reduce(step.reduction, *table_, *functions_[1], std::move(operands),
                            step.reduction == Reduction::kAtMin ? functions_[2] : nullptr);
      default:
        return pool_.make(step.kind, std::move(operands));
    }
  }

  const Program& program_;
  ExprPool& pool_;
  std::vector<const Function*> functions_;
  const Table* table_ = nullptr;
};

template <typename Reference>
using Environments = std::vector<typename Evaluation<Reference>::Environment>;

/// A program over `kSymbols` whose every step has a value in each of `environments`.
template <typename Reference>
Program random_program(Random& random, Ingredients of,
                       const Environments<Reference>& environments) {
  Program program = random_functions(random);
  of.symbols = kSymbols;
  grow(random, program.main, of, [&](std::size_t step) {
    return std::ranges::all_of(environments, [&](const auto& environment) {
      return Evaluation<Reference>(program, environment)(step).has_value();
    });
  });
  return program;
}

inline const std::vector<ExprKind> kAllKinds{
    ExprKind::kAdd,      ExprKind::kSub,     ExprKind::kMul,       ExprKind::kDiv,
    ExprKind::kFloorDiv, ExprKind::kMod,     ExprKind::kMin,       ExprKind::kMax,
    ExprKind::kFloor,    ExprKind::kCeilDiv, ExprKind::kLess,      ExprKind::kSelect,
    ExprKind::kCall,     ExprKind::kScale2,  ExprKind::kExponent2, ExprKind::kReduce};

/// A program over doubles, and points at which every step has a value.
struct ValueCase {
  Program program;
  Environments<DoubleReference> points;
};
inline ValueCase random_value_case(Random& random, std::size_t steps = 60) {
  ValueCase made;
  for (int i = 0; i < 3; ++i) {
    made.points.push_back(
        {{"s0", static_cast<double>(below(random, 5))},
         {"s1", static_cast<double>(1 + below(random, 4096))},
         {"s2", std::ldexp(static_cast<double>(1 + below(random, 1U << 30U)), -20)},
         {"s3", -static_cast<double>(below(random, 100)) / 7}});
  }
  made.program = random_program<DoubleReference>(
      random, {{}, {0, 1, 2, 3, 0.1, -5, 128}, kAllKinds, steps}, made.points);
  return made;
}

}  // namespace mansard::ir::test
