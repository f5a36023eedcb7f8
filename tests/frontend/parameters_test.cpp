#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/verify.hpp"
#include "tests/frontend/counting.hpp"

namespace mansard::frontend {
namespace {

/// One row of hf-configs/parameters.tsv: published checkpoints, counted without our code.
struct Published {
  std::string file;
  std::int64_t total = 0;
  std::int64_t active = 0;
  std::int64_t active_without_embedding = 0;
};

std::vector<Published> read_published(const std::string& path) {
  std::ifstream file(path);
  std::vector<Published> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::vector<std::string> columns;
    for (std::string field; std::getline(fields, field, '\t');) {
      columns.push_back(field);
    }
    rows.push_back({columns.at(0), std::stoll(columns.at(3)), std::stoll(columns.at(4)),
                    std::stoll(columns.at(5))});
  }
  return rows;
}

}  // namespace

TEST_CASE("the parameters of all published configs are counted exactly, in either phase",
          "[frontend][hf]") {
  if (shared_folder() == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  const std::string folder = std::string(shared_folder()) + "/data/hf-configs/";
  const std::vector<Published> rows = read_published(folder + "parameters.tsv");
  CHECK(rows.size() == 44);
  for (const Published& row : rows) {
    CAPTURE(row.file);
    for (const Phase phase : {Phase::kDecode, Phase::kPrefill}) {
      const auto graph = import_model(folder + row.file + ".json", phase);
      if (!graph) {
        FAIL_CHECK(render(graph.error()));
        continue;
      }
      const ir::ParameterCounts counts = parameter_counts(*graph);
      CHECK(counts.total == row.total);
      CHECK(counts.active == row.active);
      CHECK(counts.active_without_embedding == row.active_without_embedding);
      CHECK(render(ir::verify(*graph)).empty());
    }
  }
}

TEST_CASE("built-in models count what their makers publish", "[frontend][hf]") {
  struct Known {
    const char* name;
    std::int64_t total;
  };
  // notes/hf-config-keys.md and the safetensors totals of the model cards, without buffers,
  // multi-token-prediction modules, scales and tied heads stored twice.
  const auto known = std::to_array<Known>({
      {"llama3-405b", 405853388800},
      {"llama3.2-3b", 3212749824},
      {"llama4-maverick", 400711848960},
      {"mixtral-8x22b", 140630071296},
      {"qwen2.5-0.5b", 494032768},
      {"qwen2.5-1.5b", 1543714304},
      {"qwen2.5-3b", 3085938688},
      {"qwen2.5-14b", 14770033664},
      {"qwen2.5-32b", 32763876352},
      {"qwen2.5-72b", 72706203648},
      {"qwen3-1.7b", 1720574976},
      {"qwen3-4b", 4022468096},
      {"qwen3-8b", 8190735360},
      {"qwen3-14b", 14768307200},
      {"qwen3-235b-a22b", 235093634560},
      {"qwen3-coder-480b-a35b", 480154875392},
      {"qwen3-next-80b-a3b", 79674391296},
      {"kimi-k2", 1026408232448},
      {"kimi-linear-48b-a3b", 49122681728},
      {"gemma-7b", 8537680896},
      {"gemma2-2b", 2614341888},
      {"gemma2-27b", 27227128320},
      {"gemma3-27b", 27009346304},
      {"phi-2", 2779683840},
      {"phi-3-medium", 13960238080},
      {"phi-4", 14659507200},
      {"phi-3.5-moe", 41873153344},
      {"command-r", 34980831232},
      {"command-r-plus", 103810674688},
      {"command-r7b", 8028033024},
      {"olmo2-13b", 13716198400},
      {"olmoe-1b-7b", 6919161856},
      {"starcoder2-15b", 15957889024},
      {"internlm2-20b", 19861149696},
      {"glm-4-9b", 9399951360},
      {"codestral-mamba-7b", 7285403648},
      {"falcon-mamba-7b", 7272665088},
      {"falcon-180b", 178557088768},
      {"mpt-7b", 6649286656},
      {"dbrx", 131596523520},
      {"bloom-176b", 176247271424},
      {"gpt2-xl", 1557611200},
      {"gpt-neox-20b", 20554567680},
      {"baichuan2-7b", 7505973248},
      {"exaone-3.5-7.8b", 7818448896},
      {"smollm3-3b", 3075098624},
      {"seed-oss-36b", 36151104512},
      {"ernie-4.5-21b-a3b", 21825437888},
      {"dots.llm1", 142774381696},
      {"hunyuan-a13b", 80393183232},
      {"lfm2-1.2b", 1170340608},
      {"minimax-text-01", 456089655296},
      {"stablelm-2-12b", 12143185920},
      {"chatglm3-6b", 6243584000},
  });
  for (const Known& model : known) {
    CAPTURE(model.name);
    const auto graph = import_model(model.name, Phase::kDecode);
    REQUIRE(graph);
    CHECK(parameter_counts(*graph).total == model.total);
  }
}

TEST_CASE("active parameters follow each maker's definition", "[frontend][hf]") {
  // OpenAI leaves the input embedding out; Qwen counts embedding and head.
  CHECK(parameter_counts(*import_model("gpt-oss-20b", Phase::kDecode)).active_without_embedding ==
        3608307264);
  CHECK(parameter_counts(*import_model("gpt-oss-120b", Phase::kDecode)).active_without_embedding ==
        5132849472);
  CHECK(parameter_counts(*import_model("qwen3-30b-a3b", Phase::kDecode)).active == 3353032704);
}

TEST_CASE("a tied head counts once as parameters and still multiplies", "[frontend][hf]") {
  // huggingface/transformers#14960: 124439808, not 38597376 more; the head costs 2 x 50257 x 768
  // FLOP a token.
  const auto graph = import_model("gpt2", Phase::kDecode);
  REQUIRE(graph);
  CHECK(parameter_counts(*graph).total == 124439808);
  const ir::Op* head = find(*graph, "head");
  REQUIRE(head != nullptr);
  CHECK(ir::to_string(*count(graph->instantiate(*head, head->def->flops),
                             step(Phase::kDecode, 1, 128))) == "77194752");
}

}  // namespace mansard::frontend
