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

/// a + b, written to `output`.
void add_into(Builder& b, const std::string& name, TensorId left, TensorId right,
              TensorId output) {
  const ir::Expr elements = b.tokens() * b.number(b.hidden());
  b.op({.kind = "elementwise",
        .name = name,
        .dims = {{"n", elements},
                 {"i", 2 * elements},
                 {"a", b.number(1)},
                 {"s", b.number(0)}},
        .operands = {{"x", left}, {"o", output}, {"y", right}},
        .attributes = {{"function", "add"}}});
}

void build_feed_forward(Builder& b, TensorId input, TensorId output) {
  const Layer& layer = b.layer();
  if (layer.dense && layer.moe) {
    const TensorId dense = hidden_tensor(b, "mlp.out");
    const TensorId routed = hidden_tensor(b, "moe.out");
    build_dense(b, *layer.dense, input, dense);
    const TensorId entering = hidden_norm(b, "moe.norm", b.residual());
    build_moe(b, *layer.moe, entering, routed);
    add_into(b, "feed_forward.add", hidden_norm(b, "mlp.out_norm", dense),
             hidden_norm(b, "moe.out_norm", routed), output);
  } else if (layer.moe) {
    build_moe(b, *layer.moe, input, output);
  } else {
    build_dense(b, *layer.dense, input, output);
  }
}

/// A mixer or a feed-forward with its norms. It begins at the stream and leaves there what the next one begins with.
struct Branch {
  std::string name;
  std::string norm;       ///< The norm before it.
  std::string post_norm;  ///< The norm after it.
  bool mixer = false;
};

void run_branch(Builder& b, const Branch& branch, TensorId input, TensorId output) {
  if (branch.mixer) {
    build_mixer(b, b.layer().mixer, input, output);
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
    run_branch(b, branch, hidden_norm(b, branch.norm, b.stream(), true), output);
    b.norm_into(hidden_norm_spec(b, branch.post_norm, output, false), b.stream());
    return;
  }
  run_branch(b, branch, b.stream(), output);
  if (norms == NormPlacement::kPost) {
    const TensorId normal = hidden_norm(b, branch.post_norm, output);
    add_into(b, branch.name + ".add", normal, b.stream(), b.stream());
    return;
  }
  const TensorId sum = hidden_tensor(b, branch.name + ".sum");
  add_into(b, branch.name + ".add", output, b.stream(), sum);
  b.norm_into(hidden_norm_spec(b, branch.post_norm, sum, false), b.stream());
}

void build_parallel(Builder& b) {
  const Layer& layer = b.layer();
  const TensorId input = hidden_norm(b, "input_norm", b.stream(), true);
  const TensorId second = layer.second_input_norm
                              ? hidden_norm(b, "mlp_norm", b.residual())
                              : input;
  const TensorId mixed = hidden_tensor(b, "mixer.branch");
  const TensorId fed = hidden_tensor(b, "feed_forward.branch");
  build_mixer(b, layer.mixer, input, mixed);
  build_feed_forward(b, second, fed);
  add_into(b, "add", mixed, fed, b.stream());
}

}  // namespace

void build_layer(Builder& b) {
  const Layer& layer = b.layer();
  if (layer.parallel) {
    build_parallel(b);
    return;
  }
  if (has_mixer(layer)) {
    build_branch(b, {.name = "mixer",
                     .norm = "input_norm",
                     .post_norm = "mixer.post_norm",
                     .mixer = true});
  }
  if (has_feed_forward(layer)) {
    build_branch(b, {.name = "mlp", .norm = "mlp_norm", .post_norm = "mlp.post_norm"});
  }
  if (layer.layer_input > 0) {
    build_layer_input(b);
  }
}

}  // namespace mansard::frontend::hf
