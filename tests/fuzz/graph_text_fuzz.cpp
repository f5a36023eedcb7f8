#include <cstdint>
#include <cstdlib>
#include <string>

#include "ir/graph_text.hpp"

namespace {

mansard::Result<mansard::ir::Graph> parse(std::string text) {
  const auto file =
      std::make_shared<const mansard::SourceFile>(mansard::SourceFile{"fuzz", std::move(text)});
  return mansard::parse_yaml(file).and_then(
      [](const mansard::Node& node) { return mansard::ir::parse_graph(node); });
}

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

/// Whatever text is read, it ends in diagnostics or in a graph that prints and parses back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graph = parse(std::string(data, data + size));
  if (!graph) {
    require(!mansard::render(graph.error()).empty());
    return 0;
  }
  const std::string text = mansard::ir::print(*graph);
  const auto back = parse(text);
  require(back.has_value() && mansard::ir::print(*back) == text);
  return 0;
}
