#include "frontend/hf/build/builder.hpp"

/// AltUp (arXiv 2301.13310): a layer works on one of several residual streams; the others are
/// predicted before it and corrected after it by small learned mixtures.
namespace mansard::frontend::hf {

using ir::Expr;
using ir::Split;
using ir::TensorId;

namespace {

std::int64_t count(const Builder& b) {
  return b.architecture().streams;
}

Expr all_elements(Builder& b) {
  return b.tokens() * b.number(count(b) * b.hidden());
}

TensorId small_matmul(Builder& b, const std::string& name, TensorId input, std::int64_t in,
                      std::int64_t out) {
  return b.matmul({.name = name,
                   .input = input,
                   .rows = b.tokens(),
                   .in = in,
                   .out = out,
                   .role = WeightRole::kRouter,
                   .split = Split::kReplicated});
}

/// All streams, each a mixture of what `reads` says.
void mix(Builder& b, const std::string& name, TensorId coefficients, Expr reads,
         std::int64_t arithmetic) {
  b.op({.kind = "elementwise",
        .name = name,
        .dims = {{"n", all_elements(b)}, {"i", reads}, {"a", b.number(arithmetic)}},
        .operands = {{"x", b.streams}, {"o", b.streams}, {"y", coefficients}},
        .attributes = {{"function", "mixture"}}});
}

/// Matrices from and to the hidden size, one for each stream but the first.
TensorId project_streams(Builder& b, const std::string& name, TensorId input, Expr rows) {
  return b.matmul({.name = name,
                   .input = input,
                   .rows = rows,
                   .in = b.hidden(),
                   .out = b.hidden(),
                   .role = WeightRole::kHead,
                   .split = Split::kReplicated,
                   .copies = count(b) - 1});
}

}  // namespace

void build_streams(Builder& b) {
  const TensorId others = project_streams(b, "streams.project", b.stream(), b.tokens());
  b.streams = b.activation("streams", {b.tokens(), b.number(count(b) * b.hidden())});
  b.op({.kind = "elementwise",
        .name = "streams.scale",
        .dims = {{"n", all_elements(b)}, {"i", all_elements(b)}, {"a", b.number(3)}},
        .operands = {{"x", others}, {"o", b.streams}, {"y", b.stream()}},
        .attributes = {{"function", "rescale"}}});
}

void build_prediction(Builder& b) {
  const TensorId normal = b.norm({.name = "streams.router_norm",
                                  .input = b.stream(),
                                  .rows = b.tokens(),
                                  .columns = b.hidden(),
                                  .gains = b.hidden()});
  b.stream_router = b.weight("streams.router.weight", {b.hidden(), count(b)});
  const TensorId modes = b.matmul_with({.name = "streams.router",
                                        .input = normal,
                                        .rows = b.tokens(),
                                        .in = b.hidden(),
                                        .out = count(b),
                                        .role = WeightRole::kRouter,
                                        .split = Split::kReplicated},
                                       b.stream_router);
  const TensorId mixture =
      small_matmul(b, "streams.prediction", modes, count(b), count(b) * count(b));
  mix(b, "streams.predict", mixture, all_elements(b), 2 * count(b) + 1);
}

void build_correction(Builder& b) {
  // The router is the prediction's, its gain too, which is small and not read again here.
  const TensorId normal = b.norm({.name = "streams.correction_norm",
                                  .input = b.stream(),
                                  .rows = b.tokens(),
                                  .columns = b.hidden()});
  const TensorId modes = b.matmul_with({.name = "streams.correction_router",
                                        .input = normal,
                                        .rows = b.tokens(),
                                        .in = b.hidden(),
                                        .out = count(b),
                                        .role = WeightRole::kRouter,
                                        .split = Split::kReplicated},
                                       b.stream_router);
  const TensorId mixture = small_matmul(b, "streams.correction", modes, count(b), count(b));
  mix(b, "streams.correct", mixture, all_elements(b) + b.tokens() * b.number(b.hidden()), 3);
  const Expr elements = b.tokens() * b.number(b.hidden());
  b.op({.kind = "elementwise",
        .name = "streams.output_scale",
        .dims = {{"n", elements}, {"i", elements + b.number(b.hidden())}, {"a", b.number(1)}},
        .operands = {{"x", b.streams},
                     {"o", b.stream()},
                     {"y", b.weight("streams.output_scale", {b.hidden()})}},
        .attributes = {{"function", "mul"}}});
}

void join_streams(Builder& b) {
  const TensorId projected = project_streams(b, "streams.join", b.streams, b.batch());
  const Expr elements = b.batch() * b.number(b.hidden());
  b.op({.kind = "elementwise",
        .name = "streams.mean",
        .dims = {{"n", elements},
                 {"i", elements * static_cast<double>(count(b))},
                 {"a", b.number(count(b) + 2)}},
        .operands = {{"x", projected}, {"o", b.stream()}, {"y", b.streams}},
        .attributes = {{"function", "mean"}}});
}

}  // namespace mansard::frontend::hf
