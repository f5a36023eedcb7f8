#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

constexpr std::string_view kScaled =
    "Embedding scaling and soft caps are folded into their neighbours.";

}  // namespace

Family gemma() {
  return {.name = "gemma",
          .architectures = {"GemmaForCausalLM"},
          .model_types = {"gemma"},
          .defaults = {.hidden = 3072,
                       .layers = 28,
                       .heads = 16,
                       .kv_heads = 16,
                       .head_dim = 256,
                       .ffn = 24576,
                       .vocabulary = 256000,
                       .max_context = 8192,
                       .activation = "gelu_pytorch_tanh"},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .head = {.tied = from("tie_word_embeddings", true)},
          .ignores = {"num_image_tokens", "projection_dim", "use_bidirectional_attention"},
          .notes = {kScaled}};
}

Family gemma2() {
  return {.name = "gemma2",
          .architectures = {"Gemma2ForCausalLM"},
          .model_types = {"gemma2"},
          .keys = {.window = {"sliding_window", "sliding_window_size"}},
          .defaults = {.hidden = 2304,
                       .layers = 26,
                       .heads = 8,
                       .kv_heads = 4,
                       .head_dim = 256,
                       .ffn = 9216,
                       .vocabulary = 256000,
                       .max_context = 8192,
                       .window = 4096,
                       .activation = "gelu_pytorch_tanh"},
          .norms = NormPlacement::kSandwich,
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .head = {.tied = from("tie_word_embeddings", true)},
          .layers = {alternating_windows(), listed_layer_types()},
          .notes = {kScaled}};
}

/// VaultGemma: Gemma 2 without the norms behind mixer and feed-forward.
Family vaultgemma() {
  Family family = gemma2();
  family.name = "vaultgemma";
  family.architectures = {"VaultGemmaForCausalLM"};
  family.model_types = {"vaultgemma"};
  family.norms = NormPlacement::kPre;
  return family;
}

Family gemma3() {
  return {
      .name = "gemma3",
      .architectures = {"Gemma3ForCausalLM", "Gemma3ForConditionalGeneration"},
      .model_types = {"gemma3", "gemma3_text"},
      .keys = {.window = {"sliding_window", "sliding_window_attention_size"}},
      .defaults = {.hidden = 2304,
                   .layers = 26,
                   .heads = 8,
                   .kv_heads = 4,
                   .head_dim = 256,
                   .ffn = 9216,
                   .vocabulary = 262208,
                   .max_context = 131072,
                   .window = 4096,
                   .activation = "gelu_pytorch_tanh"},
      .norms = NormPlacement::kSandwich,
      .attention = {.qkv_bias = from("attention_bias"),
                    .output_bias = from("attention_bias"),
                    .qk_norm = QkNorm::kPerHead},
      .head = {.tied = from("tie_word_embeddings", true)},
      .layers = {windows_but_every("sliding_window_pattern", 6), listed_layer_types()},
      .ignores = {"global_local_attention_pattern", "use_res_clamp", "use_bidirectional_attention"},
      .notes = {kScaled}};
}

}  // namespace mansard::frontend::hf
