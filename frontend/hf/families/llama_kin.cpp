#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

/// Near relatives of Llama: the same layers with other feed-forwards, norms or windows.
namespace mansard::frontend::hf {

namespace {

/// Norms behind mixer and feed-forward too, where the config says so.
void sandwich_if_stated(Config& config, std::vector<Layer>& layers) {
  const bool after = config.boolean("use_post_norm").value_or(true);
  for (Layer& layer : layers) {
    layer.norms = after ? NormPlacement::kSandwich : NormPlacement::kPre;
  }
}

/// Helium's heads are together as wide as the stream.
void refuse_other_width(Config& config, Architecture& architecture) {
  const auto head_dim = config.integer({"head_dim"}).value_or(128);
  if (architecture.heads * head_dim != architecture.hidden) {
    config.refuse("config-heads", "heads of helium are together as wide as the hidden size",
                  config.location());
  }
}

void normalise_embedding(Config& /*config*/, Architecture& architecture) {
  architecture.embedding_norm = true;
}

}  // namespace

Family helium() {
  return {.name = "helium",
          .architectures = {"HeliumForCausalLM"},
          .model_types = {"helium"},
          .defaults = {.hidden = 2560,
                       .layers = 24,
                       .heads = 20,
                       .kv_heads = 20,
                       .head_dim = 128,
                       .ffn = 7040,
                       .vocabulary = 48000,
                       .max_context = 4096},
          .feed_forward = {.bias = from("mlp_bias")},
          .adjust = refuse_other_width,
          .expects = {{"attention_bias", "false"}}};
}

/// Apertus: xIELU, two learned scalars a layer, instead of a gate.
Family apertus() {
  return {.name = "apertus",
          .architectures = {"ApertusForCausalLM"},
          .model_types = {"apertus"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 14336,
                       .vocabulary = 131072,
                       .max_context = 65536,
                       .activation = "xielu"},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead},
          .feed_forward = {.gated = false},
          .expects = {{"mlp_bias", "false"},
                      {"post_norm", "false"},
                      {"qk_norm", "true"},
                      {"hidden_act", "xielu"}}};
}

/// nanochat: no norm has a gain, the embedding is normalised too.
Family nanochat() {
  return {.name = "nanochat",
          .architectures = {"NanoChatForCausalLM"},
          .model_types = {"nanochat"},
          .defaults = {.hidden = 768,
                       .layers = 12,
                       .heads = 6,
                       .ffn = 8192,
                       .vocabulary = 50304,
                       .max_context = 2048,
                       .activation = "relu2"},
          .norm = {.layer = false, .gain = false, .bias = false},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kWithoutGain},
          .feed_forward = {.gated = false},
          .adjust = normalise_embedding};
}

/// Code World Model: three windows to one full layer, the full one first.
Family cwm() {
  return {.name = "cwm",
          .architectures = {"CwmForCausalLM"},
          .model_types = {"cwm"},
          .defaults = {.hidden = 6144,
                       .layers = 64,
                       .heads = 48,
                       .kv_heads = 8,
                       .head_dim = 128,
                       .ffn = 21504,
                       .vocabulary = 128256,
                       .max_context = 131072,
                       .window = 8192},
          .feed_forward = {.bias = from("mlp_bias")},
          .layers = {windows_but_first_of(4), listed_layer_types()},
          .ignores = {"attention_bias"}};
}

/// Jais 2: LayerNorms, biases and a squared ReLU.
Family jais2() {
  return {.name = "jais2",
          .architectures = {"Jais2ForCausalLM"},
          .model_types = {"jais2"},
          .defaults = {.hidden = 3328,
                       .layers = 32,
                       .heads = 26,
                       .head_dim = 128,
                       .ffn = 26624,
                       .vocabulary = 150272,
                       .max_context = 8192,
                       .activation = "relu2"},
          .norm = {.layer = true, .gain = true, .bias = true},
          .attention = {.qkv_bias = from("attention_bias", true),
                        .output_bias = from("attention_bias", true)},
          .feed_forward = {.gated = false, .bias = from("mlp_bias", true)}};
}

/// HyperCLOVA X: Granite with norms behind mixer and feed-forward.
Family hyperclovax() {
  Family family = granite();
  family.name = "hyperclovax";
  family.architectures = {"HyperCLOVAXForCausalLM"};
  family.model_types = {"hyperclovax"};
  family.adjust_layers = sandwich_if_stated;
  return family;
}

/// XVERSE, dense: Llama in a class of its own.
Family xverse() {
  return {.name = "xverse",
          .architectures = {"XverseForCausalLM"},
          .model_types = {"xverse"},
          .keys = {.max_context = {"max_position_embeddings", "max_tokenizer_truncation"}},
          .defaults = {.hidden = 5120,
                       .layers = 40,
                       .heads = 40,
                       .ffn = 13824,
                       .vocabulary = 100278,
                       .max_context = 8192}};
}

/// Persimmon: LayerNorms, biases, norms with bias on queries and keys.
Family persimmon() {
  return {.name = "persimmon",
          .architectures = {"PersimmonForCausalLM"},
          .model_types = {"persimmon"},
          .keys = {.kv_heads = {}},
          .defaults = {.hidden = 4096,
                       .layers = 36,
                       .heads = 64,
                       .ffn = 16384,
                       .vocabulary = 262144,
                       .max_context = 16384,
                       .rotary_fraction = 0.5,
                       .activation = "relu2"},
          .norm = {.layer = true, .gain = true, .bias = true},
          .attention = {.qkv_bias = always(),
                        .output_bias = always(),
                        .qk_norm = QkNorm::kPerHead,
                        .has_qk_norm = from("qk_layernorm", true)},
          .feed_forward = {.gated = false, .bias = always()},
          .adjust_layers =
              [](Config& /*config*/, std::vector<Layer>& layers) {
                for (Layer& layer : layers) {
                  std::get<Attention>(layer.mixer).qk_norm_bias = true;
                }
              },
          .ignores = {"num_key_value_heads"}};
}

/// BitNet b1.58: norms inside attention and feed-forward, before their second projections.
Family bitnet() {
  return {.name = "bitnet",
          .architectures = {"BitNetForCausalLM", "BitnetForCausalLM"},
          .model_types = {"bitnet"},
          .defaults = {.hidden = 2560,
                       .layers = 30,
                       .heads = 20,
                       .kv_heads = 5,
                       .ffn = 6912,
                       .vocabulary = 128256,
                       .max_context = 2048,
                       .activation = "relu2"},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .adjust_layers = [](Config& /*config*/, std::vector<Layer>& layers) {
            for (Layer& layer : layers) {
              std::get<Attention>(layer.mixer).inner_norm = true;
              layer.dense->inner_norm = true;
            }
          }};
}

}  // namespace mansard::frontend::hf
