#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ir/graph.hpp"

/// How tensor parallelism divides each kind of op, as one table.
namespace mansard::ir {

/// A dim that divides by the number of ranks: the first of `names` whose constant factor is more
/// than one ("b" of a matmul per head, else "n"). A strict one must divide evenly; others round up.
struct DimRule {
  std::array<std::string_view, 2> names;
  bool strict = false;
};

/// What must follow so that the next op finds what it expects.
enum class Completion : std::uint8_t { kNone, kReduce, kGather };

struct SplitRule {
  std::string_view kind;
  Split split = Split::kReplicated;
  std::array<DimRule, 3> dims;
  Completion completion = Completion::kNone;
};

/// Kinds and splits that are not in the table run whole on every rank.
[[nodiscard]] const SplitRule* find_split_rule(std::string_view kind, Split split);

}  // namespace mansard::ir
