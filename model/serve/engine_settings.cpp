#include "model/serve/engine_settings.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace mansard::model::serve {
namespace {

/// Looks settings up in the several mappings of a file; the first that has a key wins.
class Lookup {
 public:
  explicit Lookup(const Node& document) {
    const Node* resolved = document.find("resolved_config");
    for (const char* name : {"kv_cache", "engine_kwargs"}) {
      add(document.find(name));
    }
    if (resolved != nullptr && resolved->is_mapping()) {
      for (const char* name : {"scheduler_config", "cache_config", "parallel_config",
                               "compilation_config", "model_config"}) {
        add(resolved->find(name));
      }
    }
    add(document.find("hardware"));
    add(&document);
  }

  const Node* find(std::string_view key) const {
    for (const Node* mapping : mappings_) {
      const Node* value = mapping->find(key);
      if (value != nullptr && !value->is_null()) {
        return value;
      }
    }
    return nullptr;
  }

  template <typename T>
  void whole(std::string_view key, T& to, std::int64_t least) {
    const Node* value = find(key);
    if (value == nullptr) {
      return;
    }
    const auto number = value->as_integer();
    if (!number || *number < least || *number > std::numeric_limits<std::int32_t>::max()) {
      return wrong(key, fmt::format("a whole number from {}", least), *value);
    }
    to = static_cast<T>(*number);
  }

  void flag(std::string_view key, bool& to) {
    const Node* value = find(key);
    if (value == nullptr) {
      return;
    }
    const auto flag = value->as_bool();
    flag ? void(to = *flag) : wrong(key, "true or false", *value);
  }

  void number(std::string_view key, double& to, double least, double most) {
    const Node* value = find(key);
    if (value == nullptr) {
      return;
    }
    const auto number = value->as_number();
    if (!number || !(*number >= least && *number <= most)) {
      return wrong(key, fmt::format("a number from {} to {}", least, most), *value);
    }
    to = *number;
  }

  void text(std::string_view key, std::string& to) {
    const Node* value = find(key);
    if (value != nullptr && value->is_scalar()) {
      to = value->scalar;
    }
  }

  void sizes(std::string_view key, std::vector<std::uint32_t>& to) {
    const Node* value = find(key);
    if (value == nullptr) {
      return;
    }
    for (const Node& item : value->items) {
      const auto size = item.as_integer();
      if (!size || *size < 1 || *size > std::numeric_limits<std::int32_t>::max()) {
        return wrong(key, "whole numbers from 1", item);
      }
      to.push_back(static_cast<std::uint32_t>(*size));
    }
    std::ranges::sort(to);
  }

  void wrong(std::string_view key, std::string_view expected, const Node& found) {
    diagnostics.push_back({.id = "engine-setting",
                           .message = fmt::format("{}: expected {}", key, expected),
                           .location = found.location});
  }

  Diagnostics diagnostics;

 private:
  void add(const Node* mapping) {
    if (mapping != nullptr && mapping->is_mapping()) {
      mappings_.push_back(mapping);
    }
  }

  std::vector<const Node*> mappings_;
};

void read_cache(Lookup& file, EngineSettings& s) {
  file.whole("block_size", s.block_size, 1);
  std::uint64_t blocks = 0;
  for (const char* key : {"num_gpu_blocks", "num_gpu_blocks_override"}) {
    file.whole(key, blocks, 1);
  }
  if (blocks > 0) {
    s.num_blocks = blocks;
  }
  file.flag("enable_prefix_caching", s.enable_prefix_caching);
  file.number("gpu_memory_utilization", s.gpu_memory_utilization, 0, 1);
  double bytes = 0;
  file.number("device_total_memory_bytes", bytes, 1, 1e15);
  if (bytes > 0) {
    s.device_bytes = bytes;
  }
}

void read_scheduler(Lookup& file, EngineSettings& s) {
  file.whole("max_num_seqs", s.max_num_seqs, 1);
  file.whole("max_num_batched_tokens", s.max_num_batched_tokens, 1);
  file.whole("max_model_len", s.max_model_len, 0);
  file.whole("long_prefill_token_threshold", s.long_prefill_token_threshold, 0);
  file.flag("enable_chunked_prefill", s.enable_chunked_prefill);
  file.flag("async_scheduling", s.async_scheduling);
  file.flag("scheduler_reserve_full_isl", s.reserve_full_sequence);
  file.flag("enforce_eager", s.enforce_eager);
  file.number("watermark", s.watermark, 0, 1);
  std::string policy = "fcfs";
  file.text("policy", policy);
  if (policy == "priority") {
    s.order = QueueOrder::kPriority;
  }
  file.sizes("cudagraph_capture_sizes", s.capture_sizes);
}

}  // namespace

std::vector<std::uint32_t> EngineSettings::captured() const {
  if (enforce_eager) {
    return {};
  }
  if (!capture_sizes.empty()) {
    return capture_sizes;
  }
  const std::uint32_t most = std::min(2 * max_num_seqs, 512U);
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 1; size <= most;
       size += size < 4 ? size : (size < 8 ? 4 : (size < 256 ? 8 : 16))) {
    sizes.push_back(size);
  }
  return sizes;
}

Result<EngineFile> read_engine(const Node& document) {
  if (!document.is_mapping()) {
    return failure("engine-file", "expected a mapping of engine settings", document.location);
  }
  Lookup file(document);
  EngineFile result;
  read_cache(file, result.settings);
  read_scheduler(file, result.settings);
  file.text("model", result.model);
  file.text("device_name", result.device);
  file.whole("tensor_parallel_size", result.tp, 1);
  file.whole("data_parallel_size", result.dp, 1);
  file.whole("pipeline_parallel_size", result.pp, 1);
  file.flag("enable_expert_parallel", result.expert_parallel);
  file.text("kv_cache_dtype", result.kv_dtype);
  file.text("quantization", result.quantization);
  if (!file.diagnostics.empty()) {
    return failure(std::move(file.diagnostics));
  }
  return result;
}

Result<void> check(const EngineSettings& settings) {
  if (!settings.enable_chunked_prefill &&
      settings.max_num_batched_tokens < settings.max_model_len) {
    return failure("engine-setting",
                   fmt::format("without chunked prefill a prompt must fit in one iteration: "
                               "max_num_batched_tokens {} is less than max_model_len {}",
                               settings.max_num_batched_tokens, settings.max_model_len));
  }
  if (settings.watermark >= 1) {
    return failure("engine-setting", "a watermark of 1 leaves no block to admit anything");
  }
  return {};
}

}  // namespace mansard::model::serve
