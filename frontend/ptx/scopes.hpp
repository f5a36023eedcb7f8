#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/ptx/ast.hpp"

namespace mansard::frontend::ptx {

enum class EntityKind : std::uint8_t {
  kRegister,
  kUnusedRegister,  ///< Declared alone, not yet used: `type` and `width`.
  kVariable,
  kFunction,
  kLabel,
  kTargets,
  kPrototype,
};

/// What a name stands for.
struct Entity {
  EntityKind kind = EntityKind::kVariable;
  Type type = Type::kNone;
  std::uint8_t width = 1;
  std::uint32_t id = 0;
};

/// The names in force at a point of a module: nested scopes, the innermost wins. Registers of a
/// range `%r<100>` are made when they are first named.
class Scopes {
 public:
  Scopes() { open(); }

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  /// False if the innermost scope has the name already.
  bool declare(std::string_view name, Entity entity);
  /// Declares `name0` to `name(count-1)`; false if the innermost scope has that range or one of
  /// those names.
  bool declare_range(std::string_view name, std::uint32_t count, Type type, std::uint8_t width);
  /// The entity in the innermost scope that has the name, to be changed when a register is first
  /// used. Null if no scope has it.
  [[nodiscard]] Entity* find(std::string_view name);
  [[nodiscard]] Entity* find_innermost(std::string_view name);
  /// The same of the module's scope.
  [[nodiscard]] Entity* find_outermost(std::string_view name);
  void declare_outermost(std::string_view name, Entity entity);
  /// Some names that are declared, for did-you-mean.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct RangeOfNames {
    std::uint32_t count = 0;
    Type type = Type::kNone;
    std::uint8_t width = 1;
  };
  struct Scope {
    std::unordered_map<std::string_view, Entity> names;
    std::unordered_map<std::string_view, std::vector<RangeOfNames>> ranges;
  };

  [[nodiscard]] static const RangeOfNames* range_with(const Scope& scope, std::string_view name);
  [[nodiscard]] static Entity* find_in(Scope& scope, std::string_view name);

  std::vector<Scope> scopes_;
};

}  // namespace mansard::frontend::ptx
