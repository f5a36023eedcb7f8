#include "ir/graph_text.hpp"

#include <catch2/catch.hpp>

#include "ir/graph_totals.hpp"
#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

Result<Graph> parse(const std::string& text) {
  return parse_yaml(std::make_shared<const SourceFile>(SourceFile{"test.ir.yaml", text}))
      .and_then([](const Node& node) { return parse_graph(node); });
}

std::string errors_of(const std::string& text) {
  const Result<Graph> graph = parse(text);
  return graph ? "" : render(graph.error());
}

constexpr const char* kMatmul = R"yaml(schema: mansard.graph/1
model: {name: tiny, layers: 1, hidden: 4, heads: 1, kv_heads: 1, vocabulary: 10, max_context: 0, activations: bf16}
notes:
  - "a \"note\": with # and \\"
blocks:
  - {name: layer, count: 3}
tensors:
  - {name: x, role: activation, dtype: bf16, shape: [batch * q_len, 4], block: layer}
  - {name: w, role: weight, dtype: mxfp4, shape: [4, 8], block: layer}
  - {name: y, role: activation, dtype: bf16, shape: ["min(batch, 7)", 8], block: layer}
ops:
  - {name: up, kind: matmul, block: layer, split: column, dims: {b: 1, k: 4, m: batch * q_len, n: 8}, operands: {a: x, w: w, c: y}, attributes: {function: "x, y"}}
)yaml";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("what is printed parses back to the same text", "[ir][text]") {
  const std::vector<LlamaShape> shapes = {kLlama31_8b, kMixtral, {.window = 16}, {.tied = true}};
  for (const LlamaShape& shape : shapes) {
    const Graph graph = llama(shape);
    const std::string text = print(graph);
    const Result<Graph> back = parse(text);
    REQUIRE(errors_of(text).empty());
    CHECK(print(*back) == text);
    CHECK(exact(totals(*back).flops, decode(3, 100)) == exact(totals(graph).flops, decode(3, 100)));
    CHECK(parameter_counts(*back).active == parameter_counts(graph).active);
  }
}

TEST_CASE("a text in the printed form is a fixed point", "[ir][text]") {
  const Result<Graph> graph = parse(kMatmul);
  REQUIRE(errors_of(kMatmul).empty());
  CHECK(print(*graph) == kMatmul);
}

TEST_CASE("an empty graph prints and parses", "[ir][text]") {
  const std::string text = print(Graph());
  REQUIRE(errors_of(text).empty());
  CHECK(print(*parse(text)) == text);
}

TEST_CASE("names that YAML would read as something else are quoted", "[ir][text]") {
  Graph graph;
  graph.facts.name = "null";
  graph.facts.notes = {"tab\there, bell\a, new\nline", "\xC3\xA9t\xC3\xA9", ""};
  graph.add_block("1e3", 1);
  graph.add_block("a: b", 1);
  graph.add_block("no", 2);
  const std::string text = print(graph);
  REQUIRE(errors_of(text).empty());
  const Graph back = *parse(text);
  CHECK(print(back) == text);
  CHECK(back.facts.name == "null");
  CHECK(back.facts.notes == graph.facts.notes);
  CHECK(back.blocks()[1].name == "a: b");
}

TEST_CASE("an unknown kind is named with its place and a suggestion", "[ir][text]") {
  CHECK(errors_of(replaced(kMatmul, "kind: matmul", "kind: matmull")) ==
        R"(test.ir.yaml:12:22: error: unknown kind 'matmull' [unknown-kind]
  12 |   - {name: up, kind: matmull, block: layer, split: column, dims: {b: 1, k: 4, m: batch * q_len, n: 8}, operands: {a: x, ...
     |                      ^^^^^^^ did you mean 'matmul'?
)");
}

TEST_CASE("all errors of a file are reported at once", "[ir][text]") {
  std::string text = replaced(kMatmul, "dtype: mxfp4", "dtype: mxfp3");
  text = replaced(text, "role: weight", "role: wheight");
  text = replaced(text, "split: column", "split: columns");
  text = replaced(text, "a: x", "a: z");
  text = replaced(text, "n: 8}", "nn: 8}");
  const std::string errors = errors_of(text);
  CHECK_THAT(errors, Catch::Contains("unknown dtype 'mxfp3'"));
  CHECK_THAT(errors, Catch::Contains("unknown role 'wheight'"));
  CHECK_THAT(errors, Catch::Contains("unknown split 'columns'"));
  CHECK_THAT(errors, Catch::Contains("unknown tensor 'z'"));
  CHECK_THAT(errors, Catch::Contains("the key 'n' is missing"));
  CHECK_THAT(errors, Catch::Contains("'nn'"));
}

TEST_CASE("what the verifier finds is located", "[ir][text]") {
  const std::string errors = errors_of(replaced(kMatmul, "m: batch * q_len", "m: bach"));
  CHECK_THAT(errors, Catch::Contains("test.ir.yaml:12:5: error: 'm' of op 'up' depends on 'bach'"));
}

TEST_CASE("malformed texts are refused", "[ir][text]") {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"schema: mansard.graph/1", "schema: mansard.graph/2"},
      {"blocks:", "blocs:"},
      {"count: 3", "count: 0"},
      {"count: 3", "count: many"},
      {"[4, 8]", "[4, [8]]"},
      {"[4, 8]", "[4, 8.5]"},
      {"[4, 8]", "[4, 8"},
      {"[4, 8]", "{4: 8}"},
      {"[4, 8]", "[4, -8]"},
      {"[4, 8]", "[4, batch]"},
      {"[4, 8]", "[4, 8 +]"},
      {"[4, 8]", "[4, 2]"},
      {"name: y,", "name: x,"},
      {"c: y}", "}"},
      {"c: y}", "c: w}"},
      {"dims: {b: 1, k: 4, m: batch * q_len, n: 8}", "dims: 7"},
      {", block: layer, split", ", block: lair, split"},
      {"activations: bf16", "activations: bf61"},
      {"hidden: 4", "hidden: x"},
  };
  for (const auto& [from, to] : cases) {
    CAPTURE(from, to);
    CHECK_FALSE(errors_of(replaced(kMatmul, from, to)).empty());
  }
}

TEST_CASE("a document of another kind is refused", "[ir][text]") {
  for (const char* text : {"", "[]", "7", "- {name: x}", "{}", "{tensors: 3}"}) {
    CAPTURE(text);
    CHECK_FALSE(errors_of(text).empty());
  }
}

}  // namespace mansard::ir
