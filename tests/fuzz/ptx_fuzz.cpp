#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "frontend/ptx/parser.hpp"
#include "frontend/ptx/printer.hpp"

namespace ptx = mansard::frontend::ptx;

/// Any bytes are read or refused; what is read prints as a text that is read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  auto source =
      std::make_shared<mansard::SourceFile>(mansard::SourceFile{"fuzz.ptx", std::move(text)});
  const auto parsed = ptx::parse(source, {.unknown_opcodes = ptx::UnknownOpcodes::kKeep});
  if (!parsed) {
    static_cast<void>(mansard::render(parsed.error()));
    return 0;
  }
  const std::string printed = ptx::print(parsed->module);
  auto again = std::make_shared<mansard::SourceFile>(mansard::SourceFile{"again.ptx", printed});
  const auto reparsed = ptx::parse(again, {.unknown_opcodes = ptx::UnknownOpcodes::kKeep});
  if (!reparsed || ptx::print(reparsed->module) != printed) {
    std::abort();
  }
  return 0;
}
