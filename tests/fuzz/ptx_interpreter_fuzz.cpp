#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "frontend/ptx/interpreter/interpreter.hpp"
#include "frontend/ptx/parser.hpp"

namespace ptx = mansard::frontend::ptx;

/// Every kernel of a module that is read runs to its end or to an error, within its limits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  auto source =
      std::make_shared<mansard::SourceFile>(mansard::SourceFile{"fuzz.ptx", std::move(text)});
  const auto parsed = ptx::parse(source, {.unknown_opcodes = ptx::UnknownOpcodes::kKeep});
  if (!parsed) {
    return 0;
  }
  for (const ptx::Function& function : parsed->module.functions) {
    if (!function.is_entry || !function.has_body) {
      continue;
    }
    ptx::Memory memory;
    const std::uint64_t buffer = memory.allocate(4096);
    memory.fill_random(buffer, 1);
    ptx::Launch launch = {.block = {48}};
    for (const ptx::VariableId id : function.parameters) {
      launch.arguments.push_back({std::string(parsed->module.variable(id).name), buffer});
    }
    const auto counts = ptx::interpret(parsed->module, function, launch, memory,
                                       {.warp_instructions = 2000, .block_bytes = 1 << 24});
    if (!counts) {
      static_cast<void>(mansard::render(counts.error()));
    }
  }
  return 0;
}
