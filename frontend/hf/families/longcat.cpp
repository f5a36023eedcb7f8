#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"
#include "frontend/hf/mixers.hpp"

namespace mansard::frontend::hf {

namespace {

/// A layer of the file is two of ours: attention, feed-forward and experts beside it; attention and
/// feed-forward.
Rule doubled_layers() {
  return [](Config& config, Plan& plan) {
    const std::size_t layers = plan.size();
    const auto stated = config.integer({"num_hidden_layers"});
    if (stated && *stated != static_cast<std::int64_t>(layers) &&
        *stated != static_cast<std::int64_t>(2 * layers)) {
      config.refuse("config-contradiction",
                    "num_hidden_layers is neither num_layers nor its double", config.location());
      return;
    }
    plan.resize(2 * layers);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      plan[i].feed_forward = i % 2 == 0 ? FeedForwardKind::kBoth : FeedForwardKind::kDense;
    }
  };
}

void adjust_longcat(Config& config, std::vector<Layer>& layers) {
  const auto zeros = config.integer({"zero_expert_num"}).value_or(256);
  for (Layer& layer : layers) {
    layer.one_norm = true;
    if (!layer.moe) {
      continue;
    }
    layer.moe->zero_experts = zeros;
    if (layer.moe->top_k * layer.moe->experts % (layer.moe->experts + zeros) != 0) {
      config.refuse("config-experts",
                    "the real experts that a token uses are not a whole number on average",
                    config.location());
      return;
    }
  }
}

}  // namespace

/// LongCat-Flash: two latent attentions a layer, experts beside the first feed-forward, some of
/// which do nothing.
Family longcat_flash() {
  return {.name = "longcat_flash",
          .architectures = {"LongcatFlashForCausalLM"},
          .model_types = {"longcat_flash"},
          .keys = {.layers = {"num_layers"},
                   .head_dim = {},
                   .ffn = {"ffn_hidden_size"},
                   .experts = {"n_routed_experts"},
                   .top_k = {"moe_topk"},
                   .expert_width = {"expert_ffn_hidden_size"},
                   .shared_experts = {},
                   .shared_width = {}},
          .defaults = {.hidden = 6144,
                       .layers = 28,
                       .heads = 64,
                       .ffn = 12288,
                       .vocabulary = 131072,
                       .max_context = 131072,
                       .experts = 512,
                       .top_k = 12,
                       .expert_width = 2048},
          .feed_forward = {.router_bias = from("router_bias"), .correction_bias = always()},
          .layers = {doubled_layers()},
          .latent = latent_attention,
          .adjust_layers = adjust_longcat,
          .expects = {{"zero_expert_type", "identity"}, {"attention_method", "MLA"}},
          .ignores = {"head_dim", "mla_scale_q_lora", "mla_scale_kv_lora"},
          .notes = {"Experts that do nothing are chosen as often as any other: a token uses "
                    "moe_topk x real / all experts.",
                    "Each layer of the file is counted as two."}};
}

}  // namespace mansard::frontend::hf
