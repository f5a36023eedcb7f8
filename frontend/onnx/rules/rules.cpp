#include "frontend/onnx/rules.hpp"

#include <map>

#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

using Tables = std::map<std::string_view, RuleEntry>;

Tables all_tables() {
  Tables all;
  for (const auto table : {attention_rules(),
                           classical_rules(),
                           contraction_rules(),
                           control_rules(),
                           convolution_rules(),
                           elementwise_rules(),
                           expert_rules(),
                           extent_rules(),
                           gather_rules(),
                           generator_rules(),
                           image_rules(),
                           join_rules(),
                           loss_rules(),
                           movement_rules(),
                           norm_rules(),
                           optimizer_rules(),
                           packed_attention_rules(),
                           pool_rules(),
                           position_rules(),
                           quantize_rules(),
                           recurrent_rules(),
                           reduce_rules(),
                           search_rules(),
                           sequence_rules(),
                           shape_rules(),
                           slice_rules(),
                           text_rules()}) {
    for (const RuleEntry& entry : table) {
      all.emplace(entry.type, entry);
    }
  }
  return all;
}

}  // namespace

const RuleEntry* find_rule(std::string_view type) {
  static const Tables tables = all_tables();
  const auto found = tables.find(type);
  return found == tables.end() ? nullptr : &found->second;
}

}  // namespace mansard::frontend::onnx
