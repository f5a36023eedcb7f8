#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.hpp"

/// What passes share.
namespace mansard::ir {

/// The constant factor of a dimension over the workload: its value at one token of one sequence.
[[nodiscard]] double coefficient(Expr dimension);

/// `dimension` / `parts`, rounded up; a constant factor is divided where it can be, so that the
/// result reads well.
[[nodiscard]] Expr divided(Expr dimension, double parts);

/// `dimension` with its constant factor `from` replaced by `to`.
[[nodiscard]] Expr resized(Expr dimension, double from, double to);

/// `symbol` replaced by `by` in every dim and shape of a graph.
void substitute_symbol(Graph& graph, std::string_view symbol, Expr by);
[[nodiscard]] Expr with_symbol(Expr expression, ExprPool& pool, std::string_view symbol, Expr by);

[[nodiscard]] bool depends_on(Expr expression, std::string_view symbol);

/// The dim of that name: what the op binds, else its kind's default.
[[nodiscard]] Expr dim_of(const Graph& graph, const Op& op, std::string_view name);
/// The tensor of the operand of that name, if the op has it.
[[nodiscard]] std::optional<TensorId> operand_of(const Op& op, std::string_view name);
/// The tensor of an operand that ops of the kind must have.
[[nodiscard]] TensorId tensor_of(const Op& op, std::string_view name);
void set_operand(Op& op, std::string_view name, std::optional<TensorId> tensor);

/// The attribute of that name, or "".
[[nodiscard]] std::string_view attribute_of(const Op& op, std::string_view name);

/// Operands of a new op, by name, in the order of its kind.
[[nodiscard]] std::vector<std::optional<TensorId>> operands_by_name(
    const OpDef& def,
    const std::vector<std::pair<std::string_view, std::optional<TensorId>>>& operands);

[[nodiscard]] bool is_kind(const Op& op, std::string_view kind);
[[nodiscard]] bool reads(const Op& op, TensorId tensor);
[[nodiscard]] bool writes(const Op& op, TensorId tensor);

/// Adds a sentence to the graph's notes once.
void note(Graph& graph, std::string sentence);

}  // namespace mansard::ir
