#include <array>
#include <cmath>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "frontend/hf/family.hpp"
#include "tests/frontend/counting.hpp"

namespace mansard::frontend {
namespace {

std::int64_t total(const Result<ir::Graph>& graph) {
  if (!graph) {
    FAIL(render(graph.error()));
  }
  return parameter_counts(*graph).total;
}

}  // namespace

TEST_CASE("no two families serve one architecture or one model_type", "[frontend][hf]") {
  std::set<std::string_view> names;
  for (const hf::Family& family : hf::families()) {
    CAPTURE(family.name);
    CHECK_FALSE(family.architectures.empty());
    CHECK_FALSE(family.model_types.empty());
    for (const std::string_view name : family.architectures) {
      CAPTURE(name);
      CHECK(names.insert(name).second);
    }
    for (const std::string_view name : family.model_types) {
      CAPTURE(name);
      CHECK(names.insert(name).second);
    }
  }
}

TEST_CASE("an absent window is the class's, null is none", "[frontend][hf]") {
  const auto silent = import_text(R"({"architectures": ["MistralForCausalLM"]})");
  const auto none = import_text(R"({"architectures": ["MistralForCausalLM"],
    "sliding_window": null})");
  REQUIRE(silent);
  REQUIRE(none);
  CHECK(kv_growth(*silent, 10000) == "0");
  CHECK(kv_growth(*none, 10000) == "131072");
}

TEST_CASE("a window that use_sliding_window leaves off does not bound the cache",
          "[frontend][hf]") {
  const std::string start = R"({"architectures": ["Qwen2ForCausalLM"], "num_hidden_layers": 4,
    "sliding_window": 1024, "max_window_layers": 2, "use_sliding_window": )";
  const auto off = import_text(start + "false}");
  const auto on = import_text(start + "true}");
  REQUIRE(off);
  REQUIRE(on);
  CHECK(off->blocks().size() == 3);
  CHECK(on->blocks().size() == 4);
  CHECK(std::stoll(kv_growth(*off)) == 2 * std::stoll(kv_growth(*on)));
}

TEST_CASE("a nested text config is unwrapped, and its class's defaults apply", "[frontend][hf]") {
  // llava-1.5's text_config says little more than its class: the defaults are Llama-2-7B's.
  const auto graph = import_text(R"({"architectures": ["LlavaForConditionalGeneration"],
    "image_token_index": 32000, "model_type": "llava", "vision_config": {"hidden_size": 1024},
    "text_config": {"_name_or_path": "lmsys/vicuna-7b-v1.5", "architectures":
    ["LlamaForCausalLM"], "max_position_embeddings": 4096, "model_type": "llama",
    "rms_norm_eps": 1e-05, "torch_dtype": "float16", "vocab_size": 32064},
    "torch_dtype": "float16", "vocab_size": 32064})");
  // 6738415616 with 64 more rows of embedding and of head.
  CHECK(total(graph) == 6738415616 + 2 * 64 * 4096);
  CHECK(graph->facts.notes.front() ==
        "Only the text model is counted; vision and audio towers are left out.");
}

TEST_CASE("what a text config leaves out is inherited from around it", "[frontend][hf]") {
  const auto graph = import_text(R"({"architectures": ["Gemma3ForConditionalGeneration"],
    "tie_word_embeddings": false, "text_config": {"model_type": "gemma3_text",
    "num_hidden_layers": 1}})");
  const auto tied = import_text(R"({"architectures": ["Gemma3ForConditionalGeneration"],
    "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 1}})");
  CHECK(total(graph) - total(tied) == 262208LL * 2304);
}

TEST_CASE("head_dim is stated or hidden over heads", "[frontend][hf]") {
  // huggingface/candle#2358: Mistral-Nemo has 128, not 5120 / 32.
  CHECK(total(import_model("mistral-nemo-12b", Phase::kDecode)) == 12247782400);
  const auto derived = import_text(R"({"architectures": ["MistralForCausalLM"],
    "hidden_size": 5120})");
  REQUIRE(derived);
  const ir::Op* attention = find(*derived, "attention");
  CHECK(attention->dims.find("d")->second.constant() == 160);
}

TEST_CASE("falcon-7b has one KV head whatever its file says of them", "[frontend][hf]") {
  const auto graph = import_text(R"({"architectures": ["FalconForCausalLM"], "hidden_size": 4544,
    "num_attention_heads": 71, "num_kv_heads": 71, "multi_query": true, "num_hidden_layers": 32,
    "new_decoder_architecture": false, "parallel_attn": true, "bias": false})");
  CHECK(total(graph) == 6921720704);
  CHECK(graph->facts.kv_heads == 1);
}

TEST_CASE("opt-350m is narrow outside and normalises after adding", "[frontend][hf]") {
  const auto graph = import_text(R"({"architectures": ["OPTForCausalLM"], "hidden_size": 1024,
    "num_hidden_layers": 24, "num_attention_heads": 16, "ffn_dim": 4096, "vocab_size": 50272,
    "word_embed_proj_dim": 512, "do_layer_norm_before": false, "max_position_embeddings": 2048})");
  CHECK(total(graph) == 331196416);
  CHECK(find(*graph, "final_norm") == nullptr);
}

TEST_CASE("layers are grouped by kind in the order of first appearance", "[frontend][hf]") {
  const auto graph = import_model("gemma3-27b", Phase::kDecode);
  REQUIRE(graph);
  REQUIRE(graph->blocks().size() == 4);
  CHECK(graph->blocks()[1].name == "sliding");
  CHECK(graph->blocks()[1].count == 52);
  CHECK(graph->blocks()[2].name == "full");
  CHECK(graph->blocks()[2].count == 10);
}

TEST_CASE("a searched Llama keeps what its block_configs keep", "[frontend][hf]") {
  const auto graph = import_text(R"({"architectures": ["DeciLMForCausalLM"],
    "model_type": "nemotron-nas", "hidden_size": 64, "num_attention_heads": 4,
    "num_key_value_heads": null, "intermediate_size": null, "num_hidden_layers": 4,
    "vocab_size": 100, "block_configs": [
      {"attention": {"n_heads_in_group": 2, "no_op": false, "replace_with_linear": false},
       "ffn": {"ffn_mult": 6.0, "no_op": false, "replace_with_linear": false}},
      {"attention": {"n_heads_in_group": null, "no_op": true, "replace_with_linear": false},
       "ffn": {"ffn_mult": 6.0, "no_op": false, "replace_with_linear": false}},
      {"attention": {"n_heads_in_group": null, "no_op": false, "replace_with_linear": true},
       "ffn": {"ffn_mult": null, "no_op": false, "replace_with_linear": true}},
      {"attention": {"n_heads_in_group": 4, "no_op": false, "replace_with_linear": false},
       "ffn": {"ffn_mult": null, "no_op": true, "replace_with_linear": false}}]})");
  const std::int64_t hidden = 64;
  const std::int64_t ffn = 3 * hidden * 256;  // 2 x 6 x 64 / 3 rounded up to 256.
  const std::int64_t first = hidden * (64 + 2 * 32) + 64 * hidden + ffn + 2 * hidden;
  const std::int64_t second = ffn + hidden;
  const std::int64_t third = 2 * hidden * hidden + 2 * hidden;
  const std::int64_t fourth = hidden * (64 + 2 * 16) + 64 * hidden + hidden;
  CHECK(total(graph) == first + second + third + fourth + 2 * 100 * hidden + hidden);
}

TEST_CASE("nemotron 3 super works in a latent space", "[frontend][hf]") {
  // Published 123611012096 = main - 40 x 512 (correction biases) + the multi-token-prediction
  // module: an attention layer, an expert layer (its 512 biases left out too), a 2 x 4096 to 4096
  // projection and three norms.
  const std::int64_t hidden = 4096;
  const std::int64_t attention = hidden * (32 + 2 * 2) * 128 + 32 * 128 * hidden + hidden;
  const std::int64_t experts =
      hidden * 512 + 2 * hidden * 1024 + 512LL * 2 * 1024 * 2688 + 2 * hidden * 5376 + hidden;
  const std::int64_t module = attention + experts + 2 * hidden * hidden + 3 * hidden;
  CHECK(total(import_model("nemotron-3-super-120b-a12b", Phase::kDecode)) ==
        123611012096 + 40 * 512 - module);
}

TEST_CASE("gemma 4 has larger heads, shared keys and experts beside a dense feed-forward",
          "[frontend][hf]") {
  const auto graph = import_model("gemma4-26b-a4b", Phase::kDecode);
  // Its card says 25.2B in all, 3.8B active.
  CHECK(std::llround(static_cast<double>(total(graph)) / 1e8) == 252);
  CHECK(std::llround(static_cast<double>(parameter_counts(*graph).active) / 1e8) == 38);
  // 5 full layers x 2 KV heads x (512 + 512) x 2 bytes.
  CHECK(kv_growth(*graph) == "20480");
}

TEST_CASE("built-in models equal the published configs they stand for", "[frontend][hf]") {
  if (shared_folder() == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  struct Pair {
    const char* name;
    const char* file;
  };
  for (const auto& [name, file] : std::to_array<Pair>({
           {"llama2-7b", "meta-llama__Llama-2-7b-hf"},
           {"llama2-70b", "meta-llama__Llama-2-70b-hf"},
           {"llama3-8b", "meta-llama__Meta-Llama-3.1-8B"},
           {"llama3-70b", "meta-llama__Meta-Llama-3.1-70B"},
           {"llama3.2-1b", "meta-llama__Llama-3.2-1B-Instruct"},
           {"mistral-7b", "mistralai__Mistral-7B-v0.1"},
           {"mistral-nemo-12b", "mistralai__Mistral-Nemo-Instruct-2407"},
           {"mixtral-8x7b", "mistralai__Mixtral-8x7B-v0.1"},
           {"qwen2.5-7b", "Qwen__Qwen2.5-7B-Instruct"},
           {"qwen3-0.6b", "Qwen__Qwen3-0.6B"},
           {"qwen3-32b", "Qwen__Qwen3-32B"},
           {"qwen3-30b-a3b", "Qwen__Qwen3-30B-A3B"},
           {"qwen3-next-80b-a3b", "Qwen__Qwen3-Next-80B-A3B-Instruct"},
           {"qwen1.5-moe-a2.7b", "Qwen__Qwen1.5-MoE-A2.7B"},
           {"gemma2-9b", "google__gemma-2-9b"},
           {"gemma-2b", "google__gemma-2b-it"},
           {"phi-3-mini", "microsoft__Phi-3-mini-4k-instruct"},
           {"phi-4-mini", "microsoft__Phi-4-mini-instruct"},
           {"deepseek-v3", "deepseek-ai__DeepSeek-V3"},
           {"deepseek-v2-lite", "deepseek-ai__DeepSeek-V2-Lite"},
           {"deepseek-moe-16b", "deepseek-ai__deepseek-moe-16b-base"},
           {"gpt-oss-20b", "openai__gpt-oss-20b"},
           {"glm-4.5-air", "zai-org__GLM-4.5-Air"},
           {"minimax-m2", "MiniMaxAI__MiniMax-M2.7"},
           {"nemotron-3-nano-30b-a3b", "nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"},
           {"olmo2-7b", "allenai__OLMo-2-1124-7B"},
           {"granite-3.3-8b", "ibm-granite__granite-3.3-8b-instruct"},
           {"falcon-7b", "tiiuae__falcon-7b"},
           {"falcon-40b", "tiiuae__falcon-40b"},
           {"gpt2", "openai-community__gpt2"},
           {"mamba-2.8b", "state-spaces__mamba-2.8b-hf"},
           {"jamba-1.5-mini", "ai21labs__AI21-Jamba-1.5-Mini"},
           {"opt-6.7b", "facebook__opt-6.7b"},
           {"gpt-j-6b", "EleutherAI__gpt-j-6b"},
           {"starcoder2-7b", "bigcode__starcoder2-7b"},
           {"aya-23-8b", "CohereForAI__aya-23-8B"},
           {"stablelm-3b", "stabilityai__stablelm-3b-4e1t"},
       })) {
    CAPTURE(name);
    const std::string path = std::string(shared_folder()) + "/data/hf-configs/" + file + ".json";
    for (const Phase phase : {Phase::kDecode, Phase::kPrefill}) {
      const auto own = import_model(name, phase);
      const auto theirs = import_model(path, phase);
      REQUIRE(own);
      REQUIRE(theirs);
      const auto at = step(phase, 3, 5000);
      CHECK(parameter_counts(*own).total == parameter_counts(*theirs).total);
      CHECK(flops(*own, at) == flops(*theirs, at));
      CHECK(matmul_weight_bytes(*own, at) == matmul_weight_bytes(*theirs, at));
      CHECK(kv_growth(*own) == kv_growth(*theirs));
      CHECK(own->ops().size() == theirs->ops().size());
    }
  }
}

}  // namespace mansard::frontend
