#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "frontend/ptx/token_stream.hpp"

namespace mansard::frontend::ptx {

enum class ConstantKind : std::uint8_t { kSigned, kUnsigned, kFloat32, kFloat64 };

/// The value of a constant expression: 64 bits, what they mean in `kind`. kFloat32 is only the form
/// 0f3F800000; arithmetic makes it kFloat64.
struct Constant {
  ConstantKind kind = ConstantKind::kSigned;
  std::int64_t bits = 0;

  [[nodiscard]] bool is_float() const {
    return kind == ConstantKind::kFloat32 || kind == ConstantKind::kFloat64;
  }
};

/// Reads a constant expression of C's operators (?: included), the casts (.s64) and (.u64), and
/// WARP_SZ. Reports and gives nothing if there is none.
[[nodiscard]] std::optional<Constant> parse_constant(TokenStream& tokens, Report& report);

/// The same, of operators that bind at least as tightly as `*`: what may stand behind the + of an
/// address.
[[nodiscard]] std::optional<Constant> parse_term(TokenStream& tokens, Report& report);

/// A literal. Nothing if it is malformed or too large.
[[nodiscard]] std::optional<Constant> read_literal(const Token& token);

}  // namespace mansard::frontend::ptx
