#include "frontend/hf/quantization_scheme.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace mansard::frontend::hf {

namespace {

std::string text_of(const Node& object, std::string_view key) {
  const Node* node = object.find(key);
  return node != nullptr && node->is_scalar() ? node->scalar : "";
}

std::int64_t number_of(const Node& object, std::string_view key, std::int64_t otherwise) {
  const Node* node = object.find(key);
  return node != nullptr ? node->as_integer().value_or(otherwise) : otherwise;
}

bool is_true(const Node& object, std::string_view key) {
  const Node* node = object.find(key);
  return node != nullptr && node->as_bool().value_or(false);
}

/// Reads one quantization_config.
class SchemeReader {
 public:
  SchemeReader(Config& config, const Node& node) : config_(config), node_(node) {}

  std::optional<QuantizationScheme> read() {
    for (const std::string_view key :
         {"modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules",
          "llm_int8_skip_modules", "modules_not_to_convert"}) {
      read_ignored(key);
    }
    read_kv();
    const std::string method = text_of(node_, "quant_method");
    const auto known = std::ranges::find(kMethods, method, &Method::name);
    if (known == kMethods.end()) {
      refuse(method.empty() ? "a quantization_config without quant_method is not known"
                            : fmt::format("quantisation method '{}' is not known", method));
      return std::nullopt;
    }
    (this->*known->read)();
    return std::move(scheme_);
  }

 private:
  struct Method {
    std::string_view name;
    void (SchemeReader::*read)();
  };
  static const std::vector<Method> kMethods;

  void refuse(std::string message) {
    config_.refuse("config-quantization", std::move(message), node_.location,
                   "known: fp8, fbgemm_fp8, compressed-tensors, modelopt, mxfp4, gptq, awq, "
                   "bitsandbytes, quanto, torchao, hqq, eetq, bitnet");
  }

  const ir::Dtype* type(std::string_view name) { return ir::find_dtype(name); }

  void read_ignored(std::string_view key) {
    const Node* list = node_.find(key);
    if (list == nullptr || !list->is_sequence()) {
      return;
    }
    for (const Node& item : list->items) {
      if (!item.is_scalar() || !scheme_.ignored.add(item.scalar)) {
        config_.refuse("config-quantization", "pattern of modules is not understood",
                       item.location);
      }
    }
  }

  void read_kv() {
    const Node* cache = node_.find("kv_cache_scheme");
    const std::string name = text_of(node_, "kv_cache_quant_algo");
    const bool fp8 = name == "FP8" ||
                     (cache != nullptr && cache->is_mapping() &&
                      number_of(*cache, "num_bits", 0) == 8 && text_of(*cache, "type") == "float");
    if (fp8) {
      scheme_.kv = type("fp8");
    } else if (!name.empty() && name != "null" && name != "None") {
      refuse(fmt::format("KV cache format '{}' is not known", name));
    }
  }

  void add_all(QuantizedFormat format) {
    scheme_.groups.push_back({.format = format, .modules = {}, .all = true});
  }

  void read_fp8() {
    const Node* block = node_.find("weight_block_size");
    const bool blocks = block != nullptr && block->is_sequence() && !block->items.empty();
    if (blocks) {
      for (const Node& extent : block->items) {
        if (extent.as_integer().value_or(0) != 128) {
          config_.refuse("config-quantization", "fp8 blocks are known only as 128 x 128",
                         block->location);
          return;
        }
      }
    }
    add_all({type(blocks ? "fp8_block" : "fp8"), type("fp8")});
  }

  /// Weight-only integers with a scale a group, and a zero where they are not symmetric.
  const ir::Dtype* grouped_integer(std::int64_t bits, std::int64_t group, bool symmetric = false) {
    if (bits == 8) {
      return type("int8_wo");
    }
    if (bits != 4) {
      refuse(fmt::format("weights of {} bits are not known", bits));
      return type("int4_wo");
    }
    if (group <= 0) {
      config_.note("One scale a column is counted as one for each 128 weights.");
      return type("int4_wo");
    }
    const ir::Dtype* exact = type(fmt::format("int4_{}g{}", symmetric ? "sym_" : "", group));
    if (exact == nullptr && group != 128) {
      config_.note(
          fmt::format("Groups of {} weights are counted with the scales of groups of 128.", group));
    }
    return exact != nullptr ? exact : type("int4_wo");
  }

  void read_gptq() {
    const auto bits = number_of(node_, "bits", number_of(node_, "w_bit", 4));
    const auto group = number_of(node_, "group_size", number_of(node_, "q_group_size", 128));
    scheme_.includes_head = is_true(node_, "lm_head");
    add_all({grouped_integer(bits, group), nullptr});  // Files hold zeros all the same.
  }

  void read_bitsandbytes() {
    if (is_true(node_, "load_in_4bit") || is_true(node_, "_load_in_4bit")) {
      const std::string kind = text_of(node_, "bnb_4bit_quant_type");
      if (!kind.empty() && kind != "nf4" && kind != "fp4") {
        refuse(fmt::format("4-bit format '{}' is not known", kind));
      }
      add_all({type("nf4"), nullptr});
    } else {
      add_all({type("int8_wo"), nullptr});
    }
  }

  void read_quanto() {
    const std::string kind = text_of(node_, "weights");
    if (kind == "int8" || kind == "int4") {
      add_all({grouped_integer(kind == "int8" ? 8 : 4, 128), nullptr});
    } else if (kind == "float8") {
      add_all({type("fp8"), nullptr});
    } else {
      refuse(fmt::format("quanto weights '{}' are not known", kind.substr(0, 40)));
    }
    const std::string inputs = text_of(node_, "activations");
    if (!inputs.empty() && inputs != "null") {
      refuse(fmt::format("quanto activations '{}' are not known", inputs.substr(0, 40)));
    }
  }

  /// A name, or (since torchao 0.10) an object with the class of the configuration and its data.
  void read_torchao() {
    const Node* kind = node_.find("quant_type");
    const Node* settings = node_.find("quant_type_kwargs");
    if (kind != nullptr && kind->is_mapping()) {
      kind = kind->find("default") != nullptr ? kind->find("default") : kind;
      settings = kind->find("_data");
      kind = kind->find("_type");
    }
    const std::string name = kind != nullptr && kind->is_scalar() ? kind->scalar : "";
    const bool grouped = settings != nullptr && settings->is_mapping();
    const std::int64_t group = grouped ? number_of(*settings, "group_size", 128) : 128;
    if (name == "int8_weight_only" || name == "Int8WeightOnlyConfig") {
      add_all({type("int8_wo"), nullptr});
    } else if (name == "int4_weight_only" || name == "Int4WeightOnlyConfig") {
      add_all({grouped_integer(4, group), nullptr});
    } else if (name == "float8_weight_only" || name == "Float8WeightOnlyConfig") {
      add_all({type("fp8"), nullptr});
    } else if (name == "float8_dynamic_activation_float8_weight" ||
               name == "Float8DynamicActivationFloat8WeightConfig") {
      add_all({type("fp8"), type("fp8")});
    } else if (name == "int8_dynamic_activation_int8_weight" ||
               name == "Int8DynamicActivationInt8WeightConfig") {
      add_all({type("int8"), type("int8")});
    } else {
      refuse(fmt::format("torchao's quant_type '{}' is not known", name.substr(0, 60)));
    }
  }

  /// Scales and zeros of groups, in fp16 each: a few bits more than GPTQ's.
  void read_hqq() {
    const Node* outer = node_.find("quant_config");
    const Node* inner = outer != nullptr ? outer->find("weight_quant_params") : nullptr;
    if (inner == nullptr || !inner->is_mapping()) {
      refuse("hqq without quant_config.weight_quant_params is not known");
      return;
    }
    const auto bits = number_of(*inner, "nbits", 4);
    config_.note("HQQ's zeros are counted as 4-bit numbers.");
    add_all({grouped_integer(bits, number_of(*inner, "group_size", 64)), nullptr});
  }

  void read_eetq() { add_all({type("int8_wo"), nullptr}); }

  /// Packed, unless the weights are made ternary as they are used.
  void read_bitnet() {
    if (text_of(node_, "quantization_mode") == "online") {
      config_.note("The weights are stored whole and made ternary as they are used.");
    } else {
      add_all({type("ternary"), nullptr});
    }
  }

  void read_mxfp4() {
    scheme_.experts_only = true;
    add_all({type("mxfp4"), nullptr});
  }

  const ir::Dtype* float_format(const Node& args, std::int64_t bits) {
    const std::string strategy = text_of(args, "strategy");
    const std::int64_t group = number_of(args, "group_size", 0);
    if (bits == 8) {
      return type(strategy == "block" ? "fp8_block" : group == 32 ? "mxfp8" : "fp8");
    }
    if (bits == 4) {
      return type(group == 32 ? "mxfp4" : "nvfp4");
    }
    refuse(fmt::format("floating-point weights of {} bits are not known", bits));
    return nullptr;
  }

  /// compressed-tensors' default.
  static bool is_symmetric(const Node& args) {
    const Node* found = args.find("symmetric");
    return found == nullptr || found->as_bool().value_or(true);
  }

  /// What one argument object of a config group says; nothing for null.
  const ir::Dtype* format_of(const Node* args, bool weights, bool inputs_too) {
    if (args == nullptr || !args->is_mapping()) {
      return nullptr;
    }
    const std::int64_t bits = number_of(*args, "num_bits", 8);
    if (text_of(*args, "type") == "float") {
      return float_format(*args, bits);
    }
    if (weights && (bits < 8 || !inputs_too)) {
      return grouped_integer(bits, number_of(*args, "group_size", 128), is_symmetric(*args));
    }
    if (bits != 8) {
      refuse(fmt::format("integer activations of {} bits are not known", bits));
    }
    return type("int8");
  }

  void read_group(const Node& group) {
    const Node* inputs = group.find("input_activations");
    const bool inputs_too = inputs != nullptr && inputs->is_mapping();
    QuantizedGroup result;
    result.format.weights = format_of(group.find("weights"), true, inputs_too);
    result.format.inputs = format_of(inputs, false, true);
    const Node* targets = group.find("targets");
    result.all = targets == nullptr || !targets->is_sequence();
    for (const Node& target : result.all ? std::vector<Node>() : targets->items) {
      if (target.scalar == "Linear") {
        result.all = true;
      } else if (!result.modules.add(target.scalar)) {
        config_.refuse("config-quantization", "pattern of modules is not understood",
                       target.location);
      }
    }
    if (result.format.weights == nullptr && !inputs_too) {
      return;
    }
    scheme_.groups.push_back(std::move(result));
  }

  bool read_groups() {
    const Node* groups = node_.find("config_groups");
    if (groups == nullptr || !groups->is_mapping()) {
      return false;
    }
    for (const Node::Entry& group : groups->entries) {
      if (group.value.is_mapping()) {
        read_group(group.value);
      }
    }
    return true;
  }

  void read_compressed_tensors() {
    scheme_.includes_head = true;
    if (!read_groups()) {
      refuse("compressed-tensors without config_groups");
    }
  }

  std::optional<QuantizedFormat> algorithm(std::string_view name) {
    if (name == "FP8" || name == "FP8_PER_CHANNEL_PER_TOKEN") {
      return QuantizedFormat{type("fp8"), type("fp8")};
    }
    if (name == "FP8_PB_WO" || name == "FP8_PB" || name == "FP8_BLOCK") {
      return QuantizedFormat{type("fp8_block"), type("fp8")};
    }
    if (name == "NVFP4" || name == "W4A4_NVFP4") {
      return QuantizedFormat{type("nvfp4"), type("nvfp4")};
    }
    if (name == "NVFP4_AWQ" || name == "W4A16_NVFP4") {
      return QuantizedFormat{type("nvfp4"), nullptr};
    }
    if (name == "MXFP8") {
      return QuantizedFormat{type("mxfp8"), type("mxfp8")};
    }
    if (name == "W4A16_AWQ" || name == "W4A8_AWQ" || name == "W4A16") {
      return QuantizedFormat{type("int4_wo"), nullptr};
    }
    if (name == "W8A8_SQ_PER_CHANNEL" || name == "INT8_SQ") {
      return QuantizedFormat{type("int8"), type("int8")};
    }
    return std::nullopt;
  }

  void read_layers(const Node& layers) {
    for (const Node::Entry& layer : layers.entries) {
      const std::string name = layer.value.is_mapping() ? text_of(layer.value, "quant_algo") : "";
      const auto format = algorithm(name);
      if (!format) {
        config_.refuse("config-quantization",
                       fmt::format("quant_algo '{}' is not known", name.substr(0, 40)),
                       layer.value.location);
        return;
      }
      const auto same = std::ranges::find_if(scheme_.groups, [&](const QuantizedGroup& group) {
        return group.format.weights == format->weights && group.format.inputs == format->inputs;
      });
      QuantizedGroup& group = same != scheme_.groups.end() ? *same : scheme_.groups.emplace_back();
      group.format = *format;
      if (!group.modules.add(layer.key)) {
        config_.refuse("config-quantization", "pattern of modules is not understood",
                       layer.key_location);
      }
    }
  }

  void read_modelopt() {
    scheme_.includes_head = true;
    const std::string name = text_of(node_, "quant_algo");
    const Node* layers = node_.find("quantized_layers");
    if (layers != nullptr && layers->is_mapping()) {
      read_layers(*layers);
    } else if (const auto format = algorithm(name)) {
      add_all(*format);
    } else if (!read_groups()) {
      refuse(fmt::format("quant_algo '{}' is not known", name));
    }
  }

  /// Without a method: older modelopt files name only quant_algo.
  void read_unnamed() {
    if (text_of(node_, "quant_algo").empty()) {
      refuse("a quantization_config without quant_method is not known");
      return;
    }
    read_modelopt();
  }

  Config& config_;
  const Node& node_;
  QuantizationScheme scheme_;
};

const std::vector<SchemeReader::Method> SchemeReader::kMethods = {
    {"fp8", &SchemeReader::read_fp8},
    {"fbgemm_fp8", &SchemeReader::read_fp8},
    {"compressed-tensors", &SchemeReader::read_compressed_tensors},
    {"modelopt", &SchemeReader::read_modelopt},
    {"modelopt_fp4", &SchemeReader::read_modelopt},
    {"modelopt_mixed", &SchemeReader::read_modelopt},
    {"mxfp4", &SchemeReader::read_mxfp4},
    {"gptq", &SchemeReader::read_gptq},
    {"awq", &SchemeReader::read_gptq},
    {"gptq_marlin", &SchemeReader::read_gptq},
    {"awq_marlin", &SchemeReader::read_gptq},
    {"auto-round", &SchemeReader::read_gptq},
    {"intel/auto-round", &SchemeReader::read_gptq},
    {"bitsandbytes", &SchemeReader::read_bitsandbytes},
    {"quanto", &SchemeReader::read_quanto},
    {"torchao", &SchemeReader::read_torchao},
    {"hqq", &SchemeReader::read_hqq},
    {"eetq", &SchemeReader::read_eetq},
    {"bitnet", &SchemeReader::read_bitnet},
    {"", &SchemeReader::read_unnamed},
};

}  // namespace

std::optional<QuantizationScheme> read_quantization(Config& config) {
  const Node* current = config.find("quantization_config");
  const Node* older = config.find("compression_config");
  const Node* node = current != nullptr ? current : older;
  if (node == nullptr) {
    return std::nullopt;
  }
  if (!node->is_mapping()) {
    config.refuse("config-type", "expected an object", node->location);
    return std::nullopt;
  }
  return SchemeReader(config, *node).read();
}

}  // namespace mansard::frontend::hf
