#include "frontend/hf/families/families.hpp"
#include "frontend/hf/mixers.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

constexpr Defaults kDeepseekV3 = {.hidden = 7168,
                                  .layers = 61,
                                  .heads = 128,
                                  .ffn = 18432,
                                  .vocabulary = 129280,
                                  .max_context = 4096,
                                  .experts = 256,
                                  .top_k = 8,
                                  .expert_width = 2048};

/// The choice of experts adds a learned bias where topk_method says so.
void correct_where_stated(Config& config, std::vector<Layer>& layers) {
  const bool corrects = config.string("topk_method").value_or("") == "noaux_tc";
  for (Layer& layer : layers) {
    if (layer.moe) {
      layer.moe->correction_bias = corrects;
    }
  }
}

}  // namespace

Family deepseek() {
  return {.name = "deepseek",
          .architectures = {"DeepseekForCausalLM"},
          .model_types = {"deepseek"},
          .defaults = {.hidden = 4096,
                       .layers = 30,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 102400,
                       .max_context = 2048,
                       .expert_width = 1407},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .layers = {moe_after_dense()}};
}

Family deepseek_v2() {
  return {.name = "deepseek_v2",
          .architectures = {"DeepseekV2ForCausalLM"},
          .model_types = {"deepseek_v2"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 102400,
                       .max_context = 2048,
                       .expert_width = 1407},
          .layers = {moe_after_dense()},
          .latent = latent_attention,
          .adjust_layers = correct_where_stated,
          .expects = {{"mlp_bias", "false"}},
          .ignores = {"head_dim", "use_mla"}};
}

/// DeepSeek-V3, R1 and V3.1, Kimi-K2 and K2.5, Moonlight: the multi-token-prediction module is not
/// counted.
Family deepseek_v3() {
  return {.name = "deepseek_v3",
          .architectures = {"DeepseekV3ForCausalLM", "KimiK25ForConditionalGeneration",
                            "Kimi_K25ForConditionalGeneration", "KimiVLForConditionalGeneration"},
          .model_types = {"deepseek_v3", "kimi_k2", "kimi_k25"},
          .defaults = kDeepseekV3,
          .feed_forward = {.correction_bias = always()},
          .layers = {moe_after_dense(3)},
          .latent = latent_attention,
          .expects = {{"topk_method", "noaux_tc"}},
          .ignores = {"head_dim"}};
}

/// DeepSeek-V3.2: V3 with an indexer that chooses the keys.
Family deepseek_v32() {
  Family family = deepseek_v3();
  family.name = "deepseek_v32";
  family.architectures = {"DeepseekV32ForCausalLM"};
  family.model_types = {"deepseek_v32"};
  family.layers = {listed_layer_types(), moe_after_dense(3), listed_feed_forwards()};
  family.expects = {{"topk_method", "noaux_tc"}, {"mlp_bias", "false"}};
  return family;
}

}  // namespace mansard::frontend::hf
