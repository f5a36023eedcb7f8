#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "frontend/hf/module_pattern.hpp"
#include "tests/frontend/counting.hpp"

namespace mansard::frontend {
namespace {

/// fp32 scales of 128 x 128 blocks, over every block-quantised weight: ceil(rows / 128) x
/// ceil(columns / 128) each.
std::int64_t scale_elements(const ir::Graph& graph) {
  double sum = 0;
  for (const ir::Tensor& tensor : graph.tensors()) {
    if (tensor.role != ir::Role::kWeight || tensor.dtype->name != "fp8_block") {
      continue;
    }
    double blocks = static_cast<double>(graph.block(tensor.block).count);
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      const double extent = tensor.shape[i].constant();
      const bool is_matrix_side = i + 2 >= tensor.shape.size();
      blocks *= is_matrix_side ? std::ceil(extent / 128) : extent;
    }
    sum += blocks;
  }
  return static_cast<std::int64_t>(sum);
}

std::string_view dtype_of(const ir::Graph& graph, const std::string& op, std::size_t operand) {
  const ir::Op* found = find(graph, op);
  return found == nullptr ? "" : graph.tensor(*found->operands[operand]).dtype->name;
}

std::string moe_with(const std::string& quantization) {
  return R"({"architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 256, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "num_experts": 8,
    "num_experts_per_tok": 2, "moe_intermediate_size": 128, "vocab_size": 1000,
    "torch_dtype": "bfloat16", "quantization_config": )" +
         quantization + "}";
}

}  // namespace

TEST_CASE("an fp8 release holds as many block scales as its linear layers have blocks",
          "[frontend][hf]") {
  // notes/hf-config-keys.md 1.4.10: what Kimi-K2-Base and Qwen3-30B-A3B-FP8 add to their bf16
  // counts.
  CHECK(scale_elements(*import_model("kimi-k2", Phase::kPrefill)) == 62495192);
  std::string text = R"({"architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 2048,
    "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
    "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
    "vocab_size": 151936, "quantization_config": {"quant_method": "fp8",
    "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"]}})";
  const auto graph = import_text(text);
  REQUIRE(graph);
  CHECK(scale_elements(*graph) == 1824768);
  CHECK(parameter_counts(*graph).total == 30532122624);
}

TEST_CASE("mxfp4 holds only the experts of gpt-oss, at 4.25 bit a weight", "[frontend][hf]") {
  // huggingface/huggingface.js#2323: 20914757184 parameters, scales not among them.
  const auto graph = import_model("gpt-oss-20b", Phase::kDecode);
  CHECK(parameter_counts(*graph).total == 20914757184);
  CHECK(dtype_of(*graph, "moe.gate_up", 1) == "mxfp4");
  CHECK(dtype_of(*graph, "attention.qkv", 1) == "bf16");
  CHECK(dtype_of(*graph, "moe.router", 1) == "bf16");
}

TEST_CASE("fp8 with dynamic activations narrows what its matmuls read", "[frontend][hf]") {
  const auto graph = import_text(
      moe_with(R"({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]})"));
  REQUIRE(graph);
  CHECK(dtype_of(*graph, "attention.qkv", 1) == "fp8_block");
  CHECK(dtype_of(*graph, "attention.qkv", 0) == "fp8");
  CHECK(dtype_of(*graph, "moe.down", 0) == "fp8");
  CHECK(dtype_of(*graph, "moe.router", 0) == "bf16");
  CHECK(dtype_of(*graph, "head", 1) == "bf16");
}

TEST_CASE("the bits of compressed-tensors are those of its config groups", "[frontend][hf]") {
  // ome-projects/ome#638: num_bits in config_groups.
  const auto graph = import_text(moe_with(R"({"quant_method": "compressed-tensors",
    "format": "pack-quantized", "ignore": ["lm_head", "re:.*self_attn.*", "re:.*mlp.gate$"],
    "config_groups": {"group_0": {"targets": ["Linear"], "input_activations": null,
    "weights": {"num_bits": 4, "type": "int", "group_size": 128, "strategy": "group"}}}})"));
  REQUIRE(graph);
  CHECK(dtype_of(*graph, "moe.gate_up", 1) == "int4_wo");
  CHECK(dtype_of(*graph, "moe.gate_up", 0) == "bf16");
  CHECK(dtype_of(*graph, "attention.qkv", 1) == "bf16");
}

TEST_CASE("a packed four-bit release has the parameters of what it packs", "[frontend][hf]") {
  // huggingface/huggingface.js#2003: Kimi-K2.5 is 1026408232448 of text, not the 170B that its
  // int32 words suggest. The scheme stands in the text config.
  const auto graph = import_text(R"({"architectures": ["KimiK25ForConditionalGeneration"],
    "model_type": "kimi_k25", "vision_config": {"depth": 27}, "text_config": {
    "architectures": ["DeepseekV3ForCausalLM"], "model_type": "kimi_k2", "hidden_size": 7168,
    "num_hidden_layers": 61, "num_attention_heads": 64, "num_key_value_heads": 64,
    "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 384,
    "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1,
    "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 163840, "topk_method": "noaux_tc",
    "dtype": "bfloat16", "quantization_config": {"quant_method": "compressed-tensors",
    "format": "pack-quantized", "ignore": ["lm_head", "re:.*self_attn.*",
    "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"], "config_groups":
    {"group_0": {"input_activations": null, "targets": ["Linear"], "weights": {"group_size": 32,
    "num_bits": 4, "strategy": "group", "type": "int"}}}}}})");
  REQUIRE(graph);
  CHECK(parameter_counts(*graph).total == 1026408232448);
  CHECK(dtype_of(*graph, "moe.gate_up", 1) == "int4_sym_g32");  // A bf16 scale per 32: 4.5 bit.
  CHECK(dtype_of(*graph, "moe.shared.gate_up", 1) == "bf16");
  CHECK(dtype_of(*graph, "mlp.gate_up", 1) == "bf16");
  CHECK(dtype_of(*graph, "attention.output", 1) == "bf16");
}

TEST_CASE("modelopt names its algorithm, its exceptions and its cache", "[frontend][hf]") {
  const auto graph = import_text(moe_with(R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
    "kv_cache_quant_algo": "FP8",
    "exclude_modules": ["lm_head", "model.layers.0.self_attn*", "model.layers.1.self_attn*"]})"));
  REQUIRE(graph);
  CHECK(dtype_of(*graph, "moe.gate_up", 1) == "nvfp4");
  CHECK(dtype_of(*graph, "moe.gate_up", 0) == "nvfp4");
  CHECK(dtype_of(*graph, "attention.qkv", 1) == "bf16");
  CHECK(dtype_of(*graph, "attention", 1) == "fp8");
}

TEST_CASE("gptq, awq and bitsandbytes are weight-only", "[frontend][hf]") {
  for (const auto* const text : {R"({"quant_method": "gptq", "bits": 4, "group_size": 128})",
                                 R"({"quant_method": "awq", "bits": 4, "group_size": 128})"}) {
    const auto graph = import_text(moe_with(text));
    REQUIRE(graph);
    CHECK(dtype_of(*graph, "attention.qkv", 1) == "int4_wo");
    CHECK(dtype_of(*graph, "attention.qkv", 0) == "bf16");
  }
  const auto graph =
      import_text(moe_with(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})"));
  REQUIRE(graph);
  CHECK(dtype_of(*graph, "attention.qkv", 1) == "nf4");
}

TEST_CASE("layers of different formats are different blocks", "[frontend][hf]") {
  const auto graph = import_text(moe_with(R"({"quant_method": "modelopt", "quant_algo": "FP8",
    "exclude_modules": ["model.layers.0*"]})"));
  REQUIRE(graph);
  std::int64_t layers = 0;
  for (const ir::Block& block : graph->blocks()) {
    layers += block.name == "model" || block.name == "head" ? 0 : block.count;
  }
  CHECK(layers == 2);
  CHECK(graph->blocks().size() == 4);
}

TEST_CASE("the suffix -fp8 narrows layers but neither embedding, head nor norms",
          "[frontend][hf]") {
  const auto graph = import_model("llama3-8b-fp8", Phase::kDecode);
  REQUIRE(graph);
  CHECK(graph->facts.name == "llama3-8b-fp8");
  CHECK(dtype_of(*graph, "mlp.down", 1) == "fp8");
  CHECK(dtype_of(*graph, "mlp.down", 0) == "fp8");
  CHECK(dtype_of(*graph, "head", 1) == "bf16");
  CHECK(dtype_of(*graph, "embedding", 0) == "bf16");
}

TEST_CASE("module patterns match as the quantisation tools match them", "[frontend][hf]") {
  const auto matches = [](const std::string& pattern, const std::string& name) {
    hf::ModuleSet set;
    REQUIRE(set.add(pattern));
    return set.matches(name);
  };
  const std::string gate = "model.layers.3.mlp.gate";
  CHECK(matches("mlp.gate", gate));
  CHECK(matches("gate", gate));
  CHECK_FALSE(matches("gate", gate + "_proj"));
  CHECK(matches("model.layers.*.mlp", gate));
  CHECK(matches("*mlp.gate", gate));
  CHECK_FALSE(matches("model.layers.*.self_attn", gate));
  CHECK(matches("model.layers.1*", "model.layers.12.mlp"));
  CHECK(matches("re:.*mlp.gate$", gate));
  CHECK_FALSE(matches("re:.*mlp.gate$", gate + "_up_proj"));
  CHECK(matches(R"(re:.*mlp\.(gate|up|gate_up|down)_proj.*)", "model.layers.3.mlp.up_proj"));
  CHECK_FALSE(
      matches(R"(re:.*mlp\.(gate|up|down)_proj.*)", "model.layers.3.mlp.experts.0.up_proj"));
  CHECK(matches(R"(re:model\.layers\.(0|1|2[0-9])\..*)", "model.layers.27.mlp"));
  CHECK(matches(R"(re:model\.layers\.\d+\.self_attn\..*)", "model.layers.7.self_attn.o_proj"));
}

TEST_CASE("a pattern beyond what is understood, or made to take for ever, is refused",
          "[frontend][hf]") {
  hf::ModuleSet set;
  CHECK_FALSE(set.add("re:(?!x)y"));
  CHECK_FALSE(set.add("re:a{2,3}"));
  CHECK_FALSE(set.add("re:(a|b)*c"));
  std::string many = "re:";
  for (int i = 0; i < 40; ++i) {
    many += "(a|b)";
  }
  CHECK_FALSE(set.add(many));
}

TEST_CASE("every method names the type of its weights", "[frontend][hf]") {
  const auto weights = [](const std::string& quantization) -> std::string {
    const auto graph = import_text(moe_with(quantization));
    return graph ? std::string(dtype_of(*graph, "moe.down", 1)) : render(graph.error());
  };
  const auto gptq = [&](const std::string& group) {
    return weights(R"({"quant_method": "gptq", "bits": 4, "group_size": )" + group + "}");
  };
  CHECK(gptq("32") == "int4_g32");
  CHECK(gptq("64") == "int4_g64");
  CHECK(gptq("128") == "int4_wo");
  CHECK(gptq("-1") == "int4_wo");
  CHECK(weights(R"({"quant_method": "quanto", "weights": "int8", "activations": null})") ==
        "int8_wo");
  CHECK(weights(R"({"quant_method": "quanto", "weights": "int4"})") == "int4_wo");
  CHECK(weights(R"({"quant_method": "torchao", "quant_type": "int8_weight_only"})") == "int8_wo");
  CHECK(weights(R"({"quant_method": "torchao", "quant_type": {"default": {"_type":
    "Int4WeightOnlyConfig", "_version": 1, "_data": {"group_size": 64}}}})") == "int4_g64");
  CHECK(weights(R"({"quant_method": "torchao", "quant_type":
    "float8_dynamic_activation_float8_weight"})") == "fp8");
  CHECK(weights(R"({"quant_method": "hqq", "quant_config": {"weight_quant_params":
    {"nbits": 4, "group_size": 64, "axis": 1}}})") == "int4_g64");
  CHECK(weights(R"({"quant_method": "eetq", "weights": "int8"})") == "int8_wo");
  CHECK(weights(R"({"quant_method": "bitnet"})") == "ternary");
  CHECK(weights(R"({"quant_method": "bitnet", "quantization_mode": "online"})") == "bf16");
}

TEST_CASE("a quantisation that is not known is refused by name", "[frontend][hf]") {
  for (const auto& [quantization, words] :
       {std::pair{R"({"quant_method": "aqlm", "in_group_size": 8})", "method 'aqlm' is not known"},
        std::pair{R"({"quant_method": "quanto", "weights": "int2"})", "'int2' are not known"},
        std::pair{R"({"quant_method": "gptq", "bits": 3, "group_size": 128})", "3 bits"},
        std::pair{R"({"quant_method": "torchao", "quant_type": "autoquant"})", "'autoquant'"},
        std::pair{R"({"group_size": 64, "bits": 4})", "without quant_method"}}) {
    CAPTURE(quantization);
    const auto graph = import_text(moe_with(quantization));
    REQUIRE_FALSE(graph);
    CHECK(render(graph.error()).find(words) != std::string::npos);
  }
}

}  // namespace mansard::frontend
