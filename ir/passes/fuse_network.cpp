#include "ir/passes/fuse_network.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ir/graph_totals.hpp"
#include "ir/passes/rewrite.hpp"
#include "ir/polynomial.hpp"

namespace mansard::ir {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Further {
  std::string_view operand;
  std::string_view dim;
};

/// Inputs of an elementwise op and how much each reads of them.
constexpr std::array kInputs = {Further{"x", "i"},  Further{"y", "iy"}, Further{"z", "iz"},
                                Further{"u", "iu"}, Further{"v", "iv"}, Further{"w", "iw"},
                                Further{"p", "ip"}, Further{"q", "iq"}};

/// Elementwise ops whose outputs need more than the inputs at their own place.
constexpr std::array<std::string_view, 11> kNotPointwise = {
    "MaxRoiPool", "RoiAlign", "affine_grid", "dft",    "grid_sample",        "lrn",
    "non_zero",   "resize",   "stft",        "unique", "non_max_suppression"};

bool is_pointwise(const Op& op) {
  return std::ranges::find(kNotPointwise, attribute_of(op, "function")) == kNotPointwise.end();
}

struct Input {
  TensorId tensor{};
  Expr read;
};

class NetworkFuser {
 public:
  explicit NetworkFuser(Graph& graph)
      : graph_(graph),
        dead_(graph.ops().size()),
        writer_(graph.tensors().size(), kNone),
        readers_(graph.tensors().size()) {
    read_outside();
    for (std::size_t i = 0; i < graph.ops().size(); ++i) {
      for (const OperandUse& use : uses_of(graph.ops()[i])) {
        const std::size_t t = index(use.tensor);
        if (use.reads()) {
          readers_[t].push_back(i);
        }
        if (use.writes()) {
          // Written twice (in place, in parts): not a value that one op makes.
          writer_[t] = writer_[t] == kNone ? i : kMany;
        }
      }
    }
  }

  FusionCounts run() {
    for (std::size_t i = 0; i < ops().size(); ++i) {
      if (!dead_[i] && is_kind(ops()[i], "elementwise")) {
        join(i);
      }
    }
    for (std::size_t i = 0; i < ops().size(); ++i) {
      if (!dead_[i] && is_kind(ops()[i], "softmax")) {
        make_attention(i);
      }
    }
    std::vector<Op> kept;
    for (std::size_t i = 0; i < ops().size(); ++i) {
      if (!dead_[i]) {
        kept.push_back(std::move(ops()[i]));
      }
    }
    ops() = std::move(kept);
    return counts_;
  }

 private:
  static constexpr std::size_t kMany = kNone - 1;

  /// Outputs of the file are read by who runs it: they are always written.
  void read_outside() {
    if (!graph_.facts.file) {
      return;
    }
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const auto& outputs = graph_.facts.file->outputs;
      const bool leaves = std::ranges::any_of(
          outputs, [&](const auto& output) { return output.first == graph_.tensors()[t].name; });
      if (leaves) {
        readers_[t].push_back(kNone);
      }
    }
  }

  [[nodiscard]] std::vector<Op>& ops() { return graph_.ops(); }
  [[nodiscard]] Expr dim(const Op& op, std::string_view name) const {
    return dim_of(graph_, op, name);
  }

  [[nodiscard]] std::vector<Input> inputs_of(const Op& op) const {
    std::vector<Input> result;
    for (const Further& input : kInputs) {
      if (const auto tensor = operand_of(op, input.operand)) {
        result.push_back({*tensor, dim(op, input.dim)});
      }
    }
    return result;
  }

  void set_inputs(Op& op, const std::vector<Input>& inputs) {
    for (std::size_t i = 0; i < kInputs.size(); ++i) {
      set_operand(op, kInputs.at(i).operand,
                  i < inputs.size() ? std::optional(inputs[i].tensor) : std::nullopt);
      if (i < inputs.size()) {
        op.dims.insert_or_assign(std::string(kInputs.at(i).dim), inputs[i].read);
      } else {
        op.dims.erase(std::string(kInputs.at(i).dim));
      }
    }
  }

  /// The op that makes `tensor`, if only `reader` reads it and both run as often.
  [[nodiscard]] std::size_t only_maker(TensorId tensor, std::size_t reader) {
    const std::size_t maker = writer_[index(tensor)];
    const bool alone = maker < kMany && maker < reader && !dead_[maker] &&
                       readers_[index(tensor)].size() == 1 &&
                       ops()[maker].block == ops()[reader].block;
    return alone ? maker : kNone;
  }

  /// Whether nothing between two ops writes what the earlier one reads: it may run later.
  bool may_move(std::size_t from, std::size_t to) {
    for (const OperandUse& use : uses_of(ops()[from])) {
      const std::size_t writer = writer_[index(use.tensor)];
      if (use.reads() && writer == kMany) {
        return false;
      }
      if (use.reads() && writer != kNone && writer > from && writer < to) {
        return false;
      }
    }
    return true;
  }

  void join(std::size_t i) {
    if (!is_pointwise(ops()[i])) {
      return;
    }
    for (const Input& input : inputs_of(ops()[i])) {
      const std::size_t maker = only_maker(input.tensor, i);
      // Broadcast values are made once and read often: not here.
      if (maker == kNone || input.read != dim(ops()[i], "n") || !may_move(maker, i)) {
        continue;
      }
      if (is_kind(ops()[maker], "elementwise") ? join_chain(maker, i, input.tensor)
                                               : join_epilogue(maker, i, input.tensor)) {
        return;
      }
    }
  }

  std::vector<Input> others(const Op& op, TensorId but) const {
    std::vector<Input> result = inputs_of(op);
    std::erase_if(result, [&](const Input& input) { return input.tensor == but; });
    return result;
  }

  void replace_reader(TensorId tensor, std::size_t from, std::size_t to) {
    std::ranges::replace(readers_[index(tensor)], from, to);
  }

  bool join_chain(std::size_t maker, std::size_t i, TensorId middle) {
    Op& later = ops()[i];
    const Op& earlier = ops()[maker];
    std::vector<Input> inputs = inputs_of(earlier);
    for (const Input& other : others(later, middle)) {
      inputs.push_back(other);
    }
    if (!is_pointwise(earlier) || dim(earlier, "n") != dim(later, "n") ||
        inputs.size() > kInputs.size()) {
      return false;
    }
    for (const Input& input : inputs_of(earlier)) {
      replace_reader(input.tensor, maker, i);
    }
    later.dims.insert_or_assign("a", canonical(dim(earlier, "a") + dim(later, "a")));
    later.dims.insert_or_assign("s", canonical(dim(earlier, "s") + dim(later, "s")));
    set_inputs(later, inputs);
    later.attributes.insert_or_assign("fused", earlier.name);
    later.attributes.insert_or_assign("function", "chain");
    dead_[maker] = true;
    ++counts_.chains;
    return true;
  }

  /// Batch norm after a convolution without bias and epilogue.
  [[nodiscard]] bool folds(const Op& contraction, const Op& norm) const {
    const bool plain =
        is_number(dim(contraction, "bias"), 0) && is_number(dim(contraction, "e"), 0);
    return plain && is_kind(contraction, "convolution") && is_number(dim(contraction, "u"), 0) &&
           attribute_of(norm, "function") == "batch_norm" && operand_of(norm, "z");
  }

  static bool is_number(Expr e, double value) { return e.is_constant() && e.constant() == value; }

  bool join_epilogue(std::size_t maker, std::size_t i, TensorId middle) {
    Op& later = ops()[i];
    Op fused = ops()[maker];
    const bool is_matmul = is_kind(fused, "matmul");
    if (!is_matmul && !is_kind(fused, "convolution")) {
      return false;
    }
    const std::string_view output = is_matmul ? "c" : "o";
    if (tensor_of(fused, output) != middle) {
      return false;
    }
    if (folds(fused, later)) {
      fused.dims.insert_or_assign("bias", graph_.pool().constant(1));
      set_operand(fused, "bias", operand_of(later, "z"));
      ++counts_.norms;
    } else {
      const std::vector<Input> extra = others(later, middle);
      const bool whole = extra.size() == 1 && extra[0].read == dim(later, "n");
      if (extra.size() > 1 || (!extra.empty() && (!whole || operand_of(fused, "residual")))) {
        return false;
      }
      if (whole) {
        set_operand(fused, "residual", extra[0].tensor);
      }
      fused.dims.insert_or_assign("e", canonical(dim(fused, "e") + dim(later, "a")));
      fused.dims.insert_or_assign("es", canonical(dim(fused, "es") + dim(later, "s")));
      ++counts_.epilogues;
    }
    set_operand(fused, output, tensor_of(later, "o"));
    fused.attributes.insert_or_assign("epilogue", later.name);
    for (const OperandUse& use : uses_of(fused)) {
      if (use.reads()) {
        replace_reader(use.tensor, maker, i);
      }
    }
    later = std::move(fused);
    dead_[maker] = true;
    return true;
  }

  /// The only op that reads a tensor.
  std::size_t only_reader(TensorId tensor) {
    const std::vector<std::size_t>& readers = readers_[index(tensor)];
    return readers.size() == 1 && !dead_[readers[0]] ? readers[0] : kNone;
  }

  /// The matmul that makes `tensor`, by way of ops that scale, mask or convert all of it, which are
  /// added to `between`.
  std::size_t scores_maker(TensorId tensor, std::size_t reader, std::vector<std::size_t>& between) {
    const std::size_t maker = only_maker(tensor, reader);
    if (maker == kNone || is_kind(ops()[maker], "matmul")) {
      return maker;
    }
    const Op& op = ops()[maker];
    if (!is_kind(op, "elementwise") || !is_pointwise(op)) {
      return kNone;
    }
    for (const Input& input : inputs_of(op)) {
      const std::size_t before = between.size();
      between.push_back(maker);
      const bool whole = input.read == dim(op, "n");
      const std::size_t found = whole ? scores_maker(input.tensor, maker, between) : kNone;
      if (found != kNone) {
        return found;
      }
      between.resize(before);
    }
    return kNone;
  }

  /// The matmul that reads what softmax makes of the scores, likewise.
  std::size_t weights_reader(TensorId& tensor, std::vector<std::size_t>& between) {
    std::size_t reader = only_reader(tensor);
    while (reader != kNone && is_kind(ops()[reader], "elementwise") &&
           is_pointwise(ops()[reader])) {
      between.push_back(reader);
      tensor = tensor_of(ops()[reader], "o");
      reader = only_reader(tensor);
    }
    return reader;
  }

  void make_attention(std::size_t i) {
    const TensorId scores = tensor_of(ops()[i], "x");
    TensorId weights = tensor_of(ops()[i], "o");
    std::vector<std::size_t> between;
    const std::size_t first = scores_maker(scores, i, between);
    const std::size_t last = weights_reader(weights, between);
    if (first == kNone || last == kNone || !is_kind(ops()[first], "matmul") ||
        !is_kind(ops()[last], "matmul") || operand_of(ops()[last], "a") != weights ||
        operand_of(ops()[last], "residual") || ops()[last].block != ops()[i].block ||
        !may_move(first, last)) {
      return;
    }
    const Op& qk = ops()[first];
    const Op& pv = ops()[last];
    const bool fits = graph_.tensor(tensor_of(qk, "w")).role != Role::kWeight &&
                      graph_.tensor(tensor_of(pv, "w")).role != Role::kWeight &&
                      dim(qk, "n") == dim(ops()[i], "c") && dim(pv, "k") == dim(ops()[i], "c") &&
                      dim(qk, "b") == dim(pv, "b") && dim(qk, "m") == dim(pv, "m");
    if (!fits) {
      return;
    }
    const std::vector<Expr>& shape = graph_.tensor(scores).shape;
    const bool by_head = shape.size() == 4 && product(shape[0], shape[1]) == dim(qk, "b");
    const Expr one = graph_.pool().constant(1);
    const OpDef* def = find_op("attention");
    Op op{.name = pv.name,
          .def = def,
          .block = pv.block,
          .dims = {{"b", by_head ? shape[0] : dim(qk, "b")},
                   {"h", by_head ? shape[1] : one},
                   {"g", by_head ? shape[1] : one},
                   {"q", dim(qk, "m")},
                   {"t", dim(qk, "n")},
                   {"p", product(dim(qk, "m"), dim(qk, "n"))},
                   {"d", dim(qk, "k")},
                   {"v", dim(pv, "n")}},
          .operands = operands_by_name(*def, {{"q", tensor_of(qk, "a")},
                                              {"k", tensor_of(qk, "w")},
                                              {"v", tensor_of(pv, "w")},
                                              {"o", tensor_of(pv, "c")}}),
          .attributes = {{"node", "attention"}}};
    for (const char* name : {"q", "k"}) {
      replace_reader(tensor_of(op, name), first, last);
    }
    ops()[last] = std::move(op);
    dead_[first] = dead_[i] = true;
    for (const std::size_t each : between) {
      dead_[each] = true;
    }
    ++counts_.attentions;
  }

  Graph& graph_;
  std::vector<bool> dead_;
  std::vector<std::size_t> writer_;
  std::vector<std::vector<std::size_t>> readers_;
  FusionCounts counts_;
};

}  // namespace

Graph fuse_network(Graph graph, FusionCounts* counts) {
  const std::size_t before = graph.ops().size();
  const Expr bytes = totals(graph).bytes;
  const FusionCounts fused = NetworkFuser(graph).run();
  if (counts != nullptr) {
    *counts = fused;
  }
  if (graph.ops().size() != before) {
    const Expr after = totals(graph).bytes;
    std::string text = fmt::format(
        "fused {} of {} ops into others: {} into chains, {} into epilogues of matmuls and "
        "convolutions, {} batch norms into weights, {} attentions",
        before - graph.ops().size(), before, fused.chains, fused.epilogues, fused.norms,
        fused.attentions);
    if (bytes.is_constant() && after.is_constant()) {
      text += fmt::format("; {:.4g} GB moved became {:.4g} GB", bytes.constant() / 1e9,
                          after.constant() / 1e9);
    }
    note(graph, std::move(text));
  }
  return graph;
}

}  // namespace mansard::ir
