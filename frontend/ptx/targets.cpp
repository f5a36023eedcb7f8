#include "frontend/ptx/targets.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace mansard::frontend::ptx {
namespace {

constexpr std::array kVersions = {
#define PTX_VERSION(major, minor) Version{major, minor},
#include "frontend/ptx/targets.def"
#undef PTX_VERSION
};

struct KnownTarget {
  int sm;
  int version;
  int version_a;
  int version_f;
};

constexpr std::array kTargets = {
#define PTX_TARGET(sm, version, version_a, version_f) \
  KnownTarget{sm, version, version_a, version_f},
#include "frontend/ptx/targets.def"
#undef PTX_TARGET
};

bool has_any(const Form& form, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return form.has(word); });
}

bool has_scope(const Form& form) {
  return has_any(form, {"cta", "cluster", "gpu", "sys"});
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

bool is_float(Type type) {
  return type == Type::kF32 || type == Type::kF64;
}

/// What a conversion needs or may not have of a rounding.
std::string broken_conversion(const Form& form) {
  const Type to = form.type(0);
  const Type from = form.type(1);
  const bool is_from_float = kind_of(from) == TypeKind::kFloat;
  const bool is_to_float = kind_of(to) == TypeKind::kFloat;
  const bool rounds_to_integer = has_any(form, {"rni", "rzi", "rmi", "rpi"});
  const bool rounds = has_any(form, {"rn", "rz", "rm", "rp", "rna", "rs"});
  if (is_from_float && is_to_float) {
    const bool narrows = bits_of(to) < bits_of(from) || to == Type::kTf32;
    if (narrows && !rounds) {
      return "a narrowing conversion needs a rounding such as .rn";
    }
    if (to == from && rounds) {
      return "a conversion to the same type rounds to an integer (.rni) or not at all";
    }
    if (bits_of(to) > bits_of(from) && (rounds || rounds_to_integer)) {
      return "a widening conversion takes no rounding";
    }
  }
  if (is_from_float && !is_to_float && kind_of(to) != TypeKind::kFloatPacked &&
      !rounds_to_integer && kind_of(to) != TypeKind::kFloat) {
    return "a conversion to an integer needs a rounding such as .rzi";
  }
  if (form.has("sat") && !is_from_float && !is_to_float &&
      (kind_of(to) == kind_of(from)
           ? bits_of(to) >= bits_of(from)
           : kind_of(to) == TypeKind::kSigned && bits_of(to) > bits_of(from))) {
    return "'.sat' does not fit a conversion that cannot overflow";
  }
  if (form.has("ftz") && to != Type::kF32 && from != Type::kF32) {
    return "'.ftz' needs a conversion from or to .f32";
  }
  return {};
}

/// What an order of memory needs.
std::string broken_order(const Form& form) {
  const bool is_ordered = has_any(form, {"relaxed", "acquire", "release"});
  if (is_one_of(form.opcode, {"ld", "st", "mbarrier"}) && is_ordered && !has_scope(form) &&
      !form.has("async")) {
    return "an order of memory needs a scope such as .gpu";
  }
  if (form.has("nc") && form.space != Space::kGlobal) {
    return "'.nc' needs .global";
  }
  return {};
}

std::string broken_rounding(const Module& module, const Form& form) {
  constexpr Version kApproximate = {1, 4};
  const bool is_rounded = has_any(form, {"rn", "rz", "rm", "rp", "approx", "full"});
  if (is_rounded || module.version < kApproximate) {
    return {};
  }
  if (is_one_of(form.opcode, {"div", "rcp", "sqrt"}) && is_float(form.type())) {
    return fmt::format("'{}.{}' needs a rounding such as .rn{}", form.opcode, name_of(form.type()),
                       form.type() == Type::kF32 ? ", or .approx" : "");
  }
  if (is_one_of(form.opcode, {"rsqrt", "sin", "cos", "lg2", "ex2"})) {
    return fmt::format("'{}' needs .approx", form.opcode);
  }
  constexpr Version kRoundedMad = {3, 0};
  if (form.opcode == "mad" && is_float(form.type()) &&
      (module.version >= kRoundedMad || form.type() == Type::kF64)) {
    return "'mad' of floating point needs a rounding such as .rn";
  }
  return {};
}

std::string broken_addressing(const Module& module, const Form& form) {
  constexpr Version kGeneric = {2, 0};
  constexpr int kFermi = 20;
  const bool is_access = is_one_of(form.opcode, {"ld", "st", "atom", "red"});
  if (is_access && form.space == Space::kGeneric &&
      (module.version < kGeneric || module.target.sm < kFermi)) {
    return "an access without a state space needs PTX 2.0 and sm_20";
  }
  return {};
}

std::string broken_convergence(const Module& module, const Form& form) {
  constexpr Version kRemoved = {6, 4};
  constexpr int kVolta = 70;
  const bool needs_sync = is_one_of(form.opcode, {"shfl", "vote"});
  if (needs_sync && !form.has("sync") && module.target.sm >= kVolta && module.version >= kRemoved) {
    return fmt::format("'{}' without .sync is gone from sm_70 and PTX 6.4 on", form.opcode);
  }
  return {};
}

}  // namespace

Version newest_version() {
  return kVersions.back();
}

bool is_version(Version version) {
  constexpr int kNext = kVersions.back().major + 1;
  return (version > newest_version() && version.major <= kNext) ||
         std::find(kVersions.begin(), kVersions.end(), version) != kVersions.end();
}

std::optional<Version> version_of_target(const Target& target) {
  const auto* found = std::find_if(kTargets.begin(), kTargets.end(),
                                   [&](const KnownTarget& each) { return each.sm == target.sm; });
  if (found == kTargets.end()) {
    return std::nullopt;
  }
  const int number = target.suffix == 'a'   ? found->version_a
                     : target.suffix == 'f' ? found->version_f
                                            : found->version;
  constexpr int kTen = 10;
  return number == 0 ? std::nullopt : std::optional<Version>({number / kTen, number % kTen});
}

std::string broken_rule(const Module& module, const Form& form) {
  if (std::string rule = broken_order(form); !rule.empty()) {
    return rule;
  }
  if (std::string rule = broken_rounding(module, form); !rule.empty()) {
    return rule;
  }
  if (std::string rule = broken_convergence(module, form); !rule.empty()) {
    return rule;
  }
  if (std::string rule = broken_addressing(module, form); !rule.empty()) {
    return rule;
  }
  const bool converts = form.opcode == "cvt" && !form.has("pack") && form.types.size() == 2;
  return converts ? broken_conversion(form) : std::string();
}

}  // namespace mansard::frontend::ptx
