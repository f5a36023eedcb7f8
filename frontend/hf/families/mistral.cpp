#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

const KeyList kWindow = {"sliding_window", "sliding_window_size"};

}  // namespace

/// A config that is silent about its window has the class's 4096; null is none.
Family mistral() {
  return {.name = "mistral",
          .architectures = {"MistralForCausalLM"},
          .model_types = {"mistral"},
          .keys = {.window = kWindow},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .kv_heads = 8,
                       .ffn = 14336,
                       .vocabulary = 32000,
                       .max_context = 131072,
                       .window = 4096},
          .layers = {window_everywhere(4096, kWindow)},
          .expects = {{"attention_bias", "false"}},
          .ignores = {"attention_sink_size", "prefill_chunk_size", "context_window_size",
                      "max_batch_size"}};
}

/// Ministral and Ministral 3: a kind for each layer, or one window for all.
Family ministral() {
  return {.name = "ministral",
          .architectures = {"MinistralForCausalLM", "Ministral3ForCausalLM"},
          .model_types = {"ministral", "ministral3"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .kv_heads = 8,
                       .head_dim = 128,
                       .ffn = 14336,
                       .vocabulary = 131072,
                       .max_context = 262144},
          .layers = {window_everywhere(), listed_layer_types()},
          .expects = {{"attention_bias", "false"}}};
}

Family mixtral() {
  return {.name = "mixtral",
          .architectures = {"MixtralForCausalLM"},
          .model_types = {"mixtral"},
          .keys = {.expert_width = {"intermediate_size"}, .shared_experts = {}},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .kv_heads = 8,
                       .ffn = 14336,
                       .vocabulary = 32000,
                       .max_context = 131072,
                       .experts = 8,
                       .top_k = 2},
          .layers = {window_everywhere(), all_moe()}};
}

}  // namespace mansard::frontend::hf
