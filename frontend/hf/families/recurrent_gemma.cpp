#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"

namespace mansard::frontend::hf {

namespace {

/// block_types is a pattern that repeats over the layers.
Rule repeated_blocks() {
  return [](Config& config, Plan& plan) {
    std::vector<std::string> words = config.strings("block_types");
    const bool listed = config.find("_block_types") != nullptr;
    words = listed ? config.strings("_block_types") : words;
    if (words.empty()) {
      words = {"recurrent", "recurrent", "attention"};
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const std::string& word = words[i % words.size()];
      if (word != "recurrent" && word != "attention") {
        config.refuse("config-layers", "a block of recurrent_gemma is recurrent or attention",
                      config.location());
        return;
      }
      plan[i].mixer = word == "recurrent" ? MixerKind::kLinear : MixerKind::kSliding;
    }
  };
}

Mixer gated_recurrence(Config& config, const Sizes& sizes) {
  const GatedRecurrence recurrence = {.width = required(config, {"lru_width"}, sizes.hidden),
                                      .blocks = sizes.heads,
                                      .taps = required(config, {"conv1d_width"}, 4)};
  if (recurrence.width % recurrence.blocks != 0) {
    config.refuse("config-heads", "lru_width is not a multiple of the heads", config.location());
  }
  return recurrence;
}

/// intermediate_size is that of both gated halves; its bias and the output's are always there.
void halve_width(Config& /*config*/, std::vector<Layer>& layers) {
  for (Layer& layer : layers) {
    layer.dense->width /= 2;
  }
}

}  // namespace

/// RecurrentGemma (Griffin): two recurrent blocks to one attention with a window.
Family recurrent_gemma() {
  return {.name = "recurrent_gemma",
          .architectures = {"RecurrentGemmaForCausalLM"},
          .model_types = {"recurrent_gemma"},
          .keys = {.head_dim = {}, .window = {"attention_window_size"}},
          .defaults = {.hidden = 2560,
                       .layers = 26,
                       .heads = 10,
                       .ffn = 7680,
                       .vocabulary = 256000,
                       .max_context = 8192,
                       .window = 2048,
                       .rotary_fraction = 0.5,
                       .activation = "gelu_pytorch_tanh"},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = always()},
          .feed_forward = {.bias = always()},
          .head = {.tied = from("tie_word_embeddings", true)},
          .layers = {repeated_blocks()},
          .linear = gated_recurrence,
          .adjust_layers = halve_width,
          .ignores = {"head_dim", "logits_soft_cap", "w_init_variance_scale",
                      "final_w_init_variance_scale", "embeddings_scale_by_sqrt_dim", "block_width"},
          .notes = {"Embedding scaling and soft caps are folded into their neighbours."}};
}

}  // namespace mansard::frontend::hf
