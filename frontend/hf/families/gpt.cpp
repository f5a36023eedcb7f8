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

/// attention_layers, or attention_types: pairs of a list of words and how often it is repeated.
Rule local_attention() {
  return [](Config& config, Plan& plan) {
    std::vector<std::string> words = config.strings("attention_layers");
    const Node* types = config.find("attention_types");
    if (words.empty() && types != nullptr && types->is_sequence()) {
      for (const Node& type : types->items) {
        const bool pair = type.is_sequence() && type.items.size() == 2;
        const std::int64_t times = pair ? type.items[1].as_integer().value_or(0) : 0;
        for (std::int64_t i = 0; i < times && words.size() <= plan.size(); ++i) {
          for (const Node& word : type.items[0].items) {
            words.push_back(word.scalar);
          }
        }
      }
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const bool alternates = words.empty() && i % 2 == 1;
      const bool local = alternates || (i < words.size() && words[i] == "local");
      plan[i].mixer = local ? MixerKind::kSliding : MixerKind::kFull;
    }
  };
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

/// GPT-Neo: every other layer sees a window of 256; queries, keys and values have no bias.
Family gpt_neo() {
  return {.name = "gpt_neo",
          .architectures = {"GPTNeoForCausalLM"},
          .model_types = {"gpt_neo"},
          .keys = {.heads = {"num_heads", "num_attention_heads"}, .window = {"window_size"}},
          .defaults = {.hidden = 2048,
                       .layers = 24,
                       .heads = 16,
                       .vocabulary = 50257,
                       .max_context = 2048,
                       .window = 256,
                       .ffn_per_hidden = 4,
                       .activation = "gelu_new"},
          .norm = kLayerNorm,
          .attention = {.output_bias = always(), .rope = false},
          .feed_forward = {.gated = false, .bias = always()},
          .head = {.tied = from("tie_word_embeddings", true)},
          .layers = {local_attention()},
          .adjust = learn_positions,
          .ignores = {"embed_dropout"}};
}

/// XGLM: positions are sines, computed and not learned.
Family xglm() {
  return {.name = "xglm",
          .architectures = {"XGLMForCausalLM"},
          .model_types = {"xglm"},
          .keys = {.hidden = {"d_model"}, .heads = {"attention_heads"}, .ffn = {"ffn_dim"}},
          .defaults = {.hidden = 1024,
                       .layers = 24,
                       .heads = 16,
                       .ffn = 4096,
                       .vocabulary = 256008,
                       .max_context = 2048,
                       .activation = "gelu"},
          .norm = kLayerNorm,
          .attention = {.qkv_bias = always(), .output_bias = always(), .rope = false},
          .feed_forward = {.gated = false, .bias = always()},
          .head = {.tied = from("tie_word_embeddings", true)},
          .ignores = {"scale_embedding"}};
}

/// BioGPT: its table of positions has two rows before the first, as OPT's.
Family biogpt() {
  return {.name = "biogpt",
          .architectures = {"BioGptForCausalLM"},
          .model_types = {"biogpt"},
          .defaults = {.hidden = 1024,
                       .layers = 24,
                       .heads = 16,
                       .ffn = 4096,
                       .vocabulary = 42384,
                       .max_context = 1024,
                       .activation = "gelu"},
          .norm = kLayerNorm,
          .attention = {.qkv_bias = always(), .output_bias = always(), .rope = false},
          .feed_forward = {.gated = false, .bias = always()},
          .head = {.tied = from("tie_word_embeddings", true)},
          .adjust =
              [](Config& /*config*/, Architecture& architecture) {
                architecture.positions = architecture.max_context + 2;
              },
          .ignores = {"scale_embedding"}};
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
