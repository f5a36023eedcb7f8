#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/attention_pairs.hpp"
#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"

namespace mansard::ir {
namespace {

bool is_attention(const Op& op) {
  return is_kind(op, "attention") || is_kind(op, "mla_attention");
}

/// Applies `change` to the token axis of every KV cache.
template <typename Change>
void change_cache_lengths(Graph& graph, Change change) {
  for (Tensor& tensor : graph.tensors()) {
    if (tensor.role != Role::kKvCache) {
      continue;
    }
    for (Expr& extent : tensor.shape) {
      if (depends_on(extent, "context")) {
        extent = change(extent);
      }
    }
  }
}

void set_pages(Graph& graph, std::int64_t page) {
  const auto tokens = static_cast<double>(page);
  change_cache_lengths(graph, [&](Expr length) { return ceil_div(length, tokens) * tokens; });
}

/// A layer that has a window already keeps the smaller of the two.
void set_window(Graph& graph, std::int64_t window) {
  ExprPool& pool = graph.pool();
  const AttentionPairs windowed =
      windowed_pairs(pool.symbol("context"), pool.symbol("q_len"), window);
  for (Op& op : graph.ops()) {
    if (is_attention(op)) {
      op.dims.insert_or_assign("p", min(dim_of(graph, op, "p"), windowed.pairs));
      op.dims.insert_or_assign("t", min(dim_of(graph, op, "t"), windowed.keys_read));
    }
  }
  change_cache_lengths(graph,
                       [&](Expr length) { return min(length, static_cast<double>(window)); });
  note(graph, fmt::format("every layer attends to the last {} tokens only", window));
}

/// Blocks with caches get a second block that holds them: one for `layers` layers.
void share_caches(Graph& graph, std::int64_t layers) {
  std::vector<std::optional<BlockId>> holders(graph.blocks().size());
  const auto holder_of = [&](BlockId block) {
    if (const std::optional<BlockId> known = holders[index(block)]) {
      return *known;
    }
    const Block owner = graph.block(block);
    const BlockId holder = graph.add_block(owner.name + ".kv", (owner.count + layers - 1) / layers);
    holders[index(block)] = holder;
    return holder;
  };
  for (Tensor& tensor : graph.tensors()) {
    if (tensor.role == Role::kKvCache) {
      tensor.block = holder_of(tensor.block);
    }
  }
  for (Op& op : graph.ops()) {
    if (is_kind(op, "kv_write")) {
      op.block = holder_of(op.block);
    }
  }
  note(graph, fmt::format("{} consecutive layers share one KV cache; their key and value "
                          "projections are kept",
                          layers));
}

/// Splits attention into one over the common prefix, whose keys are read once for all sequences,
/// and one over the rest; then merges them (Juravsky et al., Hydragen, arXiv 2402.05099).
class SharedPrefix {
 public:
  SharedPrefix(Graph& graph, std::int64_t prefix)
      : graph_(graph),
        context_(graph.pool().symbol("context")),
        q_len_(graph.pool().symbol("q_len")),
        shared_(min(context_ - q_len_, static_cast<double>(prefix))),
        prefixes_(graph.tensors().size()) {}

  void run() {
    std::vector<Op> ops;
    bool windowed = false;
    for (const Op& op : graph_.ops()) {
      const bool splits = is_attention(op) && dim_of(graph_, op, "t") == context_;
      windowed = windowed || (is_attention(op) && !splits);
      if (splits) {
        split(op, ops);
      } else {
        ops.push_back(op);
      }
    }
    graph_.ops() = std::move(ops);
    if (windowed) {
      note(graph_, "layers with a window do not share the common prefix");
    }
  }

 private:
  void split(const Op& op, std::vector<Op>& ops) {
    const TensorId output = tensor_of(op, "o");
    const TensorId of_prefix = copy_of(output, op.name + ".prefix.out");
    const TensorId of_rest = copy_of(output, op.name + ".rest.out");
    ops.push_back(over_prefix(op, of_prefix));
    ops.push_back(over_rest(op, of_rest));
    ops.push_back(merge(op, of_prefix, of_rest));
    for (const OperandUse& cache : caches_of(op)) {
      shorten(cache.tensor);
    }
  }

  [[nodiscard]] Expr dim(const Op& op, std::string_view name) const {
    return dim_of(graph_, op, name);
  }

  TensorId copy_of(TensorId tensor, std::string name) {
    Tensor copy = graph_.tensor(tensor);
    copy.name = std::move(name);
    return graph_.add_tensor(std::move(copy));
  }

  static std::vector<OperandUse> caches_of(const Op& op) {
    std::vector<OperandUse> uses = uses_of(op);
    std::erase_if(uses, [](const OperandUse& use) { return use.def->role != Role::kKvCache; });
    return uses;
  }

  /// The cache of the prefix, once for the whole batch; made the first time.
  TensorId prefix_of(TensorId cache) {
    if (const std::optional<TensorId> known = prefixes_[index(cache)]) {
      return *known;
    }
    Tensor tensor = graph_.tensor(cache);
    tensor.name += ".prefix";
    for (Expr& extent : tensor.shape) {
      extent = with_symbol(extent, graph_.pool(), "batch", graph_.pool().constant(1));
      extent = depends_on(extent, "context") ? shared_ : extent;
    }
    const TensorId prefix = graph_.add_tensor(std::move(tensor));
    prefixes_[index(cache)] = prefix;
    return prefix;
  }

  void shorten(TensorId cache) {
    for (Expr& extent : graph_.tensor(cache).shape) {
      extent = extent == context_ ? context_ - shared_ : extent;
    }
  }

  Op over_prefix(const Op& op, TensorId output) {
    Op result = op;
    result.name += ".prefix";
    const Expr queries = dim(op, "b") * dim(op, "q");
    result.dims.insert_or_assign("b", graph_.pool().constant(1));
    result.dims.insert_or_assign("q", queries);
    result.dims.insert_or_assign("t", shared_);
    result.dims.insert_or_assign("p", queries * shared_);
    result.dims.erase("sink");
    for (const OperandUse& cache : caches_of(op)) {
      result.operands[cache.position] = prefix_of(cache.tensor);
    }
    drop_sink(result);
    set_operand(result, "o", output);
    return result;
  }

  static void drop_sink(Op& op) {
    if (is_kind(op, "attention")) {
      set_operand(op, "sink", std::nullopt);
    }
  }

  Op over_rest(const Op& op, TensorId output) {
    Op result = op;
    result.dims.insert_or_assign("t", context_ - shared_);
    result.dims.insert_or_assign("p", dim(op, "p") - dim(op, "q") * shared_);
    set_operand(result, "o", output);
    return result;
  }

  Op merge(const Op& op, TensorId of_prefix, TensorId of_rest) {
    const OpDef* def = find_op("elementwise");
    const TensorId output = tensor_of(op, "o");
    const Expr width = dim(op, is_kind(op, "attention") ? "v" : "r");
    const Expr elements = dim(op, "b") * dim(op, "h") * dim(op, "q") * width;
    return {.name = op.name + ".merge",
            .def = def,
            .block = op.block,
            .dims = {{"n", elements}, {"i", 2 * elements}, {"a", graph_.pool().constant(3)}},
            .operands = operands_by_name(*def, {{"x", of_prefix}, {"o", output}, {"y", of_rest}}),
            .attributes = {{"function", "merge_attention"}},
            .split = op.split};
  }

  Graph& graph_;
  Expr context_;
  Expr q_len_;
  Expr shared_;
  std::vector<std::optional<TensorId>> prefixes_;
};

}  // namespace

Result<Graph> set_kv_policy(Graph graph, const KvPolicy& policy) {
  if (policy.page < 0 || policy.window < 0 || policy.prefix < 0 || policy.share_layers < 1) {
    return failure("kv-policy",
                   fmt::format("pages of {}, a window of {}, a prefix of {} and sharing by {} "
                               "layers, expected none negative and at least 1 layer",
                               policy.page, policy.window, policy.prefix, policy.share_layers));
  }
  if (policy.window > 0 && policy.prefix > 0) {
    return failure("kv-policy", "a window and a common prefix exclude each other");
  }
  if (policy.window > 0) {
    set_window(graph, policy.window);
  }
  if (policy.prefix > 0) {
    SharedPrefix(graph, policy.prefix).run();
  }
  if (policy.share_layers > 1) {
    share_caches(graph, policy.share_layers);
  }
  if (policy.page > 0) {
    set_pages(graph, policy.page);
  }
  return graph;
}

}  // namespace mansard::ir
