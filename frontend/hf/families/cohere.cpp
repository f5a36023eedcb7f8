#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

/// Command-R, Command-R+ and Aya: one LayerNorm a layer, mixer and feed-forward in parallel.
Family cohere() {
  return {.name = "cohere",
          .architectures = {"CohereForCausalLM"},
          .model_types = {"cohere"},
          .defaults = {.hidden = 8192,
                       .layers = 40,
                       .heads = 64,
                       .ffn = 22528,
                       .vocabulary = 256000,
                       .max_context = 8192},
          .norm = {.layer = true, .gain = true, .bias = false},
          .parallel = always(),
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kEachHead,
                        .has_qk_norm = from("use_qk_norm")},
          .head = {.tied = from("tie_word_embeddings", true)},
          .expects = {{"use_parallel_block", "true"}},
          .ignores = {"logit_scale"}};
}

/// Command-R7B and Command-A: three windows to one full layer, which is not rotated.
Family cohere2() {
  return {.name = "cohere2",
          .architectures = {"Cohere2ForCausalLM"},
          .model_types = {"cohere2"},
          .defaults = {.hidden = 8192,
                       .layers = 40,
                       .heads = 64,
                       .ffn = 22528,
                       .vocabulary = 256000,
                       .max_context = 8192,
                       .window = 4096},
          .norm = {.layer = true, .gain = true, .bias = false},
          .parallel = always(),
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .head = {.tied = from("tie_word_embeddings", true)},
          .layers = {windows_but_every("sliding_window_pattern", 4), listed_layer_types(),
                     unrotated_where_full()},
          .expects = {{"use_qk_norm", "false"},
                      {"use_parallel_block", "true"},
                      {"use_gated_activation", "true"},
                      {"use_parallel_embedding", "false"}},
          .ignores = {"logit_scale", "layer_switch", "order_of_interleaved_layers",
                      "position_embedding_type", "rotary_pct", "use_embedding_sharing"}};
}

}  // namespace mansard::frontend::hf
