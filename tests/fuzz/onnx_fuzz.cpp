#include <cstdint>
#include <string_view>

#include "frontend/onnx/onnx.hpp"
#include "ir/graph_totals.hpp"
#include "ir/passes/bind.hpp"
#include "ir/verify.hpp"

/// Whatever the bytes, an ONNX file is refused or makes a graph that verifies and can be totalled.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto graph = mansard::frontend::onnx::import_bytes(bytes, "fuzz.onnx", "fuzz");
  if (graph) {
    (void)mansard::ir::totals(*graph);
    (void)mansard::ir::parameter_counts(*graph);
    const auto meaning = mansard::ir::workload_meaning(*graph);
    (void)mansard::ir::bind_symbols(*graph, meaning);
    if (!mansard::ir::verify(*graph).empty()) {
      __builtin_trap();
    }
  }
  return 0;
}
