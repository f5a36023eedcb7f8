#include "ir/passes/shard_rules.hpp"

#include <algorithm>

namespace mansard::ir {
namespace {

constexpr DimRule strict(std::string_view name, std::string_view otherwise = {}) {
  return {.names = {name, otherwise}, .strict = true};
}
constexpr DimRule rounded(std::string_view name, std::string_view otherwise = {}) {
  return {.names = {name, otherwise}, .strict = false};
}

// Megatron-LM (arXiv 1909.08053, section 3) for columns, rows, heads and the vocabulary.
constexpr std::array kRules = {
    SplitRule{"matmul", Split::kColumn, {strict("b", "n")}},
    SplitRule{"matmul", Split::kHeads, {strict("b", "n")}},
    SplitRule{"matmul", Split::kRow, {strict("k")}, Completion::kReduce},
    SplitRule{"matmul", Split::kVocabulary, {rounded("n")}, Completion::kGather},
    SplitRule{"grouped_matmul", Split::kColumn, {strict("n")}},
    SplitRule{"grouped_matmul", Split::kRow, {strict("k")}, Completion::kReduce},
    SplitRule{"attention", Split::kHeads, {strict("h"), strict("g")}},
    SplitRule{"mla_attention", Split::kHeads, {strict("h")}},
    SplitRule{"linear_attention", Split::kHeads, {strict("g"), strict("h")}},
    SplitRule{"ssm_scan", Split::kHeads, {strict("h"), rounded("x"), rounded("g")}},
    SplitRule{"ssm_scan", Split::kColumn, {strict("h"), rounded("x"), rounded("g")}},
    SplitRule{"convolution", Split::kHeads, {rounded("n"), rounded("i")}},
    SplitRule{"convolution", Split::kColumn, {rounded("n"), rounded("i")}},
    SplitRule{"norm", Split::kHeads, {rounded("r", "c")}},
    SplitRule{"norm", Split::kColumn, {rounded("c", "r")}},
    SplitRule{"elementwise", Split::kHeads, {rounded("n"), rounded("i")}},
    SplitRule{"elementwise", Split::kColumn, {rounded("n"), rounded("i")}},
    SplitRule{"elementwise", Split::kExperts, {rounded("n"), rounded("i")}},
    SplitRule{"softmax", Split::kHeads, {rounded("r")}},
    SplitRule{"rope", Split::kHeads, {rounded("r")}},
    SplitRule{"kv_write", Split::kHeads, {rounded("n")}},
    SplitRule{"kv_write", Split::kColumn, {rounded("n")}},
    SplitRule{"embedding", Split::kVocabulary, {rounded("n")}, Completion::kReduce},
    SplitRule{"embedding", Split::kColumn, {strict("c")}, Completion::kGather},
};

}  // namespace

const SplitRule* find_split_rule(std::string_view kind, Split split) {
  const auto* const found = std::ranges::find_if(
      kRules, [&](const SplitRule& rule) { return rule.kind == kind && rule.split == split; });
  return found == kRules.end() ? nullptr : found;
}

}  // namespace mansard::ir
