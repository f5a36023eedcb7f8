#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

void adjust_gemma3n(Config& config, std::vector<Layer>& layers) {
  const auto shared = config.integer({"num_kv_shared_layers"}).value_or(15);
  const auto input = required(config, {"hidden_size_per_layer_input"}, 256);
  const auto rank = required(config, {"laurel_rank"}, 64);
  const auto own = static_cast<std::int64_t>(layers.size()) - shared;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (auto* attention = std::get_if<Attention>(&layers[i].mixer)) {
      attention->value_norm = true;
      attention->shares_cache = shared > 0 && static_cast<std::int64_t>(i) >= own;
    }
    layers[i].layer_input = input;
    layers[i].laurel_rank = rank;
  }
}

void adjust_model(Config& config, Architecture& architecture) {
  architecture.layer_input_vocabulary = required(config, {"vocab_size_per_layer_input"}, 262144);
  architecture.streams = required(config, {"altup_num_inputs"}, 4);
  if (architecture.streams < 2) {
    config.refuse("config-key", "altup_num_inputs of gemma3n is known only from 2 on",
                  config.location());
  }
}

}  // namespace

/// The text model of Gemma 3n: several residual streams, a low-rank map beside attention,
/// embeddings for each layer, caches shared by the last layers.
Family gemma3n() {
  return {.name = "gemma3n",
          .architectures = {"Gemma3nForCausalLM", "Gemma3nForConditionalGeneration"},
          .model_types = {"gemma3n", "gemma3n_text"},
          .defaults = {.hidden = 2048,
                       .layers = 35,
                       .heads = 8,
                       .kv_heads = 2,
                       .head_dim = 256,
                       .ffn = 16384,
                       .vocabulary = 262400,
                       .max_context = 32768,
                       .window = 512,
                       .activation = "gelu_pytorch_tanh"},
          .norms = NormPlacement::kSandwich,
          .attention = {.qk_norm = QkNorm::kPerHead},
          .head = {.tied = from("tie_word_embeddings", true)},
          .layers = {windows_but_every({}, 5), listed_layer_types()},
          .adjust_layers = adjust_gemma3n,
          .adjust = adjust_model,
          .expects = {{"attention_bias", "false"},
                      {"altup_correct_scale", "true"},
                      {"altup_active_idx", "0"}},
          .ignores = {"altup_coef_clip", "altup_lr_multiplier", "activation_sparsity_pattern",
                      "query_pre_attn_scalar"},
          .notes = {"Embedding scaling and soft caps are folded into their neighbours; sparse "
                    "activations are counted as dense."}};
}

}  // namespace mansard::frontend::hf
