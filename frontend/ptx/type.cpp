#include "frontend/ptx/type.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mansard::frontend::ptx {
namespace {

struct TypeFacts {
  std::string_view name;
  unsigned bits;
  TypeKind kind;
};

constexpr std::array kTypes = {
    TypeFacts{"", 0, TypeKind::kNone},
#define PTX_TYPE(enumerator, name, bits, kind) TypeFacts{name, bits, TypeKind::kind},
#include "frontend/ptx/types.def"
#undef PTX_TYPE
};

const TypeFacts& facts(Type type) {
  return kTypes[static_cast<std::size_t>(type)];
}

struct SpaceName {
  std::string_view name;
  Space space;
};

constexpr std::array kSpaces = {
    SpaceName{"const", Space::kConst},
    SpaceName{"global", Space::kGlobal},
    SpaceName{"local", Space::kLocal},
    SpaceName{"param", Space::kParam},
    SpaceName{"shared", Space::kShared},
    SpaceName{"tex", Space::kTex},
    SpaceName{"reg", Space::kReg},
    SpaceName{"shared::cta", Space::kShared},
    SpaceName{"shared::cluster", Space::kShared},
    SpaceName{"param::entry", Space::kParam},
    SpaceName{"param::func", Space::kParam},
};

}  // namespace

std::optional<Type> type_named(std::string_view name) {
  // The shortest name has two letters, the longest ten; most modifiers are no types.
  const auto* found = std::find_if(kTypes.begin() + 1, kTypes.end(),
                                   [&](const TypeFacts& type) { return type.name == name; });
  if (found == kTypes.end()) {
    return std::nullopt;
  }
  return static_cast<Type>(found - kTypes.begin());
}

std::string_view name_of(Type type) {
  return facts(type).name;
}

unsigned bits_of(Type type) {
  return facts(type).bits;
}

unsigned bytes_of(Type type) {
  return (facts(type).bits + 7) / 8;
}

TypeKind kind_of(Type type) {
  return facts(type).kind;
}

std::optional<Space> space_named(std::string_view name) {
  const auto* found = std::find_if(kSpaces.begin(), kSpaces.end(),
                                   [&](const SpaceName& space) { return space.name == name; });
  if (found == kSpaces.end()) {
    return std::nullopt;
  }
  return found->space;
}

std::string_view name_of(Space space) {
  const auto* found = std::find_if(kSpaces.begin(), kSpaces.end(),
                                   [&](const SpaceName& entry) { return entry.space == space; });
  return found == kSpaces.end() ? std::string_view() : found->name;
}

}  // namespace mansard::frontend::ptx
