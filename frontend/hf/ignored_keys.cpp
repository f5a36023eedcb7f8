#include "frontend/hf/ignored_keys.hpp"

#include <algorithm>
#include <array>

namespace mansard::frontend::hf {

namespace {

/// Files, classes and the programs that wrote them.
constexpr auto kProvenance = std::to_array<std::string_view>({
    "name", "architectures", "model_type", "transformers_version", "auto_map", "tokenizer_class",
    "tokenizer_type", "tokenizer", "processor_class", "task_specific_params", "custom_pipelines",
    "finetuning_task", "id2label", "label2id", "problem_type", "torchscript", "license",
    "model_name", "unsloth_fixed", "unsloth_version", "unsloth_id", "unsloth_training_tiled",
    "model_version", "architecture", "is_composition", "sub_configs", "config_class",
    "diffusers_version", "datasets", "language", "tags", "trust_remote_code", "mlx_version",
    "tf_legacy_loss", "use_bfloat16", "init_device", "onnx_safe", "bf16", "fp16", "fp32",
});

/// Token ids, tokenizers and prompts.
constexpr auto kTokens = std::to_array<std::string_view>({
    "bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id", "sep_token_id", "cls_token_id",
    "mask_token_id", "decoder_start_token_id", "bos_token", "eos_token", "pad_token", "prefix",
    "forced_bos_token_id", "forced_eos_token_id", "eod_token_id", "end_token_id", "im_end_id",
    "im_start_id", "text_token_id", "tokenizer_vocab_size", "suppress_tokens",
    "begin_suppress_tokens", "bad_words_ids",
});

/// Generation.
constexpr auto kGeneration = std::to_array<std::string_view>({
    "max_length", "min_length", "max_new_tokens", "do_sample", "temperature", "top_p", "typical_p",
    "num_beams", "num_beam_groups", "diversity_penalty", "early_stopping", "length_penalty",
    "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "num_return_sequences",
    "output_scores", "return_dict_in_generate", "return_dict", "output_attentions",
    "output_hidden_states", "repetition_penalty", "exponential_decay_length_penalty",
    "remove_invalid_values", "use_cache", "cache_implementation", "generation_config",
    "num_logits_to_keep", "chunk_size_feed_forward", "keys_to_ignore_at_inference",
});

/// Initialisation, dropout and other training matters.
constexpr auto kTraining = std::to_array<std::string_view>({
    "initializer_range", "init_std", "initializer_factor", "init_config", "attention_dropout",
    "hidden_dropout", "dropout", "activation_dropout", "attn_dropout_prob", "emb_dropout_prob",
    "attn_pdrop", "embd_pdrop", "resid_pdrop", "resid_dropout", "residual_dropout", "ffn_dropout",
    "embedding_dropout", "classifier_dropout", "classifier_dropout_prob", "hidden_dropout_prob",
    "attention_probs_dropout_prob", "layerdrop", "emb_pdrop", "summary_activation",
    "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj",
    "pretraining_tp", "gradient_checkpointing", "router_aux_loss_coef", "aux_loss_alpha",
    "seq_aux", "aux_loss_coef", "router_z_loss_coef", "z_loss_coefficient", "router_jitter_noise",
    "input_jitter_noise", "jitter_eps", "jitter_noise", "output_router_logits",
    "moe_aux_loss_coeff", "moe_z_loss_coeff", "ep_size", "pretrain_seqlen",
    "mamba_init", "time_step_floor", "time_step_limit", "time_step_max", "time_step_min",
    "time_step_init_scheme", "time_step_scale", "dt_floor", "dt_limit", "dt_max", "dt_min",
    "reorder_and_upcast_attn", "use_scan", "remat", "layer_norm_bias_init", "verbose",
    "router_bias_update_speed", "n_future_tokens", "mtp_loss_weight", "num_experts_warmup",
    "rescale_every", "moe_router_warmup", "use_logit_cap_training", "tie_encoder_decoder",
    "is_decoder", "is_encoder_decoder", "pruned_heads", "cross_attention_hidden_size",
    "router_dtype", "moe_router_dtype", "moe_implementation", "fp32_lm_head",
    "enable_lm_head_fp32", "use_fp32_lm_head", "use_fp32_head",
});

/// Constants of formulas whose cost does not depend on them.
constexpr auto kConstants = std::to_array<std::string_view>({
    "rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon", "norm_epsilon",
    "norm_eps", "norm_rms_eps", "rope_theta", "rope_base", "rope_scaling", "rope_parameters",
    "rope_local_base_freq", "local_rope_theta", "swa_rope_theta", "rope_ratio",
    "rotary_base", "rotary_emb_base", "rope_interleave", "rope_interleaved", "use_mrope",
    "mrope_section", "original_max_position_embeddings", "model_max_length", "max_window_size",
    "query_pre_attn_scalar", "attn_logit_softcapping", "final_logit_softcapping", "logit_scale",
    "attention_multiplier", "embedding_multiplier", "logits_scaling", "residual_multiplier",
    "scale_attn_weights", "scale_attn_by_inverse_layer_idx", "attention_value_scale",
    "routed_scaling_factor", "router_scaling_factor", "norm_topk_prob", "scoring_func",
    "moe_router_activation_func", "score_func", "route_scale", "n_group", "topk_group",
    "num_expert_group", "moe_group_num", "swiglu_limit", "moe_scaling_factor", "router_score_func",
    "attn_scale", "attn_softmax_scale", "softmax_scale", "attention_softmax_in_fp32",
    "attn_implementation", "use_flash_attn", "use_flash_attention_2", "attention_implementation",
    "chunk_size", "mamba_chunk_size", "max_window_layers", "sliding_window_pattern_name",
    "mamba_ssm_dtype", "mamba_ssm_cache_dtype", "hidden_act_param", "clip_qkv", "partial_rotary",
    "attention_type", "attn_type",
});

/// Modules beside the model that are not counted: multi-token prediction.
constexpr auto kNotCounted = std::to_array<std::string_view>({
    "num_nextn_predict_layers", "num_mtp_modules", "mtp_transformer_layers", "use_mtp",
    "mtp_num_hidden_layers", "mtp_use_dedicated_embeddings", "mtp_layers_block_type",
    "mtp_hybrid_override_pattern", "num_mtp_layers", "mtp_num_layers", "keep_mtp_spec_modules",
    "num_speculative_tokens", "mtp_layer_types",
});

constexpr auto kOtherModalities = std::to_array<std::string_view>({
    "vision", "visual", "image", "img", "video", "audio", "speech", "mm_", "multimodal",
    "projector", "spatial_", "temporal_", "pixel", "boi_token", "eoi_token", "boa_token",
    "eoa_token", "downsample", "vit_", "ps_version", "dynamic_image", "max_dynamic", "min_dynamic",
    "use_thumbnail", "select_layer", "template", "talker", "code2wav", "token2wav", "tts_",
    "enable_audio", "enable_talker", "media_placeholder", "patch", "perceiver", "resampler",
    "qformer", "tower", "aligner", "tile_tag", "global_view_pos", "candidate_resolutions",
    "freeze_", "tokenizer_padding", "pad_id", "scale_factor", "max_num_tiles", "user_token",
    "assistant_token", "system_token", "position_id_per_seconds", "seconds_per_chunk",
    "use_image", "force_image_size", "tune_", "query_num", "slice_", "batch_vision",
    "drop_vision", "use_audio", "ignore_index", "encoder_config", "language_model_only",
});

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view key) {
  return std::ranges::find(list, key) != list.end();
}

}  // namespace

bool has_no_effect(std::string_view key) {
  return key.starts_with('_') || contains(kProvenance, key) || contains(kTokens, key) ||
         contains(kGeneration, key) || contains(kTraining, key) || contains(kConstants, key) ||
         contains(kNotCounted, key);
}

bool belongs_to_other_modality(std::string_view key) {
  return std::ranges::any_of(
      kOtherModalities, [&](std::string_view word) { return key.find(word) != key.npos; });
}

}  // namespace mansard::frontend::hf
