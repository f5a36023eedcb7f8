#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/attention.hpp"
#include "frontend/onnx/rules/tables.hpp"
#include "frontend/onnx/types.hpp"

/// Attention whose sequences are packed without padding, paged, local or linear.
namespace mansard::frontend::onnx {
namespace {

Expr at_least_one(const Node& node, std::string_view name) {
  return node.number(static_cast<double>(std::max<std::int64_t>(node.integer(name, 1), 1)));
}

bool has_rank(Node& node, std::size_t input, std::size_t rank) {
  if (!needs_inputs(node, input + 1)) {
    return false;
  }
  if (node.rank(input) != rank) {
    node.error("onnx-rank",
               fmt::format("input {} has rank {}, expected {}", input, node.rank(input), rank));
    return false;
  }
  return true;
}

/// All tokens of all sequences; each attends to those of its own, at most as many as the longest
/// sequence has (columns of the table of offsets).
void emit_packed(Node& node, Heads h, Expr longest, const AttentionInputs& inputs, ValueId output) {
  h.batch = node.number(1);
  emit_attention(node, h, {.pairs = product(h.queries, longest), .keys_read = h.queries}, inputs,
                 output);
  node.importer().note(fmt::format(
      "{}: each token is counted as attending to as many keys as the longest sequence has",
      node.full_type()));
}

/// A projection of packed tokens [tokens, features], then attention.
void packed_attention(Node& node) {
  if (!has_rank(node, 0, 2) || !has_rank(node, 1, 2) || !node.has(3) || node.rank(3) != 2) {
    if (!node.failed()) {
      node.error("onnx-inputs", "has no table of token offsets");
    }
    return;
  }
  const Expr heads = at_least_one(node, "num_heads");
  const Expr features = node.shape(1)[1];
  const std::vector<std::int64_t> sizes = node.list("qkv_hidden_sizes");
  const auto width = [&](std::size_t i) {
    return sizes.size() == 3 && sizes[i] > 0 ? node.number(static_cast<double>(sizes[i]))
                                             : quotient(features, node.number(3));
  };
  const Expr tokens = node.shape(0)[0];
  const int type = node.in(0).type;
  const ValueId qkv = node.between(type, Shape{tokens, features});
  Matmul m{.a = node.id(0),
           .b = node.id(1),
           .a_shape = node.shape(0),
           .b_shape = node.shape(1),
           .suffix = ".qkv"};
  if (node.has(2)) {
    m.bias = node.id(2);
  }
  if (!matmul_shape(node, m.a_shape, m.b_shape)) {
    return;
  }
  emit_matmul(node, m, qkv);
  const ValueId output = node.set(0, type, Shape{tokens, width(2)});
  emit_packed(node,
              {.queries = tokens,
               .heads = heads,
               .kv_heads = heads,
               .head_dim = quotient(width(0), heads),
               .value_dim = quotient(width(2), heads)},
              node.shape(3)[1], {qkv, qkv, qkv}, output);
}

/// Query, key and value [tokens, features], or one tensor [tokens, heads, 3, dim].
void packed_multi_head(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const bool one = node.rank(0) == 4;
  const bool fits = one || (node.rank(0) == 2 && node.has(1) && node.rank(1) == 2 && node.has(2) &&
                            node.rank(2) == 2);
  if (!fits || !node.has(4) || node.rank(4) != 2) {
    node.error("onnx-rank", "expected packed queries, keys and values and a table of offsets");
    return;
  }
  const Expr heads = at_least_one(node, "num_heads");
  const Shape& q = node.shape(0);
  const Expr dim = one ? q[3] : quotient(q[1], heads);
  const Expr value_dim = one ? q[3] : quotient(node.shape(2)[1], heads);
  const AttentionInputs inputs{node.id(0), one ? node.id(0) : node.id(1),
                               one ? node.id(0) : node.id(2)};
  const ValueId output = node.set(0, node.in(0).type, Shape{q[0], product(heads, value_dim)});
  emit_packed(
      node,
      {.queries = q[0], .heads = heads, .kv_heads = heads, .head_dim = dim, .value_dim = value_dim},
      node.shape(4)[1], inputs, output);
}

/// Keys and values stand in pages; how many a token attends to is known when it runs.
void paged(Node& node) {
  if (!has_rank(node, 0, 2) || !node.has(3) || node.rank(3) != 4 || !node.has(7) ||
      node.rank(7) != 2) {
    if (!node.failed()) {
      node.error("onnx-rank", "expected packed queries, pages of rank 4 and a table of them");
    }
    return;
  }
  const Expr heads = at_least_one(node, "num_heads");
  const Expr groups = at_least_one(node, "kv_num_heads");
  const Expr dim = node.shape(3)[3];
  const Expr tokens = node.shape(0)[0];
  const Expr context = node.unknown(
      ".context",
      fmt::format("keys of a sequence of PagedAttention '{}', on average", node.name()));
  const bool packed = !node.has(1);
  const Expr written = product(product(tokens, groups), dim);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t from = packed || !node.has(1 + i) ? 0 : 1 + i;
    const ValueId slots = node.between(node.in(3).type, Shape{tokens, product(groups, dim)});
    node.emit_many("move", {node.id(from)}, slots, {{"n", written}, {"i", written}},
                   {{"function", "cache"}}, i == 0 ? ".k_write" : ".v_write");
  }
  const ValueId output = node.set(0, node.in(0).type, Shape{tokens, product(heads, dim)});
  emit_attention(
      node,
      {.batch = node.number(1),
       .queries = tokens,
       .heads = heads,
       .kv_heads = groups,
       .head_dim = dim,
       .value_dim = dim},
      {.pairs = product(tokens, context), .keys_read = product(node.shape(7)[0], context)},
      {node.id(0), node.id(3), node.has(4) ? node.id(4) : node.id(3)}, output);
  for (const std::size_t i : {1U, 2U}) {
    if (node.wants(i) && node.has(2 + i)) {
      node.view(i, 2 + i, node.shape(2 + i));
    }
  }
}

/// Time first: projections of queries, and of keys and values, then attention.
void decoder(Node& node) {
  if (!has_rank(node, 0, 3) || !has_rank(node, 1, 3) || !has_rank(node, 2, 2) ||
      !has_rank(node, 3, 2)) {
    return;
  }
  const Shape& q = node.shape(0);
  const int type = node.in(0).type;
  const Expr heads = at_least_one(node, "num_heads");
  const Expr width = node.shape(2)[1];
  const Expr dim = quotient(width, heads);
  const auto project = [&](std::size_t x, std::size_t w, const char* suffix) {
    const Matmul m{.a = node.id(x),
                   .b = node.id(w),
                   .a_shape = node.shape(x),
                   .b_shape = node.shape(w),
                   .suffix = suffix};
    const auto shape = matmul_shape(node, m.a_shape, m.b_shape);
    const ValueId made = node.between(type, shape.value_or(Shape()));
    if (shape) {
      emit_matmul(node, m, made);
    }
    return made;
  };
  const ValueId query = project(0, 2, ".q");
  const ValueId keys = project(1, 3, ".kv");
  const Expr context = node.shape(1)[0];
  const ValueId output = node.set(0, type, Shape{q[0], q[1], width});
  emit_attention(node,
                 {.batch = q[1],
                  .queries = q[0],
                  .heads = heads,
                  .kv_heads = heads,
                  .head_dim = dim,
                  .value_dim = dim},
                 ir::full_pairs(context, q[0]), {query, keys, keys}, output);
  for (const std::size_t i : {1U, 2U}) {
    if (node.wants(i)) {
      node.set(i, type, Shape{q[1], heads, context, dim});
    }
  }
}

/// Each token attends to `window` before and behind it; those of the global tokens are not counted,
/// as their number is data.
void longformer(Node& node) {
  if (!has_rank(node, 0, 3) || !has_rank(node, 1, 2)) {
    return;
  }
  const Shape& x = node.shape(0);
  const int type = node.in(0).type;
  const Expr heads = at_least_one(node, "num_heads");
  const Expr features = node.shape(1)[1];
  const Expr dim = quotient(quotient(features, node.number(3)), heads);
  const ValueId qkv = node.between(type, Shape{x[0], x[1], features});
  Matmul m{
      .a = node.id(0), .b = node.id(1), .a_shape = x, .b_shape = node.shape(1), .suffix = ".qkv"};
  if (node.has(2)) {
    m.bias = node.id(2);
  }
  if (!matmul_shape(node, m.a_shape, m.b_shape)) {
    return;
  }
  emit_matmul(node, m, qkv);
  const double window = static_cast<double>(
      std::clamp<std::int64_t>(node.integer("window", 1), 1, std::int64_t{1} << 40));
  const Expr reach = ir::min(node.number(2 * window + 1), x[1]);
  const ValueId output = node.set(0, type, Shape{x[0], x[1], product(heads, dim)});
  emit_attention(node,
                 {.batch = x[0],
                  .queries = x[1],
                  .heads = heads,
                  .kv_heads = heads,
                  .head_dim = dim,
                  .value_dim = dim},
                 {.pairs = product(x[1], reach), .keys_read = x[1]}, {qkv, qkv, qkv}, output);
  node.importer().note("LongformerAttention: pairs with global tokens are not counted");
}

/// Three projections with scales, then attention.
void ordered(Node& node) {
  if (!has_rank(node, 0, 3)) {
    return;
  }
  const Shape& x = node.shape(0);
  const int type = node.in(0).type;
  const Expr heads = at_least_one(node, "num_heads");
  std::array<ValueId, 3> parts{};
  Expr width;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!has_rank(node, 5 + i, 2)) {
      return;
    }
    constexpr std::array kNames = {".q", ".k", ".v"};
    Matmul m{.a = node.id(0),
             .b = node.id(5 + i),
             .a_shape = x,
             .b_shape = node.shape(5 + i),
             .suffix = kNames.at(i)};
    const auto shape = matmul_shape(node, m.a_shape, m.b_shape);
    if (!shape) {
      return;
    }
    if (node.has(11 + i)) {
      m.bias = node.id(11 + i);
    }
    parts.at(i) = node.between(type, *shape);
    emit_matmul(node, m, parts.at(i));
    width = shape->back();
  }
  const Expr dim = quotient(width, heads);
  const bool causal = node.integer("unidirectional", 0) != 0;
  emit_attention(node,
                 {.batch = x[0],
                  .queries = x[1],
                  .heads = heads,
                  .kv_heads = heads,
                  .head_dim = dim,
                  .value_dim = dim},
                 causal ? ir::causal_pairs(x[1], x[1]) : ir::full_pairs(x[1], x[1]),
                 {parts[0], parts[1], parts[2]}, node.set(0, type, Shape{x[0], x[1], width}));
}

/// A state of key dim x value dim a head instead of a cache: [batch, tokens, heads x dim].
void linear(Node& node) {
  if (!has_rank(node, 0, 3) || !has_rank(node, 1, 3) || !has_rank(node, 2, 3)) {
    return;
  }
  const Expr query_heads = at_least_one(node, "q_num_heads");
  const Expr heads = at_least_one(node, "kv_num_heads");
  const Shape& q = node.shape(0);
  const int type = node.in(0).type;
  const Expr key_dim = quotient(q[2], query_heads);
  const Expr value_dim = quotient(node.shape(2)[2], heads);
  const Expr most = ir::max(query_heads, heads);
  const ValueId output = node.set(0, type, Shape{q[0], q[1], product(most, value_dim)});
  const Shape state_shape{q[0], heads, key_dim, value_dim};
  const int state_type = node.has(3) ? node.in(3).type : type;
  const ValueId state = node.set(1, state_type, state_shape);
  Importer& importer = node.importer();
  if (!importer.is_silent()) {  // Past and present are one tensor that is updated in place.
    importer.value(state).tensor = importer.graph().add_tensor({.name = node.name() + ".state",
                                                                .role = ir::Role::kState,
                                                                .dtype = dtype_of(state_type),
                                                                .shape = state_shape});
  }
  const std::string rule = node.text("update_rule", "gated_delta");
  node.emit({.kind = "linear_attention",
             .dims = {{"b", q[0]},
                      {"q", q[1]},
                      {"g", query_heads},
                      {"h", most},
                      {"d", key_dim},
                      {"v", value_dim},
                      {"a", node.number(rule.ends_with("delta") ? 3 : 2)}},
             .operands = {{"q", node.id(0)},
                          {"k", node.id(1)},
                          {"v", node.id(2)},
                          {"state", state},
                          {"o", output}}});
}

constexpr std::array kRules = {
    RuleEntry{"com.microsoft.DecoderAttention", decoder},
    RuleEntry{"com.microsoft.LinearAttention", linear},
    RuleEntry{"com.microsoft.LongformerAttention", longformer},
    RuleEntry{"com.microsoft.PackedAttention", packed_attention},
    RuleEntry{"com.microsoft.PackedMultiHeadAttention", packed_multi_head},
    RuleEntry{"com.microsoft.PagedAttention", paged},
    RuleEntry{"com.microsoft.QOrderedAttention", ordered},
};

}  // namespace

std::span<const RuleEntry> packed_attention_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
