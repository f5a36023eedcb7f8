#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/expr.hpp"

namespace mansard::ir {

enum class Access { kRead, kWrite, kReadWrite };

/// What a tensor is for; decides where it may live and whether it must cross device memory in a
/// step.
enum class Role { kActivation, kWeight, kKvCache, kState };

/// The unit that does the contractions of an op.
enum class Engine { kNone, kMatrix, kVector };

/// One tensor that an op touches. `touched` counts the elements it moves: the whole tensor unless
/// the op moves less (a gather, a window, the experts in use).
struct OperandDef {
  std::string_view name;
  Access access = Access::kRead;
  Role role = Role::kActivation;
  Expr touched;
  Expr touched_least;     ///< For the bound, where `touched` is an expectation; else absent.
  bool optional = false;  ///< May be absent from an op: a bias, a residual.
};

/// One dimension symbol that an op of a kind binds; see ir/ops/dims.hpp.
struct DimDef {
  std::string_view name;
  std::string_view meaning;
  std::optional<double> otherwise;  ///< Its value where an op leaves it unbound (flags: 0).
};

/// Everything the model knows about a kind of op. Pure data: no virtual functions, no callbacks.
/// Expressions are over the dimension symbols of ir/ops/dims.hpp, which an op of a graph binds.
///
/// Bytes are not written down here. They follow from `operands`: elements touched times the width
/// of their dtype with its scales, twice for kReadWrite.
struct OpDef {
  std::string_view name;
  std::string_view semantics;        ///< One line of index notation.
  std::vector<DimDef> dims;          ///< Every symbol that the expressions below read.
  std::vector<OperandDef> operands;  ///< Optional ones last.
  Engine engine = Engine::kNone;
  Expr flops;               ///< Contractions, 2 per multiply-add; dimension FLOP.
  Expr vector_flops;        ///< Elementwise arithmetic; dimension FLOP.
  Expr special_ops;         ///< exp, rsqrt, tanh: one each; a plain number.
  Expr link_elements;       ///< What each device must send over its links (collectives).
  std::string_view source;  ///< Where the counts come from; `mansard ops` prints it.
};

/// All op kinds, sorted by name. `ir/ops/ops.def` is the single list to which a new op is added.
[[nodiscard]] const std::vector<OpDef>& op_registry();

/// The op kind called `name`, or nullptr.
[[nodiscard]] const OpDef* find_op(std::string_view name);

/// The pool in which the expressions of all op definitions live.
[[nodiscard]] ExprPool& definitions();

}  // namespace mansard::ir
