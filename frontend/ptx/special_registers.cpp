#include "frontend/ptx/special_registers.hpp"

#include <array>
#include <unordered_map>

namespace mansard::frontend::ptx {
namespace {

constexpr std::array kSpecialRegisters = {
#define PTX_SPECIAL(name, components, type, major, minor, sm) \
  SpecialRegister{name, (components) != 0, Type::type, Version{major, minor}, sm},
#include "frontend/ptx/special_registers.def"
#undef PTX_SPECIAL
};

std::unordered_map<std::string_view, SpecialId> make_index() {
  std::unordered_map<std::string_view, SpecialId> index;
  for (std::size_t i = 0; i < kSpecialRegisters.size(); ++i) {
    index.emplace(kSpecialRegisters[i].name, static_cast<SpecialId>(i));
  }
  return index;
}

}  // namespace

std::span<const SpecialRegister> special_registers() {
  return kSpecialRegisters;
}

const SpecialRegister& special_register(SpecialId id) {
  return kSpecialRegisters[index(id)];
}

std::optional<SpecialId> special_register_named(std::string_view name) {
  static const std::unordered_map<std::string_view, SpecialId> kIndex = make_index();
  const auto found = kIndex.find(name);
  if (found == kIndex.end()) {
    return std::nullopt;
  }
  return found->second;
}

}  // namespace mansard::frontend::ptx
