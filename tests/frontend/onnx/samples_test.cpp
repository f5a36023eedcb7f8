#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/algorithms.hpp"
#include "tests/frontend/counting.hpp"

namespace mansard::frontend {
namespace {

std::string samples() {
  return std::string(shared_folder()) + "/data/samples/onnx/";
}

ir::Graph sample(const std::string& name) {
  auto graph = import_model(samples() + name, Phase::kDecode);
  INFO((graph ? std::string() : render(graph.error())));
  REQUIRE(graph);
  return std::move(*graph);
}

/// One convolution or matrix by hand: multiply-adds are outputs x taps x input channels of a group.
struct Layer {
  std::int64_t outputs;    ///< Channels.
  std::int64_t positions;  ///< Output positions.
  std::int64_t inputs;     ///< Channels of a group, or features.
  std::int64_t taps = 1;
  std::int64_t times = 1;
};

std::int64_t work_of(const std::vector<Layer>& layers) {
  std::int64_t flops = 0;
  for (const Layer& l : layers) {
    flops += l.times * 2 * l.outputs * l.positions * l.inputs * l.taps;
  }
  return flops;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

TEST_CASE("nodes, ops and initializers of the samples are those of the oracle",
          "[frontend][onnx]") {
  if (shared_folder() == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  std::ifstream table(samples() + "ORACLE.tsv");
  std::string line;
  std::getline(table, line);
  std::size_t files = 0;
  while (std::getline(table, line)) {
    const std::vector<std::string> row = split(line, '\t');
    REQUIRE(row.size() == 10);
    CAPTURE(row[0]);
    const ir::Graph graph = sample(row[0]);
    const ir::FileFacts& file = *graph.facts.file;
    CHECK(file.format == "ONNX IR " + row[1]);
    for (const std::string& opset : split(row[2], ';')) {
      const std::size_t at = opset.find('=');
      CHECK(file.opsets.at(opset.substr(0, at)) == std::stoll(opset.substr(at + 1)));
    }
    CHECK(std::to_string(file.nodes) == row[3]);
    CHECK(std::to_string(file.initializers) == row[4]);
    CHECK(std::to_string(file.initializer_elements) == row[5]);
    CHECK(std::to_string(file.subgraph_nodes) == row[6]);
    for (const std::string& op : split(row[7], ',')) {
      const std::size_t at = op.rfind(':');
      CHECK(std::to_string(file.operators.at(op.substr(0, at))) == op.substr(at + 1));
    }
    std::size_t i = 0;
    for (const std::string& input : split(row[8], '|')) {
      const std::size_t at = input.rfind(':');
      CHECK(file.inputs.at(i).first == input.substr(0, at));
      CHECK(file.inputs.at(i).second == input.substr(at + 1));
      ++i;
    }
    CHECK(std::to_string(file.external_initializers) == row[9]);
    ++files;
  }
  CHECK(files == 8);
}

TEST_CASE("ResNet-50 has the parameters and the FLOP of its paper's table", "[frontend][onnx]") {
  if (shared_folder() == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  const ir::Graph graph = sample("light__light_resnet50.onnx");
  // He et al. 2015, table 1, the stride in the 3x3 as caffe2 has it: stages of 3, 4, 6 and 3
  // blocks.
  std::vector<Layer> layers = {{64, 112 * 112, 3, 49}, {1000, 1, 2048}};
  struct Stage {
    std::int64_t blocks, in, width, side, side_before;
  };
  for (const Stage s : {Stage{3, 64, 64, 56, 56}, Stage{4, 256, 128, 28, 56},
                        Stage{6, 512, 256, 14, 28}, Stage{3, 1024, 512, 7, 14}}) {
    const std::int64_t out = 4 * s.width;
    const std::int64_t positions = s.side * s.side;
    layers.push_back({out, positions, s.in});                          // shortcut
    layers.push_back({s.width, s.side_before * s.side_before, s.in});  // first 1x1
    layers.push_back({s.width, positions, out, 1, s.blocks - 1});      // 1x1 of the others
    layers.push_back({s.width, positions, s.width, 9, s.blocks});
    layers.push_back({out, positions, s.width, 1, s.blocks});
  }
  CHECK(flops(graph, {}) == std::to_string(work_of(layers)));
  // torchvision.models.resnet50: 25,557,032; running means and variances are buffers there too.
  CHECK(ir::parameter_counts(graph).total == 25557032);
}

TEST_CASE("AlexNet's convolutions count their two groups", "[frontend][onnx]") {
  if (shared_folder() == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  const ir::Graph graph = sample("light__light_bvlc_alexnet.onnx");
  // Krizhevsky et al. 2012 at 224 x 224 without padding of the first layer: 54, 26 and 12 wide.
  CHECK(flops(graph, {}) == std::to_string(work_of({{96, 54 * 54, 3, 121},
                                                    {256, 26 * 26, 48, 25},
                                                    {384, 12 * 12, 256, 9},
                                                    {384, 12 * 12, 192, 9},
                                                    {256, 12 * 12, 192, 9},
                                                    {4096, 1, 9216},
                                                    {4096, 1, 4096},
                                                    {1000, 1, 4096}})));
  // bvlc_alexnet: 60,965,224 parameters.
  CHECK(ir::parameter_counts(graph).total == 60965224);
}

TEST_CASE("SqueezeNet's fire modules add up", "[frontend][onnx]") {
  if (shared_folder() == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  const ir::Graph graph = sample("light__light_squeezenet.onnx");
  // Iandola et al. 2016, version 1.1 (a first layer of 64 filters of 3x3 with stride 2): 111 wide,
  // pooled to 55, 27 and 13.
  std::vector<Layer> layers = {{64, 111 * 111, 3, 9}, {1000, 13 * 13, 512}};
  struct Fire {
    std::int64_t in, squeeze, expand, side;
  };
  for (const Fire f : {Fire{64, 16, 64, 55}, Fire{128, 16, 64, 55}, Fire{128, 32, 128, 27},
                       Fire{256, 32, 128, 27}, Fire{256, 48, 192, 13}, Fire{384, 48, 192, 13},
                       Fire{384, 64, 256, 13}, Fire{512, 64, 256, 13}}) {
    const std::int64_t positions = f.side * f.side;
    layers.push_back({f.squeeze, positions, f.in});
    layers.push_back({f.expand, positions, f.squeeze});
    layers.push_back({f.expand, positions, f.squeeze, 9});
  }
  CHECK(flops(graph, {}) == std::to_string(work_of(layers)));
  CHECK(ir::parameter_counts(graph).total == 1235496);  // torchvision.models.squeezenet1_1
}

TEST_CASE("MobileNetV2 is counted without its external data", "[frontend][onnx]") {
  if (shared_folder() == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  const ir::Graph graph = sample("mobilenetv2.onnx");
  // Sandler et al. 2018, table 2: expansion t, channels c, repetitions n, stride s at 224 x 224.
  std::vector<Layer> layers = {{32, 112 * 112, 3, 9}, {1280, 49, 320}, {1000, 1, 1280}};
  std::int64_t channels = 32;
  std::int64_t side = 112;
  struct Row {
    std::int64_t t, c, n, s;
  };
  for (const Row row : {Row{1, 16, 1, 1}, Row{6, 24, 2, 2}, Row{6, 32, 3, 2}, Row{6, 64, 4, 2},
                        Row{6, 96, 3, 1}, Row{6, 160, 3, 2}, Row{6, 320, 1, 1}}) {
    for (std::int64_t i = 0; i < row.n; ++i) {
      const std::int64_t wide = row.t * channels;
      if (row.t > 1) {
        layers.push_back({wide, side * side, channels});
      }
      side /= i == 0 ? row.s : 1;
      layers.push_back({wide, side * side, 1, 9});  // Depthwise: a group a channel.
      layers.push_back({row.c, side * side, wide});
      channels = row.c;
    }
  }
  CHECK(flops(graph, {}) == std::to_string(work_of(layers)));
  // 3,504,872 of torchvision less the two scales a channel that are folded into the convolutions'
  // weights: the file's float initializers are all parameters.
  CHECK(ir::parameter_counts(graph).total == 3487816);
}

TEST_CASE("one convolution with groups and one linear are exact", "[frontend][onnx]") {
  if (shared_folder() == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  // x 2x4x6x5, w 6x2x3x2 (two groups): outputs 2 x 6 x 4 x 4, each of 2 channels x 6 taps.
  CHECK(flops(sample("pytorch-converted__test_Conv2d_groups__model.onnx"), {}) ==
        std::to_string(2 * 2 * 6 * 4 * 4 * 2 * 6));
  // 4x10 times 10x8.
  CHECK(flops(sample("pytorch-converted__test_Linear__model.onnx"), {}) ==
        std::to_string(2 * 4 * 10 * 8));
}

TEST_CASE("the Loop of the sample is a block whose trips are a symbol", "[frontend][onnx]") {
  if (shared_folder() == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  const ir::Graph graph = sample("attention_loopa24.onnx");
  bool symbolic = false;
  for (const ir::Block& block : graph.blocks()) {
    symbolic = symbolic || static_cast<bool>(block.repeats);
  }
  CHECK(symbolic);
  CHECK(!graph.facts.symbols.empty());
}

}  // namespace mansard::frontend
