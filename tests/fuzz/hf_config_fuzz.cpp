#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "frontend/hf/hf.hpp"
#include "ir/verify.hpp"
#include "support/document.hpp"

/// A config.json of any content ends in a graph that verifies or in diagnostics that render.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mansard;  // NOLINT(google-build-using-namespace)
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document =
      parse_json(std::make_shared<SourceFile>(SourceFile{.name = "config.json", .text = text}));
  if (!document) {
    return 0;
  }
  for (const auto phase : {frontend::Phase::kDecode, frontend::Phase::kPrefill}) {
    const auto graph = frontend::hf::import_config(*document, "fuzz", phase);
    if (!graph && render(graph.error()).empty()) {
      __builtin_trap();
    }
    if (graph && (parameter_counts(*graph).total < 0 || !ir::verify(*graph).empty())) {
      __builtin_trap();
    }
  }
  return 0;
}
