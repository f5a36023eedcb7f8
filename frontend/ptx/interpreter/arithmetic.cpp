#include "frontend/ptx/interpreter/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>

#include "frontend/ptx/interpreter/arithmetic_impl.hpp"

namespace mansard::frontend::ptx {
namespace {

const std::unordered_map<std::string_view, Evaluate>& evaluators() {
  static const auto kEvaluators = [] {
    std::unordered_map<std::string_view, Evaluate> all;
    for (const auto some : {number_evaluators(), bit_evaluators(), function_evaluators()}) {
      for (const Evaluator& each : some) {
        all.emplace(each.name, each.evaluate);
      }
    }
    return all;
  }();
  return kEvaluators;
}

constexpr std::array<std::string_view, 18> kCompares = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                                        "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                                        "ltu", "leu", "gtu", "geu", "num", "nan"};

Rounding rounding_of(const Form& form) {
  const auto any = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](auto word) { return form.has(word); });
  };
  if (any({"rz", "rzi"})) {
    return Rounding::kZero;
  }
  if (any({"rm", "rmi"})) {
    return Rounding::kDown;
  }
  return any({"rp", "rpi"}) ? Rounding::kUp : Rounding::kNearest;
}

}  // namespace

Alu alu_of(const Form& form) {
  Alu alu;
  alu.form = &form;
  alu.type = form.type(0);
  alu.source = form.type();
  alu.rounding = rounding_of(form);
  alu.rounds_whole = form.has("rni") || form.has("rzi") || form.has("rmi") || form.has("rpi");
  alu.saturates = form.has("sat");
  alu.flushes = form.has("ftz");
  alu.writes_carry = form.has("cc");
  for (const std::string_view modifier : form.modifiers) {
    if (std::find(kCompares.begin(), kCompares.end(), modifier) != kCompares.end()) {
      alu.compare = modifier;
    }
  }
  return alu;
}

Evaluate evaluator_of(const Form& form) {
  if (form.opcode == "cvt") {
    const TypeKind to = kind_of(form.type(0));
    const TypeKind source = kind_of(form.type(1));
    const bool is_small = bits_of(form.type(0)) < 16 && to == TypeKind::kFloat;
    if (to == TypeKind::kFloatPacked) {
      const bool halves = form.type(0) == Type::kF16x2 || form.type(0) == Type::kBf16x2;
      return halves && form.type(1) == Type::kF32 && !form.has("rs") ? evaluators().at(kConvertPair)
                                                                     : nullptr;
    }
    return is_small || source == TypeKind::kFloatPacked || form.has("pack")
               ? nullptr
               : evaluators().at("cvt");
  }
  const bool is_whole =
      kind_of(form.type(0)) == TypeKind::kUnsigned || kind_of(form.type(0)) == TypeKind::kSigned;
  std::string name(form.opcode);
  if (name == "shf" || ((name == "mul" || name == "mad") && is_whole) || name == "madc" ||
      name == "mul24" || name == "mad24") {
    name += '.';
    name += form.modifiers.empty() ? std::string_view() : form.modifiers.front();
  }
  const bool has_predicate_result = name == "lop3" && form.modifiers.size() > 1;
  const auto found = evaluators().find(name);
  return found == evaluators().end() || has_predicate_result ? nullptr : found->second;
}

bool compare(std::string_view how, Type type, std::uint64_t a, std::uint64_t b, bool flush) {
  if (is_float(type)) {
    const double x = as_float(type, a, flush);
    const double y = as_float(type, b, flush);
    const bool unordered = std::isnan(x) || std::isnan(y);
    if (how == "num" || how == "nan") {
      return unordered == (how == "nan");
    }
    if (unordered) {
      return how.size() == 3;  // equ, ltu, ...: true of NaN.
    }
    how = how.substr(0, 2);
    return (how == "eq" && x == y) || (how == "ne" && x != y) || (how == "lt" && x < y) ||
           (how == "le" && x <= y) || (how == "gt" && x > y) || (how == "ge" && x >= y);
  }
  const SignedWide x = whole(type, a);
  const SignedWide y = whole(type, b);
  return (how == "eq" && x == y) || (how == "ne" && x != y) ||
         ((how == "lt" || how == "lo") && x < y) || ((how == "le" || how == "ls") && x <= y) ||
         ((how == "gt" || how == "hi") && x > y) || ((how == "ge" || how == "hs") && x >= y);
}

std::uint64_t atomic_result(const Form& form, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  const Type type = form.type();
  const Alu alu = alu_of(form);
  bool carry = false;
  if (form.has("cas")) {
    return as_unsigned(type, old) == as_unsigned(type, b) ? c : old;
  }
  if (form.has("exch")) {
    return b;
  }
  if (form.has("inc")) {
    return as_unsigned(type, old) >= as_unsigned(type, b) ? 0 : old + 1;
  }
  if (form.has("dec")) {
    const bool wraps = as_unsigned(type, old) == 0 || as_unsigned(type, old) > as_unsigned(type, b);
    return wraps ? b : old - 1;
  }
  for (const std::string_view name : {"add", "min", "max", "and", "or", "xor"}) {
    if (form.has(name)) {
      return evaluators().at(name)(alu, {old, b, 0, 0}, carry);
    }
  }
  return old;
}

}  // namespace mansard::frontend::ptx
