#pragma once

#include <memory>
#include <string>
#include <utility>

#include "frontend/ptx/parser.hpp"

namespace mansard::frontend::ptx {

/// A text as a file "test.ptx".
inline std::shared_ptr<const SourceFile> source_of(std::string text) {
  return std::make_shared<SourceFile>(SourceFile{"test.ptx", std::move(text)});
}

/// A module for sm_90 around some directives.
inline std::string module_text(const std::string& items) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n" + items;
}

/// A kernel `k(n, x)` for sm_90 around some statements; %r, %rd, %f, %fd, %rs and %p are declared.
inline std::string kernel_text(const std::string& body) {
  return module_text(
      ".visible .entry k(.param .u32 n, .param .u64 x)\n{\n"
      ".reg .pred %p<9>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
      ".reg .f32 %f<99>;\n.reg .f64 %fd<9>;\n" +
      body + "\n}\n");
}

}  // namespace mansard::frontend::ptx
