#include "frontend/hf/build/builder.hpp"

namespace mansard::frontend::hf {

using ir::TensorId;

namespace {

struct Build {
  Builder* b;
  TensorId input;
  TensorId output;

  void operator()(const std::monostate&) const {}
  void operator()(const Attention& mixer) const { build_attention(*b, mixer, input, output); }
  void operator()(const Mla& mixer) const { build_mla(*b, mixer, input, output); }
  void operator()(const LinearAttention& mixer) const {
    build_linear_attention(*b, mixer, input, output);
  }
  void operator()(const Mamba1& mixer) const { build_mamba1(*b, mixer, input, output); }
  void operator()(const Mamba2& mixer) const { build_mamba2(*b, mixer, input, output); }
  void operator()(const ShortConvolution& mixer) const {
    build_short_convolution(*b, mixer, input, output);
  }
  void operator()(const GatedRecurrence& mixer) const {
    build_gated_recurrence(*b, mixer, input, output);
  }
  void operator()(const LinearMap&) const {
    b->matmul_into({.name = "attention.linear",
                    .input = input,
                    .rows = b->tokens(),
                    .in = b->hidden(),
                    .out = b->hidden(),
                    .role = WeightRole::kOutput,
                    .split = ir::Split::kRow},
                   output);
  }
};

}  // namespace

void build_mixer(Builder& b, const Mixer& mixer, TensorId input, TensorId output) {
  std::visit(Build{&b, input, output}, mixer);
}

}  // namespace mansard::frontend::hf
