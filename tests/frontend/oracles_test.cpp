#include <array>
#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "ir/verify.hpp"
#include "tests/frontend/counting.hpp"

namespace mansard::frontend {

TEST_CASE("a decode step multiplies what its matmuls and its attention need", "[frontend][hf]") {
  // Batch 1, context 2048, head included: 2 FLOP a weight, and 4 x heads x head dim x context of
  // attention a layer.
  const auto at = step(Phase::kDecode, 1, 2048);
  CHECK(flops(*import_model("llama2-7b", Phase::kDecode), at) == "14287896576");
  CHECK(flops(*import_model("llama3-8b", Phase::kDecode), at) == "16083058688");
  CHECK(flops(*import_model("llama3-70b", Phase::kDecode), at) == "144372137984");
}

TEST_CASE("a prefill counts causal pairs and one token's logits", "[frontend][hf]") {
  const auto at = step(Phase::kPrefill, 1, 2048);
  CHECK(flops(*import_model("llama3-8b", Phase::kPrefill), at) == "29688401494016");
  CHECK(flops(*import_model("llama3-70b", Phase::kPrefill), at) == "285877808922624");
}

TEST_CASE("twice the prompt costs more than twice the FLOP", "[frontend][hf]") {
  // MrYxJ/calculate-flops.pytorch#48: with attention counted, the ratio is above 2.
  const auto graph = import_model("llama3-8b", Phase::kPrefill);
  const double shorter = std::stod(flops(*graph, step(Phase::kPrefill, 1, 8192)));
  const double longer = std::stod(flops(*graph, step(Phase::kPrefill, 1, 16384)));
  CHECK(longer > 2 * shorter);
}

TEST_CASE("a decode step reads every matmul weight once", "[frontend][hf]") {
  CHECK(matmul_weight_bytes(*import_model("llama3-8b", Phase::kDecode),
                            step(Phase::kDecode, 1, 2048)) == "15009316864");
}

TEST_CASE("the KV cache grows by each model's bytes a token", "[frontend][hf]") {
  struct Known {
    const char* name;
    const char* bytes;
  };
  // notes/hf-config-keys.md, bf16.
  for (const auto& [name, bytes] : std::to_array<Known>({{"llama2-7b", "524288"},
                                                         {"llama3-8b", "131072"},
                                                         {"llama3-70b", "327680"},
                                                         {"llama3-405b", "516096"},
                                                         {"mixtral-8x7b", "131072"},
                                                         {"qwen2.5-7b", "57344"},
                                                         {"qwen3-30b-a3b", "98304"},
                                                         {"falcon-7b", "8192"},
                                                         {"deepseek-v3", "70272"},
                                                         {"deepseek-v2-lite", "31104"},
                                                         {"gpt-oss-20b", "24576"},
                                                         {"qwen3-next-80b-a3b", "24576"}})) {
    CAPTURE(name);
    CHECK(kv_growth(*import_model(name, Phase::kDecode)) == bytes);
  }
}

TEST_CASE("KV heads, not query heads, fill the cache", "[frontend][hf]") {
  // vx-lang/Vx#303: Llama-3.1-70B at 32768 tokens holds 10 GiB, not 80.
  const auto graph = import_model("llama3-70b", Phase::kDecode);
  CHECK(ir::to_string(*count(ir::kv_bytes(*graph), step(Phase::kDecode, 1, 32768))) ==
        std::to_string(10LL << 30));
}

TEST_CASE("a window bounds what its layers hold and read", "[frontend][hf]") {
  // Mistral-7B v0.1: 4096 of any number of tokens, 32 layers x 8 heads x (128 + 128) x 2 bytes.
  const auto graph = import_model("mistral-7b", Phase::kDecode);
  const auto far = step(Phase::kDecode, 1, 100000);
  CHECK(ir::to_string(*count(ir::kv_bytes(*graph), far)) ==
        std::to_string(32LL * 8 * 256 * 2 * 4096));
  CHECK(kv_growth(*graph, 100000) == "0");
  CHECK(flops(*graph, far) == flops(*graph, step(Phase::kDecode, 1, 4096)));
}

TEST_CASE("latent attention holds the same weights whether absorbed or expanded",
          "[frontend][hf]") {
  const auto decode = import_model("deepseek-v3", Phase::kDecode);
  const auto prefill = import_model("deepseek-v3", Phase::kPrefill);
  CHECK(parameter_counts(*decode).total == 671026419200);
  CHECK(parameter_counts(*prefill).total == 671026419200);
  CHECK(find(*decode, "attention")->def->name == "mla_attention");
  CHECK(find(*prefill, "attention")->def->name == "attention");
}

TEST_CASE("every built-in model is a valid graph in both phases", "[frontend][hf]") {
  CHECK(builtin_models().size() >= 60);
  for (const std::string& name : builtin_models()) {
    CAPTURE(name);
    for (const Phase phase : {Phase::kDecode, Phase::kPrefill}) {
      const auto graph = import_model(name, phase);
      if (!graph) {
        FAIL_CHECK(render(graph.error()));
        continue;
      }
      CHECK(render(ir::verify(*graph)).empty());
      CHECK(graph->facts.name == name);
    }
  }
}

TEST_CASE("expected experts grow with the batch from the chosen few towards all",
          "[frontend][hf]") {
  const auto graph = import_model("qwen3-30b-a3b", Phase::kDecode);
  const ir::Op* experts = find(*graph, "moe.gate_up");
  REQUIRE(experts != nullptr);
  const auto touched = [&](double batch) {
    return ir::value(experts->dims.find("u")->second, step(Phase::kDecode, batch, 2048));
  };
  CHECK(touched(1) == Approx(8).epsilon(1e-12));
  // 128 (1 - (1 - 8/128)^16) = 82.4
  CHECK(touched(16) == Approx(128 * (1 - std::pow(1 - 8.0 / 128, 16))).epsilon(1e-12));
  CHECK(touched(10000) == Approx(128));
  CHECK(ir::value(experts->dims.find("l")->second, step(Phase::kDecode, 16, 2048)) == 8);
}

}  // namespace mansard::frontend
