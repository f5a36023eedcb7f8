#include <array>
#include <string>

#include <catch2/catch.hpp>

#include "ir/verify.hpp"
#include "tests/frontend/counting.hpp"

namespace mansard::frontend {
namespace {

struct Known {
  const char* config;
  std::int64_t total;
};

ir::ParameterCounts counts_of(const std::string& config, Phase phase = Phase::kDecode) {
  const auto graph = import_text(config, phase);
  if (!graph) {
    FAIL(render(graph.error()));
  }
  CHECK(render(ir::verify(*graph)).empty());
  return parameter_counts(*graph);
}

void check_all(const auto& known) {
  for (const Known& row : known) {
    CAPTURE(row.config);
    CHECK(counts_of(row.config).total == row.total);
    CHECK(counts_of(row.config, Phase::kPrefill).total == row.total);
  }
}

}  // namespace

TEST_CASE("a silent config has its class's defaults, counted as transformers counts them",
          "[frontend][hf]") {
  // The sums over the parameters, and over the learned biases kept as buffers, of each class built
  // from its default configuration by transformers 5.17, shared tensors once.
  check_all(std::to_array<Known>({
      {R"({"architectures": ["GPTNeoForCausalLM"]})", 1315575808},
      {R"({"architectures": ["HeliumForCausalLM"]})", 2172643840},
      {R"({"architectures": ["ApertusForCausalLM"]})", 6979596352},
      {R"({"architectures": ["NanoChatForCausalLM"]})", 256573440},
      {R"({"architectures": ["CwmForCausalLM"]})", 32581097472},
      {R"({"architectures": ["Jais2ForCausalLM"]})", 8090401280},
      {R"({"architectures": ["HyperCLOVAXForCausalLM"]})", 6738677760},
      {R"({"architectures": ["PersimmonForCausalLM"]})", 9397175296},
      {R"({"architectures": ["BitNetForCausalLM"]})", 2741155840},
      {R"({"architectures": ["XGLMForCausalLM"]})", 564463616},
      {R"({"architectures": ["BioGptForCausalLM"]})", 346763264},
      {R"({"architectures": ["VaultGemmaForCausalLM"]})", 2614222080},
      {R"({"architectures": ["FlexOlmoForCausalLM"]})", 33270665216},
      {R"({"architectures": ["GraniteSWAForCausalLM"]})", 2144463840},
      {R"({"architectures": ["GraniteMoeSWAForCausalLM"]})", 37039117312},
      {R"({"architectures": ["MiniCPM3ForCausalLM"]})", 4073875968},
      {R"({"architectures": ["FalconH1ForCausalLM"]})", 8514961408},
      {R"({"architectures": ["AfmoeForCausalLM"]})", 19232600000},
      {R"({"architectures": ["SolarOpenForCausalLM"], "n_shared_experts": 1})",
       102651793408 + 6144},
      {R"({"architectures": ["ExaoneMoeForCausalLM"]})", 28550639616 + 1984},
      {R"({"architectures": ["LagunaForCausalLM"]})", 33189975808},
      {R"({"architectures": ["AriaTextForCausalLM"]})", 18517069824},
      {R"({"architectures": ["Mistral4ForCausalLM"], "n_shared_experts": 1, "q_lora_rank": 1024,
           "kv_lora_rank": 256, "qk_nope_head_dim": 64, "qk_rope_head_dim": 64, "v_head_dim": 128,
           "first_k_dense_replace": 0})",
       118972826624},
      {R"({"architectures": ["Gemma3nForCausalLM"]})", 6835235568},
      {R"({"architectures": ["RecurrentGemmaForCausalLM"]})", 2010263040},
      {R"({"architectures": ["OlmoHybridForCausalLM"]})", 7430870688},
      {R"({"architectures": ["YoutuForCausalLM"], "q_lora_rank": 1536, "kv_lora_rank": 512,
           "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128})",
       1961560064},
      {R"({"architectures": ["HYV3ForCausalLM"]})", 295033528320 + 15168},
      {R"({"architectures": ["MellumForCausalLM"]})", 12149923072},
      {R"({"architectures": ["Cohere2MoeForCausalLM"]})", 190004928512},
  }));
}

TEST_CASE("later built-in models count what their makers publish", "[frontend][hf]") {
  struct Published {
    const char* name;
    std::int64_t total;
  };
  for (const Published& row : std::to_array<Published>({
           {"gpt-neo-1.3b", 1315575808},
           {"codegen-350m", 356712448},
           {"falcon-h1-0.5b", 521411104},
           {"apertus-8b", 8053338176},
           {"minicpm3-4b", 4073875968},
           {"bitnet-b1.58-2b-bf16", 2741155840 - 128256LL * 2560},
       })) {
    CAPTURE(row.name);
    const auto graph = import_model(row.name, Phase::kDecode);
    REQUIRE(graph);
    CHECK(parameter_counts(*graph).total == row.total);
  }
}

TEST_CASE("ling 2.0 has norms on queries and keys, and a bias per expert", "[frontend][hf]") {
  const auto graph = import_model("ling-mini-2.0", Phase::kDecode);
  REQUIRE(graph);
  const std::int64_t hidden = 2048;
  const std::int64_t attention = hidden * (16 + 2 * 4) * 128 + 16 * 128 * hidden + 2 * 128;
  const std::int64_t expert = 3 * hidden * 512;
  const std::int64_t outside = 2 * 157184 * hidden + hidden;
  const std::int64_t dense = attention + 3 * hidden * 5120 + 2 * hidden;
  const auto sparse = [&](std::int64_t experts) {
    return attention + 2 * hidden + hidden * 256 + 256 + (experts + 1) * expert;
  };
  const ir::ParameterCounts counts = parameter_counts(*graph);
  CHECK(counts.total == outside + dense + 19 * sparse(256));
  CHECK(counts.active == outside + dense + 19 * sparse(8));
}

TEST_CASE("falcon-h1 keeps a cache and a state in every layer", "[frontend][hf]") {
  const auto graph = import_model("falcon-h1-0.5b", Phase::kDecode);
  REQUIRE(graph);
  CHECK(kv_growth(*graph) == std::to_string(36 * 2 * 2 * 64 * 2));
  CHECK(find(*graph, "mamba.scan") != nullptr);
  CHECK(find(*graph, "mixer.add") != nullptr);
}

TEST_CASE("gpt-neo's local layers keep 256 tokens", "[frontend][hf]") {
  const auto graph = import_model("gpt-neo-1.3b", Phase::kDecode);
  REQUIRE(graph);
  CHECK(kv_growth(*graph) == std::to_string(12 * 2 * 2048 * 4));
}

TEST_CASE("longcat-flash has two attentions a layer and experts that do nothing",
          "[frontend][hf]") {
  const auto graph = import_model("longcat-flash", Phase::kDecode);
  REQUIRE(graph);
  const std::int64_t hidden = 6144;
  const std::int64_t attention = hidden * 1536 + 1536 + 1536 * 64 * 192 + hidden * (512 + 64) +
                                 512 + 512 * 64 * (128 + 128) + 64 * 128 * hidden;
  const std::int64_t feed_forward = 3 * hidden * 12288;
  const std::int64_t expert = 3 * hidden * 2048;
  const auto layer = [&](std::int64_t experts) {
    return 2 * (attention + feed_forward + 2 * hidden) + (hidden + 1) * 768 + experts * expert;
  };
  const std::int64_t outside = 2 * 131072 * hidden + hidden;
  const ir::ParameterCounts counts = parameter_counts(*graph);
  CHECK(counts.total == outside + 28 * layer(512));
  CHECK(counts.active == outside + 28 * layer(8));  // 12 of 768, of which 512 are real.
  CHECK(kv_growth(*graph) == std::to_string(56 * (512 + 64) * 2));
}

TEST_CASE("gemma 3n shares the caches of its last layers", "[frontend][hf]") {
  const auto graph = import_model("gemma3n-e4b", Phase::kDecode);
  REQUIRE(graph);
  // Of seven full layers the last three share.
  CHECK(kv_growth(*graph, 10000) == std::to_string(4 * 2 * 2 * 256 * 2));
  CHECK(find(*graph, "laurel.left") != nullptr);
  CHECK(find(*graph, "streams.join") != nullptr);
}

TEST_CASE("recurrentgemma keeps a window and a state, and nothing that grows", "[frontend][hf]") {
  const auto graph = import_model("recurrentgemma-2b", Phase::kDecode);
  REQUIRE(graph);
  CHECK(kv_growth(*graph, 10000) == "0");
  CHECK(find(*graph, "recurrence.scan") != nullptr);
}

TEST_CASE("grok 2 has a feed-forward beside its experts, and says whether its head is tied",
          "[frontend][hf]") {
  const std::string start = R"({"architectures": ["Grok1ForCausalLM"], "hidden_size": 8192,
    "num_hidden_layers": 64, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
    "intermediate_size": 32768, "moe_intermediate_size": 16384, "num_local_experts": 8,
    "num_experts_per_tok": 2, "residual_moe": true, "vocab_size": 131072)";
  const std::int64_t hidden = 8192;
  const std::int64_t attention = hidden * (64 + 2 * 8) * 128 + 64 * 128 * hidden;
  const auto layer = [&](std::int64_t experts) {
    return attention + 4 * hidden + hidden * 8 + experts * 3 * hidden * 16384 + 3 * hidden * 32768;
  };
  const std::int64_t outside = 2 * 131072 * hidden + hidden;
  const ir::ParameterCounts counts = counts_of(start + R"(, "tie_word_embeddings": false})");
  CHECK(counts.total == outside + 64 * layer(8));
  CHECK(counts.active == outside + 64 * layer(2));
  CHECK_FALSE(import_text(start + "}"));
}

TEST_CASE("files as transformers 5 saves them name recurrent layers linear attention",
          "[frontend][hf]") {
  // Counted by transformers 5.17 from its default configurations, whose files these keys are.
  check_all(std::to_array<Known>({
      {R"({"architectures": ["BambaForCausalLM"], "num_attention_heads": 32,
           "num_key_value_heads": 8, "attn_layer_indices": null, "mamba_d_head": 64})",
       9992765440},
      {R"({"architectures": ["NemotronHForCausalLM"], "layers_block_type":
           ["linear_attention", "moe", "full_attention", "mlp"], "n_routed_experts": 8,
           "num_experts_per_tok": 2, "moe_intermediate_size": 7688,
           "moe_shared_expert_intermediate_size": 7688})",
       1968355712 + 8},
      {R"({"architectures": ["Lfm2ForCausalLM"], "full_attn_idxs": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
           10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
           "conv_bias": false, "conv_L_cache": 3})",
       2705497600},
  }));
}

}  // namespace mansard::frontend
