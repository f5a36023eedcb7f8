#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "frontend/ptx/ast.hpp"

namespace mansard::frontend::ptx {

/// A register that a thread can only read: `%tid`, `%laneid`, `%clock64`.
struct SpecialRegister {
  std::string_view name;
  bool is_vector = false;  ///< Has .x .y .z .w.
  Type type = Type::kNone;
  Version since;  ///< First ISA version.
  int sm = 0;     ///< First architecture.
};

[[nodiscard]] std::span<const SpecialRegister> special_registers();
[[nodiscard]] const SpecialRegister& special_register(SpecialId id);
[[nodiscard]] std::optional<SpecialId> special_register_named(std::string_view name);

}  // namespace mansard::frontend::ptx
