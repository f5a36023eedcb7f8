#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

/// dots.llm1: Qwen3's attention with DeepSeek-V3's experts.
Family dots1() {
  return {.name = "dots1",
          .architectures = {"Dots1ForCausalLM"},
          .model_types = {"dots1"},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead},
          .feed_forward = {.correction_bias = always()},
          .layers = {switched_window(), listed_layer_types(), moe_after_dense()},
          .expects = {{"topk_method", "noaux_tc"}}};
}

Family ernie4_5() {
  return {.name = "ernie4_5",
          .architectures = {"Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM"},
          .model_types = {"ernie4_5"},
          .defaults = {.hidden = 1024,
                       .layers = 18,
                       .heads = 16,
                       .kv_heads = 2,
                       .head_dim = 128,
                       .ffn = 3072,
                       .vocabulary = 103424,
                       .max_context = 131072},
          .attention = {.qkv_bias = from("use_bias"), .output_bias = from("use_bias")},
          .feed_forward = {.bias = from("use_bias")},
          .head = {.tied = from("tie_word_embeddings", true)}};
}

Family ernie4_5_moe() {
  return {
      .name = "ernie4_5_moe",
      .architectures = {"Ernie4_5_MoeForCausalLM"},
      .model_types = {"ernie4_5_moe"},
      .keys = {.experts = {"moe_num_experts"},
               .top_k = {"moe_k"},
               .shared_experts = {"moe_num_shared_experts"}},
      .defaults = {.hidden = 2560,
                   .layers = 28,
                   .heads = 20,
                   .kv_heads = 4,
                   .ffn = 12288,
                   .vocabulary = 103424,
                   .max_context = 131072,
                   .experts = 64,
                   .top_k = 6,
                   .expert_width = 1536},
      .attention = {.qkv_bias = from("use_bias"), .output_bias = from("use_bias")},
      .feed_forward = {.correction_bias = always()},
      .head = {.tied = from("tie_word_embeddings", true)},
      .layers = {moe_between("moe_layer_start_index", "moe_layer_end_index", "moe_layer_interval")},
      .expects = {{"use_bias", "false"}},
      .ignores = {"moe_capacity", "moe_gate", "moe_use_aux_free", "moe_norm_min", "moe_gate_act",
                  "moe_norm_gate_logits", "moe_use_hard_gate", "moe_group_experts",
                  "moe_multimodal_dispatch_use_allgather"},
      .notes = {"The multi-token-prediction layers are not counted."}};
}

Family hunyuan_dense() {
  return {
      .name = "hunyuan_dense",
      .architectures = {"HunYuanDenseV1ForCausalLM"},
      .model_types = {"hunyuan_v1_dense"},
      .keys = {.head_dim = {"head_dim", "attention_head_dim"}},
      .attention = {.qkv_bias = from("attention_bias"),
                    .output_bias = from("attention_bias"),
                    .qk_norm = QkNorm::kPerHead,
                    .has_qk_norm = from("use_qk_norm", true)},
      .feed_forward = {.bias = from("mlp_bias")},
      .expects = {{"use_cla", "false"}, {"num_experts", "1"}},
      .ignores = {"cla_share_factor", "norm_type", "use_rotary_pos_emb", "add_classification_head",
                  "class_num", "pool_type", "dense_list", "org_vocab_size"}};
}

/// Hunyuan-A13B: a shared feed-forward of one expert's width beside the experts.
Family hunyuan_moe() {
  return {.name = "hunyuan_moe",
          .architectures = {"HunYuanMoEV1ForCausalLM"},
          .model_types = {"hunyuan_v1_moe"},
          .keys = {.head_dim = {"head_dim", "attention_head_dim"},
                   .top_k = {"moe_topk"},
                   .shared_experts = {"num_shared_expert"}},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead,
                        .has_qk_norm = from("use_qk_norm", true)},
          .layers = {all_moe()},
          .expects = {{"use_cla", "false"},
                      {"use_mixed_mlp_moe", "true"},
                      {"mlp_bias", "false"},
                      {"moe_layer_num_skipped", "0"}},
          .ignores = {"cla_share_factor", "norm_type", "use_rotary_pos_emb", "class_num",
                      "add_classification_head", "pool_type", "dense_list", "org_vocab_size",
                      "capacity_factor", "moe_drop_tokens", "moe_random_routing_dropped_token",
                      "group_limited_greedy", "routed_scaling_factor", "num_media_embeds",
                      "position_embedding_xdrope", "anyres_pooling_size", "mask_init_id"}};
}

Family dbrx() {
  return {.name = "dbrx",
          .architectures = {"DbrxForCausalLM"},
          .model_types = {"dbrx"},
          .keys = {.kv_heads = {"attn_config.kv_n_heads"},
                   .ffn = {"ffn_config.ffn_hidden_size"},
                   .experts = {"ffn_config.moe_num_experts"},
                   .top_k = {"ffn_config.moe_top_k"},
                   .expert_width = {"ffn_config.ffn_hidden_size"},
                   .shared_experts = {}},
          .defaults = {.hidden = 2048,
                       .layers = 24,
                       .heads = 16,
                       .kv_heads = 1,
                       .ffn = 3584,
                       .vocabulary = 32000,
                       .max_context = 2048,
                       .experts = 4,
                       .top_k = 1},
          .norm = {.layer = true, .gain = true, .bias = false},
          .layers = {all_moe()},
          .ignores = {"attn_config.clip_qkv", "attn_config.rope_theta", "attn_config.attn_pdrop",
                      "ffn_config.moe_loss_weight", "ffn_config.moe_jitter_eps",
                      "ffn_config.moe_normalize_expert_weights", "ffn_config.ffn_act_fn",
                      "ffn_config.uniform_expert_assignment"}};
}

}  // namespace mansard::frontend::hf
