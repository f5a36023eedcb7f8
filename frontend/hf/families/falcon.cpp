#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

/// Falcon-40B and later: several KV heads. RefinedWeb is its first name.
bool is_new_decoder(Config& config) {
  const std::vector<std::string> types = config.model_types();
  const bool refined_web = !types.empty() && types.front() == "RefinedWeb";
  return config.boolean("new_decoder_architecture").value_or(refined_web);
}

/// One KV head unless the decoder is the new one: the file's own number must be ignored then
/// (falcon-7b says 71).
std::int64_t kv_heads_of(Config& config, std::int64_t heads) {
  const auto stated = config.integer({"num_kv_heads", "n_head_kv"});
  const bool one = config.boolean("multi_query").value_or(true);
  if (is_new_decoder(config)) {
    return stated.value_or(heads);
  }
  return one ? 1 : heads;
}

void set_kv_heads(Config& config, std::vector<Layer>& layers) {
  const auto norms = config.integer({"num_ln_in_parallel_attn"});
  const bool two_norms = norms.value_or(is_new_decoder(config) ? 2 : 1) == 2;
  for (Layer& layer : layers) {
    auto& attention = std::get<Attention>(layer.mixer);
    attention.kv_heads = kv_heads_of(config, attention.heads);
    attention.rope_dims = config.boolean("alibi").value_or(false) ? 0 : attention.rope_dims;
    layer.second_input_norm = layer.parallel && two_norms;
  }
}

void adjust_falcon(Config& config, Architecture& architecture) {
  architecture.kv_heads = kv_heads_of(config, architecture.heads);
  architecture.alibi = config.boolean("alibi").value_or(false);
}

}  // namespace

Family falcon() {
  return {.name = "falcon",
          .architectures = {"FalconForCausalLM", "RWForCausalLM"},
          .model_types = {"falcon", "RefinedWeb", "RefinedWebModel"},
          .keys = {.kv_heads = {}, .ffn = {"ffn_hidden_size"}, .activation = {"activation"}},
          .defaults = {.hidden = 4544,
                       .layers = 32,
                       .heads = 71,
                       .vocabulary = 65024,
                       .max_context = 2048,
                       .ffn_per_hidden = 4,
                       .activation = "gelu"},
          .norm = {.layer = true, .gain = true, .bias = true},
          .parallel = from("parallel_attn", true),
          .attention = {.qkv_bias = from("bias"), .output_bias = from("bias")},
          .feed_forward = {.gated = false, .bias = from("bias")},
          .head = {.tied = from("tie_word_embeddings", true)},
          .adjust_layers = set_kv_heads,
          .adjust = adjust_falcon,
          .expects = {{"apply_residual_connection_post_layernorm", "false"}},
          .ignores = {"ff_factor"}};
}

}  // namespace mansard::frontend::hf
