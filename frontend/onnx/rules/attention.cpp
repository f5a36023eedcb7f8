#include "frontend/onnx/rules/attention.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/tables.hpp"
#include "frontend/onnx/types.hpp"

namespace mansard::frontend::onnx {
namespace {

using Inputs = AttentionInputs;

ir::AttentionPairs pairs_of(const Heads& h) {
  if (h.causal && h.window > 0) {
    return ir::windowed_pairs(h.context(), h.queries, h.window);
  }
  return h.causal ? ir::causal_pairs(h.context(), h.queries)
                  : ir::full_pairs(h.context(), h.queries);
}

void emit_attention(const Node& node, const Heads& h, const Inputs& inputs, ValueId output) {
  emit_attention(node, h, pairs_of(h), inputs, output);
}

/// New keys and values appended to the cache, one tensor for both: [batch, KV heads, context, key +
/// value dim]. Runtimes let past and present share their memory, so nothing else moves.
ValueId append_to_cache(Node& node, const Heads& h, ValueId key, ValueId value, int type) {
  Importer& importer = node.importer();
  const Expr width = sum(h.head_dim, h.value_dim);
  const Shape shape{h.batch, h.kv_heads, h.context(), width};
  const ValueId cache =
      importer.add({.name = node.name() + ".kv_cache", .type = type, .shape = shape});
  if (importer.is_silent()) {
    return cache;
  }
  importer.value(cache).tensor = importer.graph().add_tensor({.name = node.name() + ".kv_cache",
                                                              .role = ir::Role::kKvCache,
                                                              .dtype = dtype_of(type),
                                                              .shape = shape});
  const auto write = [&](ValueId from, Expr columns, const char* suffix) {
    node.emit({.kind = "kv_write",
               .dims = {{"n", product(product(h.batch, h.keys), product(h.kv_heads, columns))}},
               .operands = {{"x", from}, {"cache", cache}},
               .suffix = suffix});
  };
  if (key == value) {
    write(key, width, ".kv_write");
  } else {
    write(key, h.head_dim, ".k_write");
    write(value, h.value_dim, ".v_write");
  }
  importer.note(
      "past and present keys and values are one KV cache that grows in place, as runtimes that "
      "share "
      "their buffers keep it");
  return cache;
}

/// Declares present keys and values; they are the cache, or copies of what is new.
void set_present(Node& node, std::size_t first, const Heads& h, int type,
                 std::optional<ValueId> cache, const Inputs& inputs) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (!node.wants(first + i)) {
      continue;
    }
    const Expr columns = i == 0 ? h.head_dim : h.value_dim;
    const ValueId present =
        node.set(first + i, type, Shape{h.batch, h.kv_heads, h.context(), columns});
    if (cache) {
      node.importer().value(present).tensor = node.importer().value(*cache).tensor;
    } else {
      const Expr count = product(product(h.batch, h.context()), product(h.kv_heads, columns));
      node.emit_many("move", {i == 0 ? inputs.key : inputs.value}, present,
                     {{"n", count}, {"i", count}}, {{"function", "present"}},
                     i == 0 ? ".present_key" : ".present_value");
    }
  }
}

Expr count(const Node& node, std::int64_t n) {
  return node.number(static_cast<double>(std::max<std::int64_t>(n, 1)));
}

/// Queries, keys and values from one projection (com.microsoft.Attention and its quantised form):
/// `past` is the input of the cache, [2, batch, heads, past, head dim].
void projected(Node& node, std::size_t past, std::size_t bias) {
  if (!needs_inputs(node, 2) || node.rank(0) != 3 || node.rank(1) != 2) {
    if (!node.failed()) {
      node.error("onnx-rank", "expected an input of rank 3 and weights of rank 2");
    }
    return;
  }
  const Shape& x = node.shape(0);
  const Expr heads = count(node, node.integer("num_heads", 1));
  const Expr features = node.shape(1)[1];
  const std::vector<std::int64_t> sizes = node.list("qkv_hidden_sizes");
  const Expr each = quotient(features, node.number(3));
  const Expr query_width = sizes.size() == 3 ? count(node, sizes[0]) : each;
  const Expr value_width = sizes.size() == 3 ? count(node, sizes[2]) : each;
  const int type = node.in(0).type;
  Heads h{.batch = x[0],
          .queries = x[1],
          .keys = x[1],
          .past = node.number(0),
          .heads = heads,
          .kv_heads = heads,
          .head_dim = quotient(query_width, heads),
          .value_dim = quotient(value_width, heads),
          .causal = node.integer("unidirectional", 0) != 0};
  const bool cached = node.has(past) && node.rank(past) == 5;
  if (cached) {
    h.past = node.shape(past)[3];
  }
  const ValueId qkv = node.between(type, Shape{x[0], x[1], features});
  Matmul m{
      .a = node.id(0), .b = node.id(1), .a_shape = x, .b_shape = node.shape(1), .suffix = ".qkv"};
  if (node.has(bias)) {
    m.bias = node.id(bias);
  }
  emit_matmul(node, m, qkv);
  Inputs inputs{qkv, qkv, qkv};
  std::optional<ValueId> cache;
  if (cached) {
    cache = append_to_cache(node, h, qkv, qkv, type);
    inputs.key = inputs.value = *cache;
  }
  const ValueId output = node.set(0, type, Shape{x[0], x[1], value_width});
  emit_attention(node, h, inputs, output);
  if (node.wants(1)) {
    const ValueId present =
        node.set(1, type, Shape{node.number(2), x[0], heads, h.context(), h.head_dim});
    if (cache) {
      node.importer().value(present).tensor = node.importer().value(*cache).tensor;
    } else {
      const Expr all = product(product(node.number(2), product(x[0], x[1])), query_width);
      node.emit_many("move", {qkv}, present, {{"n", all}, {"i", all}}, {{"function", "present"}},
                     ".present");
    }
  }
}

void attention(Node& node) {
  projected(node, 4, 2);
}

void quantized_attention(Node& node) {
  projected(node, 8, 2);
}

/// Queries, keys and values of any layout: the batch, tokens, heads and head dim of one of them.
struct Layout {
  Expr batch;
  Expr tokens;
  Expr heads;
  Expr dim;
};

/// [batch, tokens, heads x dim] or [batch, heads, tokens, dim].
std::optional<Layout> layout_of(Node& node, std::size_t i, Expr heads) {
  const Shape& s = node.shape(i);
  if (s.size() == 4) {
    return Layout{s[0], s[2], s[1], s[3]};
  }
  if (s.size() == 3) {
    return Layout{s[0], s[1], heads, quotient(s[2], heads)};
  }
  node.error("onnx-rank", fmt::format("input {} has rank {}, expected 3 or 4", i, s.size()));
  return std::nullopt;
}

struct Past {
  std::size_t key;
  std::size_t value;
};

/// Attention of separate queries, keys and values, with a cache where `past` is there.
void separate(Node& node, Heads h, const Inputs& inputs, const Past& past, std::size_t present,
              const Shape& result) {
  const int type = node.importer().value(inputs.query).type;
  std::optional<ValueId> cache;
  Inputs read = inputs;
  if (node.has(past.key) && node.rank(past.key) == 4) {
    h.past = node.shape(past.key)[2];
    cache = append_to_cache(node, h, inputs.key, inputs.value, type);
    read.key = read.value = *cache;
  }
  emit_attention(node, h, read, node.set(0, type, result));
  set_present(node, present, h, type, cache, inputs);
}

void multi_head(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const Expr heads = count(node, node.integer("num_heads", 1));
  const Shape& q = node.shape(0);
  Heads h{.past = node.number(0),
          .heads = heads,
          .kv_heads = heads,
          .causal = node.integer("unidirectional", 0) != 0};
  Inputs inputs{node.id(0), node.id(0), node.id(0)};
  if (q.size() == 5) {  // Packed: [batch, tokens, heads, 3, dim].
    h.batch = q[0];
    h.queries = h.keys = q[1];
    h.head_dim = h.value_dim = q[4];
  } else {
    const auto query = layout_of(node, 0, heads);
    if (!query || !needs_inputs(node, 2)) {
      return;
    }
    h.batch = query->batch;
    h.queries = query->tokens;
    h.head_dim = h.value_dim = query->dim;
    inputs.key = inputs.value = node.id(1);
    if (node.rank(1) == 5) {  // [batch, keys, heads, 2, dim].
      h.keys = node.shape(1)[1];
    } else {
      const auto key = layout_of(node, 1, heads);
      if (!key || !needs_inputs(node, 3)) {
        return;
      }
      h.keys = key->tokens;
      inputs.value = node.id(2);
      const auto value = layout_of(node, 2, heads);
      if (!value) {
        return;
      }
      h.value_dim = value->dim;
    }
  }
  const bool decoder = node.type() == "DecoderMaskedMultiHeadAttention";
  const Past past = decoder ? Past{5, 6} : Past{6, 7};
  separate(node, h, inputs, past, 1, Shape{h.batch, h.queries, product(heads, h.value_dim)});
}

void emit_rope(const Node& node, ValueId x, Expr tokens, Expr rows, Expr dims,
               const std::string& suffix) {
  node.emit({.kind = "rope",
             .dims = {{"t", tokens}, {"r", rows}, {"d", dims}},
             .operands = {{"x", x}},
             .suffix = suffix});
}

/// Causal over the cache; keys and values may be packed behind the queries.
void group_query(Node& node) {
  if (!needs_inputs(node, 1) || node.rank(0) != 3) {
    return;
  }
  const Expr heads = count(node, node.integer("num_heads", 1));
  const Expr groups = count(node, node.integer("kv_num_heads", node.integer("num_heads", 1)));
  const bool packed = !node.has(1);
  const Shape& q = node.shape(0);
  const Expr all_heads = packed ? sum(heads, product(node.number(2), groups)) : heads;
  const Expr dim = quotient(q[2], all_heads);
  Heads h{.batch = q[0],
          .queries = q[1],
          .keys = q[1],
          .past = node.number(0),
          .heads = heads,
          .kv_heads = groups,
          .head_dim = dim,
          .value_dim = dim,
          .causal = true,
          .window = std::max<std::int64_t>(node.integer("local_window_size", -1), 0)};
  Inputs inputs{node.id(0), packed ? node.id(0) : node.id(1),
                packed || !node.has(2) ? node.id(0) : node.id(2)};
  if (node.integer("do_rotary", 0) != 0) {
    const Expr tokens = product(q[0], q[1]);
    const std::int64_t given = node.integer("rotary_embedding_dim", 0);
    const Expr rotated = given > 0 ? count(node, given) : dim;
    if (packed) {
      emit_rope(node, inputs.query, tokens, product(tokens, sum(heads, groups)), rotated, ".rope");
    } else {
      emit_rope(node, inputs.query, tokens, product(tokens, heads), rotated, ".q_rope");
      emit_rope(node, inputs.key, tokens, product(tokens, groups), rotated, ".k_rope");
    }
  }
  separate(node, h, inputs, {3, 4}, 1, Shape{q[0], q[1], product(heads, dim)});
}

/// The operator of opset 23.
void standard(Node& node) {
  if (!needs_inputs(node, 3)) {
    return;
  }
  const Expr heads = count(node, node.integer("q_num_heads", 1));
  const Expr groups = count(node, node.integer("kv_num_heads", 1));
  const auto query = layout_of(node, 0, heads);
  const auto key = layout_of(node, 1, groups);
  const auto value = layout_of(node, 2, groups);
  if (!query || !key || !value) {
    return;
  }
  const Heads h{.batch = query->batch,
                .queries = query->tokens,
                .keys = key->tokens,
                .past = node.number(0),
                .heads = query->heads,
                .kv_heads = key->heads,
                .head_dim = query->dim,
                .value_dim = value->dim,
                .causal = node.integer("is_causal", 0) != 0};
  const Shape result = node.rank(0) == 4 ? Shape{h.batch, h.heads, h.queries, h.value_dim}
                                         : Shape{h.batch, h.queries, product(h.heads, h.value_dim)};
  separate(node, h, {node.id(0), node.id(1), node.id(2)}, {4, 5}, 1, result);
  if (node.wants(3)) {
    Heads full = h;
    full.past = node.has(4) && node.rank(4) == 4 ? node.shape(4)[2] : full.past;
    node.set(3, node.in(0).type, Shape{h.batch, h.heads, h.queries, full.context()});
    node.importer().note(fmt::format(
        "Attention '{}' hands out its scores, which are not counted as written", node.name()));
  }
}

/// In place.
void rotary(Node& node) {
  if (!needs_inputs(node, 1) || node.rank(0) < 3) {
    return;
  }
  const Shape& x = node.shape(0);
  const bool standard = node.proto().domain().empty();
  const std::size_t table = standard ? 1 : 2;
  const std::int64_t given = node.integer("rotary_embedding_dim", 0);
  const std::int64_t heads = node.integer("num_heads", 0);
  Expr width;
  if (x.size() == 4) {
    width = x[3];
  } else if (heads > 0) {
    width = quotient(x[2], count(node, heads));
  } else if (node.has(table) && node.rank(table) >= 1) {
    width = product(node.shape(table).back(), node.number(2));
  } else {
    width = x[2];
  }
  const Expr tokens = product(x[0], x.size() == 4 ? x[2] : x[1]);
  const ValueId output = node.view(0, 0, x);
  if (!node.in(0).is_constant) {
    emit_rope(node, output, tokens, quotient(node.elements(0), width),
              given > 0 ? count(node, given) : width, "");
  }
}

constexpr std::array kRules = {
    RuleEntry{"Attention", standard},
    RuleEntry{"RotaryEmbedding", rotary},
    RuleEntry{"com.microsoft.Attention", attention},
    RuleEntry{"com.microsoft.DecoderMaskedMultiHeadAttention", multi_head},
    RuleEntry{"com.microsoft.DecoderMaskedSelfAttention", attention},
    RuleEntry{"com.microsoft.GroupQueryAttention", group_query},
    RuleEntry{"com.microsoft.MultiHeadAttention", multi_head},
    RuleEntry{"com.microsoft.QAttention", quantized_attention},
    RuleEntry{"com.microsoft.RotaryEmbedding", rotary},
    RuleEntry{"com.microsoft.SparseAttention", group_query},
};

}  // namespace

void emit_attention(const Node& node, const Heads& h, const ir::AttentionPairs& pairs,
                    const AttentionInputs& inputs, ValueId output) {
  node.emit(
      {.kind = "attention",
       .dims = {{"b", h.batch},
                {"h", h.heads},
                {"g", h.kv_heads},
                {"q", h.queries},
                {"t", pairs.keys_read},
                {"p", pairs.pairs},
                {"d", h.head_dim},
                {"v", h.value_dim}},
       .operands = {{"q", inputs.query}, {"k", inputs.key}, {"v", inputs.value}, {"o", output}}});
}

std::span<const RuleEntry> attention_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
