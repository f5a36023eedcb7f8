#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

constexpr Norm kLayerNorm = {.layer = true, .gain = true, .bias = true};

const KeyList kInner = {"n_inner", "intermediate_size", "ffn_dim"};

void learn_positions(Config& config, Architecture& architecture) {
  (void)config;
  architecture.positions = architecture.max_context;
}

/// OPT's table has two rows before the first position; 350m is narrow outside and normalises after
/// adding.
void adjust_opt(Config& config, Architecture& architecture) {
  architecture.positions = architecture.max_context + 2;
  const auto width = config.integer({"word_embed_proj_dim"}).value_or(architecture.hidden);
  architecture.embedding_width = width == architecture.hidden ? 0 : width;
  const bool before = config.boolean("do_layer_norm_before").value_or(true);
  const bool removed = config.boolean("_remove_final_layer_norm").value_or(false);
  architecture.final_norm = before && !removed;
}

void norm_after_adding(Config& config, std::vector<Layer>& layers) {
  if (config.boolean("do_layer_norm_before").value_or(true)) {
    return;
  }
  for (Layer& layer : layers) {
    layer.norms = NormPlacement::kResidual;
  }
}

void adjust_bloom(Config& /*config*/, Architecture& architecture) {
  architecture.embedding_norm = true;
  architecture.alibi = true;
}

}  // namespace

Family gpt2() {
  return {.name = "gpt2",
          .architectures = {"GPT2LMHeadModel"},
          .model_types = {"gpt2"},
          .keys = {.ffn = {"n_inner"}},
          .defaults = {.hidden = 768,
                       .layers = 12,
                       .heads = 12,
                       .vocabulary = 50257,
                       .max_context = 1024,
                       .ffn_per_hidden = 4,
                       .activation = "gelu_new"},
          .norm = kLayerNorm,
          .attention = {.qkv_bias = always(), .output_bias = always(), .rope = false},
          .feed_forward = {.gated = false, .bias = always()},
          .head = {.tied = from("tie_word_embeddings", true)},
          .adjust = learn_positions,
          .expects = {{"add_cross_attention", "false"}}};
}

/// StarCoder 1: GPT-2 with one KV head.
Family gpt_bigcode() {
  Family family = gpt2();
  family.name = "gpt_bigcode";
  family.architectures = {"GPTBigCodeForCausalLM"};
  family.model_types = {"gpt_bigcode"};
  family.defaults.activation = "gelu_pytorch_tanh";
  family.adjust_layers = [](Config& config, std::vector<Layer>& layers) {
    for (Layer& layer : layers) {
      auto& attention = std::get<Attention>(layer.mixer);
      attention.kv_heads = config.boolean("multi_query").value_or(true) ? 1 : attention.heads;
    }
  };
  family.adjust = [](Config& config, Architecture& architecture) {
    learn_positions(config, architecture);
    architecture.kv_heads = config.boolean("multi_query").value_or(true) ? 1 : architecture.heads;
  };
  family.ignores = {"attention_softmax_in_fp32", "scale_attention_softmax_in_fp32",
                    "inference_runner",          "max_batch_size",
                    "max_sequence_length",       "pad_key_length",
                    "pre_allocate_kv_cache",     "validate_runner_input"};
  return family;
}

Family gpt_neox() {
  return {.name = "gpt_neox",
          .architectures = {"GPTNeoXForCausalLM"},
          .model_types = {"gpt_neox"},
          .defaults = {.hidden = 6144,
                       .layers = 44,
                       .heads = 64,
                       .ffn = 24576,
                       .vocabulary = 50432,
                       .max_context = 2048,
                       .rotary_fraction = 0.25,
                       .activation = "gelu"},
          .norm = kLayerNorm,
          .parallel = from("use_parallel_residual", true),
          .second_input_norm = always(),
          .attention = {.qkv_bias = from("attention_bias", true),
                        .output_bias = from("attention_bias", true),
                        .rotary_fraction = {"rotary_pct", "partial_rotary_factor",
                                            "rope_parameters.partial_rotary_factor"}},
          .feed_forward = {.gated = false, .bias = always()},
          .ignores = {"rotary_emb_base"}};
}

/// GPT-J and CodeGen.
Family gptj() {
  return {.name = "gptj",
          .architectures = {"GPTJForCausalLM", "CodeGenForCausalLM"},
          .model_types = {"gptj", "codegen"},
          .keys = {.ffn = {"n_inner"}},
          .defaults = {.hidden = 4096,
                       .layers = 28,
                       .heads = 16,
                       .vocabulary = 50400,
                       .max_context = 2048,
                       .ffn_per_hidden = 4,
                       .activation = "gelu_new"},
          .norm = kLayerNorm,
          .parallel = always(),
          .attention = {.rotary_dims = {"rotary_dim"}},
          .feed_forward = {.gated = false, .bias = always()},
          .head = {.tied = from("tie_word_embeddings"), .bias = always()},
          .ignores = {"rotary", "n_ctx"}};
}

Family opt() {
  return {.name = "opt",
          .architectures = {"OPTForCausalLM"},
          .model_types = {"opt"},
          .keys = {.ffn = {"ffn_dim"}},
          .defaults = {.hidden = 768,
                       .layers = 12,
                       .heads = 12,
                       .ffn = 3072,
                       .vocabulary = 50272,
                       .max_context = 2048,
                       .activation = "relu"},
          .norm = kLayerNorm,
          .attention = {.qkv_bias = from("enable_bias", true),
                        .output_bias = from("enable_bias", true),
                        .rope = false},
          .feed_forward = {.gated = false, .bias = from("enable_bias", true)},
          .head = {.tied = from("tie_word_embeddings", true)},
          .adjust_layers = norm_after_adding,
          .adjust = adjust_opt,
          .expects = {{"layer_norm_elementwise_affine", "true"}}};
}

Family bloom() {
  return {.name = "bloom",
          .architectures = {"BloomForCausalLM", "BloomModel"},
          .model_types = {"bloom"},
          .keys = {.hidden = {"hidden_size", "n_embed"}, .ffn = {"n_inner"}},
          .defaults = {.hidden = 64,
                       .layers = 2,
                       .heads = 8,
                       .vocabulary = 250880,
                       .ffn_per_hidden = 4,
                       .activation = "gelu_pytorch_tanh"},
          .norm = kLayerNorm,
          .attention = {.qkv_bias = always(), .output_bias = always(), .rope = false},
          .feed_forward = {.gated = false, .bias = always()},
          .head = {.tied = from("tie_word_embeddings", true)},
          .adjust = adjust_bloom,
          .expects = {{"apply_residual_connection_post_layernorm", "false"}},
          .ignores = {"attention_softmax_in_fp32", "bias_dropout_fusion", "masked_softmax_fusion",
                      "offset_alibi", "skip_bias_add", "skip_bias_add_qkv", "slow_but_exact",
                      "seq_length", "n_positions", "unk_token_id"}};
}

}  // namespace mansard::frontend::hf
