#include "frontend/hf/build/builder.hpp"

namespace mansard::frontend::hf {

using ir::TensorId;

namespace {

bool has_mixer(const Layer& layer) {
  return !std::holds_alternative<std::monostate>(layer.mixer);
}

bool has_feed_forward(const Layer& layer) {
  return layer.dense.has_value() || layer.moe.has_value();
}

TensorId hidden_tensor(Builder& b, const std::string& name) {
  return b.activation(name, {b.tokens(), b.number(b.hidden())});
}

NormSpec hidden_norm_spec(Builder& b, const std::string& name, TensorId input, bool residual) {
  return {.name = name,
          .input = input,
          .rows = b.tokens(),
          .columns = b.hidden(),
          .gains = b.hidden(),
          .residual = residual};
}

TensorId hidden_norm(Builder& b, const std::string& name, TensorId input, bool residual = false) {
  return b.norm(hidden_norm_spec(b, name, input, residual));
}

/// The sum of two tensors, written to `output`.
struct Addition {
  std::string name;
  TensorId x;
  TensorId y;
  TensorId output;
};

void add(Builder& b, const Addition& addition) {
  const ir::Expr elements = b.tokens() * b.number(b.hidden());
  b.op({.kind = "elementwise",
        .name = addition.name,
        .dims = {{"n", elements}, {"i", 2 * elements}, {"a", b.number(1)}, {"s", b.number(0)}},
        .operands = {{"x", addition.x}, {"o", addition.output}, {"y", addition.y}},
        .attributes = {{"function", "add"}}});
}

/// Dense and experts on one input.
void build_sum(Builder& b, const Dense& dense, const Moe& moe, TensorId input, TensorId output) {
  const TensorId fed = hidden_tensor(b, "mlp.out");
  const TensorId routed = hidden_tensor(b, "moe.out");
  build_dense(b, dense, input, fed);
  build_moe(b, moe, input, routed);
  add(b, {.name = "feed_forward.add", .x = fed, .y = routed, .output = output});
}

/// Dense and experts side by side, each with a norm after it (gemma4).
void build_both(Builder& b, const Dense& dense, const Moe& moe, TensorId input, TensorId output) {
  const TensorId fed = hidden_tensor(b, "mlp.out");
  const TensorId routed = hidden_tensor(b, "moe.out");
  build_dense(b, dense, input, fed);
  build_moe(b, moe, hidden_norm(b, "moe.norm", b.residual()), routed);
  add(b, {.name = "feed_forward.add",
          .x = hidden_norm(b, "mlp.out_norm", fed),
          .y = hidden_norm(b, "moe.out_norm", routed),
          .output = output});
}

void build_feed_forward(Builder& b, TensorId input, TensorId output) {
  const std::optional<Dense>& dense = b.layer().dense;
  const std::optional<Moe>& moe = b.layer().moe;
  if (dense && moe && b.layer().one_norm) {
    build_sum(b, *dense, *moe, input, output);
  } else if (dense && moe) {
    build_both(b, *dense, *moe, input, output);
  } else if (moe) {
    build_moe(b, *moe, input, output);
  } else if (dense) {
    build_dense(b, *dense, input, output);
  }
}

/// A mixer or a feed-forward with its norms. It begins at the stream and leaves there what the next
/// one begins with.
struct Branch {
  std::string name;
  std::string norm;       ///< The norm before it.
  std::string post_norm;  ///< The norm after it.
  bool mixer = false;
};

/// The layer's mixer, or both of them side by side.
void build_mixers(Builder& b, TensorId input, TensorId output) {
  const Layer& layer = b.layer();
  if (std::holds_alternative<std::monostate>(layer.second_mixer)) {
    build_mixer(b, layer.mixer, input, output);
    return;
  }
  const TensorId first = hidden_tensor(b, "mixer.first");
  const TensorId second = hidden_tensor(b, "mixer.second");
  build_mixer(b, layer.mixer, input, first);
  build_mixer(b, layer.second_mixer, input, second);
  add(b, {.name = "mixer.add", .x = first, .y = second, .output = output});
}

/// A low-rank map of the mixer's input, added to the stream beside the mixer's output.
void build_laurel(Builder& b, TensorId input) {
  const std::int64_t rank = b.layer().laurel_rank;
  const TensorId low = b.matmul({.name = "laurel.left",
                                 .input = input,
                                 .rows = b.tokens(),
                                 .in = b.hidden(),
                                 .out = rank,
                                 .split = ir::Split::kReplicated});
  const TensorId wide = b.matmul({.name = "laurel.right",
                                  .input = low,
                                  .rows = b.tokens(),
                                  .in = rank,
                                  .out = b.hidden(),
                                  .split = ir::Split::kReplicated});
  const TensorId normal = hidden_norm(b, "laurel.norm", wide);
  add(b, {.name = "laurel.add", .x = b.stream(), .y = normal, .output = b.stream()});
}

void run_branch(Builder& b, const Branch& branch, TensorId input, TensorId output) {
  if (branch.mixer) {
    build_mixers(b, input, output);
  } else {
    build_feed_forward(b, input, output);
  }
}

void build_branch(Builder& b, const Branch& branch) {
  const NormPlacement norms = b.layer().norms;
  if (norms == NormPlacement::kPre) {
    run_branch(b, branch, hidden_norm(b, branch.norm, b.stream(), true), b.stream());
    return;
  }
  const TensorId output = hidden_tensor(b, branch.name + ".branch");
  if (norms == NormPlacement::kSandwich) {
    const TensorId input = hidden_norm(b, branch.norm, b.stream(), true);
    run_branch(b, branch, input, output);
    b.norm_into(hidden_norm_spec(b, branch.post_norm, output, false), b.stream());
    if (branch.mixer && b.layer().laurel_rank > 0) {
      build_laurel(b, input);
    }
    return;
  }
  run_branch(b, branch, b.stream(), output);
  if (norms == NormPlacement::kPost) {
    const TensorId normal = hidden_norm(b, branch.post_norm, output);
    add(b, {.name = branch.name + ".add", .x = normal, .y = b.stream(), .output = b.stream()});
    return;
  }
  const TensorId sum = hidden_tensor(b, branch.name + ".sum");
  add(b, {.name = branch.name + ".add", .x = output, .y = b.stream(), .output = sum});
  b.norm_into(hidden_norm_spec(b, branch.post_norm, sum, false), b.stream());
}

void build_parallel(Builder& b) {
  const Layer& layer = b.layer();
  const TensorId input = hidden_norm(b, "input_norm", b.stream(), true);
  const TensorId second =
      layer.second_input_norm ? hidden_norm(b, "mlp_norm", b.residual()) : input;
  const TensorId mixed = hidden_tensor(b, "mixer.branch");
  const TensorId fed = hidden_tensor(b, "feed_forward.branch");
  build_mixer(b, layer.mixer, input, mixed);
  build_feed_forward(b, second, fed);
  add(b, {.name = "add", .x = mixed, .y = fed, .output = b.stream()});
}

}  // namespace

void build_layer(Builder& b) {
  const Layer& layer = b.layer();
  if (layer.parallel) {
    build_parallel(b);
    return;
  }
  const bool several = b.architecture().streams > 1;
  if (several) {
    build_prediction(b);
  }
  if (has_mixer(layer)) {
    build_branch(
        b, {.name = "mixer", .norm = "input_norm", .post_norm = "mixer.post_norm", .mixer = true});
  }
  if (has_feed_forward(layer)) {
    build_branch(b, {.name = "mlp", .norm = "mlp_norm", .post_norm = "mlp.post_norm"});
  }
  if (several) {
    build_correction(b);
  }
  if (layer.layer_input > 0) {
    build_layer_input(b);
  }
}

}  // namespace mansard::frontend::hf
