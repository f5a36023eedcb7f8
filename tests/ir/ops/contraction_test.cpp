#include <catch2/catch.hpp>

#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {

TEST_CASE("a matmul counts two FLOP per multiply-add", "[ir][ops]") {
  CHECK(count_of("matmul", &OpDef::flops, {{"b", 1}, {"m", 2}, {"n", 3}, {"k", 5}}) == "60");
}

TEST_CASE("a bias adds one vector FLOP per output and no contraction", "[ir][ops]") {
  CHECK(count_of("matmul", &OpDef::vector_flops,
                 {{"b", 1}, {"m", 2}, {"n", 3}, {"k", 5}, {"bias", 1}}) == "6");
  CHECK(count_of("matmul", &OpDef::vector_flops, {{"b", 1}, {"m", 2}, {"n", 3}, {"k", 5}}) == "0");
}

TEST_CASE("scaled dot product attention counts QK^T and PV once", "[ir][ops]") {
  // pytorch#195460 and #134804: q, k, v of (1, 12, 64, 64), no mask: 4 * 12 * 64 * 64 * 64.
  CHECK(count_of("attention", &OpDef::flops,
                 {{"b", 1},
                  {"h", 12},
                  {"g", 12},
                  {"q", 64},
                  {"t", 64},
                  {"p", 64 * 64},
                  {"d", 64},
                  {"v", 64}}) == "12582912");
}

TEST_CASE("attention FLOP do not depend on the number of heads at a fixed width", "[ir][ops]") {
  // fvcore#153: 4 S^2 d whatever the heads.
  const auto flops = [](double heads) {
    return count_of("attention", &OpDef::flops,
                    {{"b", 1},
                     {"h", heads},
                     {"g", heads},
                     {"q", 128},
                     {"t", 128},
                     {"p", 128 * 128},
                     {"d", 768 / heads},
                     {"v", 768 / heads}});
  };
  CHECK(flops(12) == "50331648");
  CHECK(flops(1) == flops(12));
  CHECK(flops(24) == flops(12));
}

TEST_CASE("grouped queries read the keys of the KV heads only", "[ir][ops]") {
  // LLM-Viewer#12: query heads were taken, 8 times too much for Llama-2-70B.
  CHECK(touched_of("attention", "k",
                   {{"b", 1},
                    {"h", 64},
                    {"g", 8},
                    {"q", 1},
                    {"t", 1000},
                    {"p", 1000},
                    {"d", 128},
                    {"v", 128}}) == std::to_string(8 * 1000 * 128));
}

TEST_CASE("absorbed latent attention contracts over rank and rotary dims", "[ir][ops]") {
  // DeepSeek-V3, one token: 128 heads, rank 512, 64 rotary dims: 2 * 128 * (576 + 512) per key.
  CHECK(count_of("mla_attention", &OpDef::flops,
                 {{"b", 1}, {"h", 128}, {"q", 1}, {"t", 100}, {"p", 100}, {"r", 512}, {"d", 64}}) ==
        std::to_string(2 * 128 * (576 + 512) * 100));
  CHECK(
      touched_of("mla_attention", "cache",
                 {{"b", 1}, {"h", 128}, {"q", 1}, {"t", 100}, {"p", 100}, {"r", 512}, {"d", 64}}) ==
      "57600");
}

TEST_CASE("expert weights are read once per expert in use, rows once per choice", "[ir][ops]") {
  CHECK(count_of("grouped_matmul", &OpDef::flops,
                 {{"m", 32}, {"n", 768}, {"k", 2048}, {"e", 128}, {"u", 20}, {"l", 8}}) ==
        std::to_string(2LL * 32 * 768 * 2048));
  CHECK(touched_of("grouped_matmul", "w",
                   {{"m", 32}, {"n", 768}, {"k", 2048}, {"e", 128}, {"u", 20}, {"l", 8}}) ==
        std::to_string(20LL * 768 * 2048));
  CHECK(touched_of("grouped_matmul", "w",
                   {{"m", 32}, {"n", 768}, {"k", 2048}, {"e", 16}, {"u", 20}, {"l", 8}}) ==
        std::to_string(16LL * 768 * 2048));
}

TEST_CASE("the delta rule contracts the state three times a token", "[ir][ops]") {
  // Qwen3-Next: 32 value heads of 128 x 128, three contractions of 2 FLOP each.
  CHECK(count_of("linear_attention", &OpDef::flops,
                 {{"b", 1}, {"q", 1}, {"g", 16}, {"h", 32}, {"d", 128}, {"v", 128}}) ==
        std::to_string(3 * 2 * 32 * 128 * 128));
  CHECK(count_of("linear_attention", &OpDef::flops,
                 {{"b", 1}, {"q", 1}, {"g", 16}, {"h", 32}, {"d", 128}, {"v", 128}, {"a", 2}}) ==
        std::to_string(2 * 2 * 32 * 128 * 128));
}

TEST_CASE("a state space scan updates and reads each state element", "[ir][ops]") {
  // mamba-2.8b: 5120 channels of 16 states: 4 FLOP each, an exp per element.
  CHECK(count_of("ssm_scan", &OpDef::flops,
                 {{"b", 1}, {"q", 1}, {"h", 5120}, {"d", 1}, {"s", 16}, {"x", 81920}}) ==
        std::to_string(4 * 5120 * 16));
  CHECK(count_of("ssm_scan", &OpDef::special_ops,
                 {{"b", 1}, {"q", 1}, {"h", 5120}, {"d", 1}, {"s", 16}, {"x", 81920}}) == "81920");
}

TEST_CASE("a convolution counts its taps times its input channels", "[ir][ops]") {
  // The stem of ResNet-50, 224 x 224 x 3 to 112 x 112 x 64 by 7 x 7: 118013952 multiply-adds.
  CHECK(count_of("convolution", &OpDef::flops,
                 {{"b", 1}, {"n", 64}, {"k", 7 * 7 * 3}, {"o", 112 * 112}, {"i", 224 * 224 * 3}}) ==
        std::to_string(2LL * 118013952));
}

}  // namespace mansard::ir
