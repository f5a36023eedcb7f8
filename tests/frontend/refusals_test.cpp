#include <string>

#include <catch2/catch.hpp>

#include "tests/frontend/counting.hpp"

namespace mansard::frontend {
namespace {

constexpr const char* kSmallLlama = R"({
  "architectures": ["LlamaForCausalLM"],
  "hidden_size": 64,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "intermediate_size": 128,
  "vocab_size": 100@MORE@
})";

std::string with(const std::string& more) {
  std::string text = kSmallLlama;
  return text.replace(text.find("@MORE@"), 6, more);
}

std::string refusal(const std::string& json) {
  const auto graph = import_text(json);
  return graph ? "accepted" : render(graph.error());
}

}  // namespace

TEST_CASE("a small llama is accepted", "[frontend][hf]") {
  CHECK(refusal(with("")) == "accepted");
}

TEST_CASE("an unknown architecture is refused by name with the nearest known one",
          "[frontend][hf]") {
  CHECK(
      refusal(R"({"architectures": ["LlamaForCausalML"]})") ==
      R"(config.json:1:20: error: architecture 'LlamaForCausalML' is not known [config-architecture]
  1 | {"architectures": ["LlamaForCausalML"]}
    |                    ^^^^^^^^^^^^^^^^^^ did you mean LlamaForCausalLM?
)");
}

TEST_CASE("a key that may change the graph is refused by name", "[frontend][hf]") {
  CHECK(
      refusal(with(",\n  \"rotary_shortcut\": 3")) ==
      R"(config.json:8:3: error: key rotary_shortcut of llama is not understood and may change the graph [config-key]
  8 |   "rotary_shortcut": 3
    |   ^^^^^^^^^^^^^^^^^
)");
}

TEST_CASE("keys known to have no effect are accepted", "[frontend][hf]") {
  CHECK(refusal(with(R"(, "initializer_range": 0.02, "bos_token_id": 1, "_name_or_path": "x",
    "attention_dropout": 0.1, "use_cache": true, "rope_theta": 1e6)")) == "accepted");
}

TEST_CASE("values of a wrong type are refused, all at once", "[frontend][hf]") {
  const std::string text = refusal(R"({
  "architectures": ["LlamaForCausalLM"],
  "hidden_size": "wide",
  "num_hidden_layers": -2,
  "tie_word_embeddings": 7
})");
  CHECK(text.find("config.json:3:18: error: expected a count, found \"wide\" [config-type]") !=
        std::string::npos);
  CHECK(text.find("config.json:4:24: error: expected a count, found -2 [config-type]") !=
        std::string::npos);
  CHECK(text.find("config.json:5:26: error: expected true or false, found 7 [config-type]") !=
        std::string::npos);
}

TEST_CASE("two spellings of one concept must agree", "[frontend][hf]") {
  CHECK(refusal(with(R"(, "n_layer": 3)")).find("n_layer is 3, but num_hidden_layers is 2") !=
        std::string::npos);
}

TEST_CASE("a size without a class default must be there", "[frontend][hf]") {
  const std::string text = refusal(R"({"architectures": ["MiniMaxM2ForCausalLM"]})");
  CHECK(text.find("expected num_hidden_layers: it is absent, and its class has no default") !=
        std::string::npos);
}

TEST_CASE("a per-layer list must fit the layers", "[frontend][hf]") {
  const std::string text = refusal(R"({"architectures": ["Qwen3ForCausalLM"],
    "num_hidden_layers": 3, "layer_types": ["full_attention"]})");
  CHECK(text.find("layer_types has 1 entries for 3 layers") != std::string::npos);
}

TEST_CASE("heads that are no multiple of KV heads are refused", "[frontend][hf]") {
  CHECK(refusal(with(R"(, "num_key_value_heads": 3)")).find("4 query heads over 3 KV heads") !=
        std::string::npos);
}

TEST_CASE("a hostile number of layers or a hostile size ends in an error", "[frontend][hf]") {
  CHECK(refusal(R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 100000000})")
            .find("100000000 layers are more than 1000") != std::string::npos);
  CHECK(refusal(R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 1099511627776,
    "vocab_size": 1099511627776})")
            .find("[config-size]") != std::string::npos);
}

TEST_CASE("a config that is no object, or names no model, is refused", "[frontend][hf]") {
  CHECK(refusal("[1]").find("expected an object") != std::string::npos);
  CHECK(refusal("{}").find("expected architectures or model_type, found neither") !=
        std::string::npos);
}

TEST_CASE("an unknown quantisation method is refused by name", "[frontend][hf]") {
  CHECK(refusal(with(R"(, "quantization_config": {"quant_method": "aqlm"})"))
            .find("quantisation method 'aqlm' is not known") != std::string::npos);
}

TEST_CASE("formats that are not read yet are refused by name", "[frontend]") {
  const auto gguf = import_model("model.gguf", Phase::kDecode);
  REQUIRE_FALSE(gguf);
  CHECK(render(gguf.error()).find("model.gguf: GGUF files are not read yet [format-unread]") !=
        std::string::npos);
  const auto unknown = import_model("lama3-8b", Phase::kDecode);
  REQUIRE_FALSE(unknown);
  CHECK(render(unknown.error()).find("did you mean llama3-8b?") != std::string::npos);
}

TEST_CASE("a config with a bare Infinity is read", "[frontend][hf]") {
  CHECK(refusal(with(R"(, "time_step_limit": [0.0, Infinity], "rope_theta": NaN)")) == "accepted");
}

TEST_CASE("the architecture decides where model_type names another family", "[frontend][hf]") {
  const auto graph = import_text(with(R"(, "model_type": "mistral")"));
  REQUIRE(graph);
  CHECK(graph->facts.notes.front() ==
        "Architecture LlamaForCausalLM decides; model_type mistral names another family.");
}

TEST_CASE("a model without a decoder of its own is told so", "[frontend][hf]") {
  CHECK(refusal(R"({"architectures": ["BertForMaskedLM"]})")
            .find("this is an encoder; only models that decode are read") != std::string::npos);
  CHECK(refusal(R"({"architectures": ["T5ForConditionalGeneration"]})")
            .find("this is an encoder with a decoder") != std::string::npos);
  CHECK(refusal(R"({"architectures": ["WhisperForConditionalGeneration"]})")
            .find("this is an encoder with a decoder") != std::string::npos);
}

}  // namespace mansard::frontend
