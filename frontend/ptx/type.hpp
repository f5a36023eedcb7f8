#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mansard::frontend::ptx {

/// A PTX type: `.u32`, `.f16x2`, `.pred`. kNone where there is none.
enum class Type : std::uint8_t {
  kNone,
#define PTX_TYPE(enumerator, name, bits, kind) enumerator,
#include "frontend/ptx/types.def"
#undef PTX_TYPE
};

enum class TypeKind : std::uint8_t {
  kNone,
  kBits,
  kUnsigned,
  kSigned,
  kUnsignedPacked,
  kSignedPacked,
  kFloat,
  kFloatPacked,
  kPredicate,
  kOpaque,  ///< References to textures, samplers and surfaces.
};

/// The type that a modifier names ("u32", no dot).
[[nodiscard]] std::optional<Type> type_named(std::string_view name);
[[nodiscard]] std::string_view name_of(Type type);
/// Width of a value in bits: 1 for a predicate, 0 for kNone.
[[nodiscard]] unsigned bits_of(Type type);
/// Width in memory in bytes, sub-byte types rounded up to one.
[[nodiscard]] unsigned bytes_of(Type type);
[[nodiscard]] TypeKind kind_of(Type type);

/// Where a variable lives, or which window an access goes to. kGeneric is an access without a
/// state space.
enum class Space : std::uint8_t { kGeneric, kConst, kGlobal, kLocal, kParam, kShared, kTex, kReg };

/// The space that a directive or modifier names: "global", "shared", "shared::cta", "param::entry",
/// "const[3]" is not among them.
[[nodiscard]] std::optional<Space> space_named(std::string_view name);
[[nodiscard]] std::string_view name_of(Space space);

}  // namespace mansard::frontend::ptx
