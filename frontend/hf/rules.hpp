#pragma once

#include <cstdint>
#include <string_view>

#include "frontend/hf/family.hpp"

/// Rules by which layers differ: each fills in one aspect of a plan. A family lists those that it
/// follows.
namespace mansard::frontend::hf {

/// All layers have a window if the config gives one, or if it is silent and the class has one
/// (mistral).
[[nodiscard]] Rule window_everywhere(std::int64_t otherwise = 0,
                                     KeyList window = {"sliding_window"});
/// A window that applies only with use_sliding_window, to layers from max_window_layers on (qwen2,
/// qwen3).
[[nodiscard]] Rule switched_window();
/// layer_types: a word for each layer. Does nothing if the list is absent.
[[nodiscard]] Rule listed_layer_types(std::string_view key = "layer_types");
/// Every `period`-th layer sees everything, the others a window; `key` may give the period.
[[nodiscard]] Rule windows_but_every(std::string_view key, std::int64_t period);
/// The first of every `period` layers sees everything, the others a window (cwm).
[[nodiscard]] Rule windows_but_first_of(std::int64_t period);
/// Even layers have a window, odd ones see everything (gemma2).
[[nodiscard]] Rule alternating_windows();
/// A list with a number for each layer: those equal to `marked` become `kind`.
[[nodiscard]] Rule listed_mixers(std::string_view key, std::int64_t marked, MixerKind kind);
/// Every `period`-th layer has full attention, the others linear (qwen3-next).
[[nodiscard]] Rule linear_but_every(std::string_view key, std::int64_t period);
/// Layers named in a 1-based list are linear (kimi-linear).
[[nodiscard]] Rule linear_in(std::string_view key);
/// One layer in `period`, from `offset` on, has attention, the others mamba (jamba).
[[nodiscard]] Rule mamba_but_every(std::string_view period_key, std::string_view offset_key);
[[nodiscard]] Rule all_mamba();
/// Layers in a 0-based list have attention, the others mamba (bamba).
[[nodiscard]] Rule attention_only_in(std::string_view key);
/// A letter for each layer (M mamba, E experts, - feed-forward, * attention), or a list of words; a
/// layer has one of them only (nemotron_h).
[[nodiscard]] Rule lettered_layers(std::string_view letters_key, std::string_view words_key);
/// no_rope_layers: a 0 for each layer without rotation; absent or empty: every `interval`-th.
[[nodiscard]] Rule unrotated_layers(std::string_view list_key, std::string_view interval_key,
                                    std::int64_t interval);
/// Layers that see everything are not rotated (cohere2, exaone4).
[[nodiscard]] Rule unrotated_where_full();
/// Chunked attention of the rotated layers if the config gives a chunk (llama4).
[[nodiscard]] Rule chunks_where_rotated(std::int64_t otherwise);

/// Every layer has experts.
[[nodiscard]] Rule all_moe();
/// Experts wherever the config has any, or is silent and the class has some.
[[nodiscard]] Rule moe_if_experts(std::int64_t otherwise);
/// Experts after the first layers, in steps: first_k_dense_replace, moe_layer_freq (a step, or a
/// list).
[[nodiscard]] Rule moe_after_dense(std::int64_t first = 0);
/// Experts after the first layers, as many as `key` says.
[[nodiscard]] Rule moe_after(std::string_view key, std::int64_t first);
/// Every `interval`-th layer from `first` to `last`, which counts from the end if it is absent
/// (ernie).
[[nodiscard]] Rule moe_between(std::string_view first_key, std::string_view last_key,
                               std::string_view interval_key);
/// decoder_sparse_step and mlp_only_layers (qwen).
[[nodiscard]] Rule moe_by_sparse_step();
/// Every `step`-th layer has experts, the last of each step (llama4).
[[nodiscard]] Rule moe_every(std::string_view step_key, std::int64_t step);
/// One layer in `period`, from `offset` on (jamba).
[[nodiscard]] Rule moe_by_period(std::string_view period_key, std::string_view offset_key);
/// A list of the layers that have experts; 0-based. Nothing if absent.
[[nodiscard]] Rule moe_in(std::string_view key);
/// mlp_layer_types: a word for each layer, "sparse" or "dense". Nothing if absent.
[[nodiscard]] Rule listed_feed_forwards(std::string_view key = "mlp_layer_types");

}  // namespace mansard::frontend::hf
