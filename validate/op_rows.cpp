#include "validate/op_rows.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "validate/cases.hpp"
#include "validate/single_op.hpp"

namespace mansard::validate {
namespace {

/// Pairs of the first `x` tokens of a causal sequence, each attending to at most `window` tokens.
double pairs_of_first(double x, double window) {
  const double inside = std::min(x, window);
  return inside * (inside + 1) / 2 + std::max(x - window, 0.0) * window;
}

double causal_pairs(double queries, double keys, double window) {
  return pairs_of_first(keys, window) - pairs_of_first(keys - queries, window);
}

/// Fills in the row of one op.
class RowMaker {
 public:
  RowMaker(const ir::Graph& graph, const ir::Op& op, const ir::Bindings& workload,
           const std::string& phase)
      : graph_(graph), op_(op), workload_(workload), phase_(phase) {
    row_.name = op.name;
    row_.count = graph.block(op.block).count;
    row_.shape.op = op.def->name;
    set_types();
  }

  OpRow make() {
    const std::string_view kind = op_.def->name;
    if (kind == "matmul") {
      columns({{"m", "m"}, {"n", "n"}, {"k", "k"}, {"batch", "b"}});
    } else if (kind == "attention") {
      attention("q_heads", "kv_heads");
    } else if (kind == "mla_attention") {
      columns({{"batch", "b"}, {"q_heads", "h"}, {"q_len", "q"}, {"kv_len", "t"}});
      row_.shape.phase = phase_;
      mask();
    } else if (kind == "grouped_matmul") {
      experts();
    } else if (kind == "norm") {
      normalisation();
    } else if (kind == "softmax") {
      columns({{"rows", "r"}, {"cols", "c"}});
    } else if (kind == "embedding") {
      columns({{"rows", "t"}, {"cols", "c"}});
    } else if (kind == "rope") {
      set("rows", dim("t"));
      set("cols", dim("r") * dim("d") / dim("t"));
      set("head_dim", dim("d"));
    } else if (kind == "elementwise") {
      pointwise();
    } else if (kind == "all_reduce" || kind == "all_gather" || kind == "reduce_scatter" ||
               kind == "all_to_all" || kind == "send_recv") {
      set("bytes", dim("n") * type_of(0)->bits / 8);
      set("gpus", op_.dims.contains("p") ? dim("p") : 2);
    }
    return std::move(row_);
  }

 private:
  struct Column {
    std::string_view column;
    std::string_view dim;
  };

  [[nodiscard]] double dim(std::string_view name) const {
    const auto found = op_.dims.find(name);
    return found == op_.dims.end() ? 0 : ir::value(found->second, workload_);
  }
  void set(std::string_view column, double value) {
    row_.shape.dims.insert_or_assign(std::string(column), value);
  }
  void columns(std::initializer_list<Column> list) {
    for (const Column& c : list) {
      const double value = dim(c.dim);
      if (value != 0) {
        set(c.column, value);
      }
    }
  }

  [[nodiscard]] const ir::Dtype* type_of(std::size_t position) const {
    const auto& operand = op_.operands[position];
    return operand ? graph_.tensor(*operand).dtype : nullptr;
  }
  [[nodiscard]] const ir::Dtype* type_of(std::string_view operand) const {
    for (const ir::OperandUse& use : ir::uses_of(op_)) {
      if (use.def->name == operand) {
        return graph_.tensor(use.tensor).dtype;
      }
    }
    return nullptr;
  }
  [[nodiscard]] const ir::Dtype* written() const {
    for (const ir::OperandUse& use : ir::uses_of(op_)) {
      if (use.writes()) {
        return graph_.tensor(use.tensor).dtype;
      }
    }
    return nullptr;
  }

  void set_types() {
    const ir::Dtype* const input = type_of(std::size_t{0});
    const ir::Dtype* const weight = type_of("w");
    const ir::Dtype* const output = written();
    if (input == nullptr) {
      return;
    }
    row_.shape.dtype = weight == nullptr ? input->name : combined_type(*input, *weight);
    if (output != nullptr && output != input) {
      row_.shape.out_dtype = output->name;
    }
  }

  void attention(std::string_view query_heads, std::string_view kv_heads) {
    columns({{"batch", "b"},
             {query_heads, "h"},
             {kv_heads, "g"},
             {"q_len", "q"},
             {"kv_len", "t"},
             {"head_dim", "d"}});
    const ir::Dtype* const cache = type_of("k");
    if (cache != nullptr && cache->name != row_.shape.dtype) {
      row_.shape.kv_dtype = cache->name;
    }
    row_.shape.phase = dim("q") > 1 && dim("q") < dim("t") ? "chunk" : phase_;
    if (dim("v") != dim("d")) {
      row_.difference = "values are as wide as keys in the row";
    }
    mask();
  }

  void mask() {
    const double queries = dim("q");
    const double keys = dim("t");
    const bool all = dim("p") == queries * keys;
    set("causal", all ? 0 : 1);
    const auto window = all ? std::optional<double>(0) : window_of(queries, keys, dim("p"));
    if (window.value_or(1) != 0) {
      set("window", window.value_or(0));
    }
    if (!window) {
      row_.difference = "the row's mask is plainly causal";
    }
  }

  void experts() {
    columns({{"tokens", "m"}, {"k", "k"}, {"n", "n"}, {"experts", "e"}});
    set("top_k", 1);
    set("experts_touched", std::round(std::min(dim("u"), dim("e"))));
  }

  void normalisation() {
    const auto kind = op_.attributes.find("norm");
    row_.shape.op = kind == op_.attributes.end() ? "rmsnorm" : kind->second;
    columns({{"rows", "r"}, {"cols", "c"}});
    if (dim("residual") != 0) {
      row_.difference = "the op adds the residual too";
    }
  }

  void pointwise() {
    const auto function = op_.attributes.find("function");
    if (function != op_.attributes.end()) {
      row_.shape.op = function->second;
    }
    columns({{"elements", "n"}});
  }

  const ir::Graph& graph_;
  const ir::Op& op_;
  const ir::Bindings& workload_;
  const std::string& phase_;
  OpRow row_;
};

}  // namespace

std::optional<double> window_of(double queries, double keys, double pairs) {
  if (causal_pairs(queries, keys, keys) == pairs) {
    return 0;
  }
  double low = 1;
  double high = keys;
  while (low < high) {
    const double middle = std::floor((low + high) / 2);
    if (causal_pairs(queries, keys, middle) < pairs) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return causal_pairs(queries, keys, low) == pairs ? std::optional<double>(low) : std::nullopt;
}

std::vector<OpRow> op_rows(const ir::Graph& graph, const ir::Bindings& workload,
                           const std::string& phase) {
  std::vector<OpRow> rows;
  for (const ir::Op& op : graph.ops()) {
    rows.push_back(RowMaker(graph, op, workload, phase).make());
  }
  return rows;
}

}  // namespace mansard::validate
