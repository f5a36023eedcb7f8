#include "model/serve/deployment.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/memory.hpp"
#include "support/units.hpp"

namespace mansard::model::serve {
namespace {

constexpr double kSecondsPerHour = 3600;

/// What one device holds while it computes the largest iteration.
Result<DeviceMemory> memory_of(const DeploymentInputs& inputs) {
  Plan plan = inputs.plan;
  plan.microbatches = 1;
  auto graph = prepare(inputs.prefill, plan);
  if (!graph) {
    return failure(std::move(graph.error()));
  }
  const EngineSettings& s = inputs.settings;
  const double sequences = std::min(s.max_num_seqs, s.max_num_batched_tokens);
  const double tokens = std::ceil(s.max_num_batched_tokens / sequences);
  const ir::Bindings largest{{"batch", sequences * static_cast<double>(plan.parallelism.dp)},
                             {"q_len", tokens},
                             {"context", tokens}};
  const MemoryModel model = memory_model(*graph, 1);
  DeviceMemory result{.weights = ir::value(model.weights.expr(), largest),
                      .activations = ir::value(model.activations.expr(), largest),
                      .runtime = s.runtime_bytes};
  result.kv_per_token =
      ir::value(ir::kv_bytes_per_token(*graph), {{"batch", 1}, {"q_len", 1}, {"context", 1}});
  if (inputs.draft != nullptr) {
    result.weights += inputs.draft->weights;
    result.activations = std::max(result.activations, inputs.draft->activations);
    result.kv_per_token += inputs.draft->kv_per_token;
  }
  return result;
}

std::optional<double> capacity_of(const DeploymentInputs& inputs) {
  if (inputs.settings.device_bytes) {
    return inputs.settings.device_bytes;
  }
  const auto usable = inputs.machine.known("main.usable");
  return usable ? usable : inputs.machine.known("main.capacity");
}

/// Blocks given, or those that fit beside weights, activations and the runtime.
Result<std::uint64_t> blocks_of(const DeploymentInputs& inputs, DeviceMemory& memory) {
  const EngineSettings& s = inputs.settings;
  const double block = s.block_size * memory.kv_per_token;
  const auto capacity = capacity_of(inputs);
  memory.capacity = capacity.value_or(0) * s.gpu_memory_utilization;
  if (s.num_blocks) {
    memory.kv = static_cast<double>(*s.num_blocks) * block;
    return *s.num_blocks;
  }
  if (!capacity) {
    return failure("memory", fmt::format("{}: main.capacity is not known; give --num-blocks",
                                         inputs.machine.name));
  }
  const double left = memory.capacity - memory.weights - memory.activations - memory.runtime;
  if (left < 2 * block) {
    return failure(
        "memory",
        fmt::format(
            "{} does not fit: of {} usable on {} ({} utilised), weights take {}, "
            "activations {} and the runtime {}",
            inputs.decode.facts.name, format_measure(memory.capacity, kByte), inputs.machine.name,
            s.gpu_memory_utilization, format_measure(memory.weights, kByte),
            format_measure(memory.activations, kByte), format_measure(memory.runtime, kByte)),
        {}, "use more tensor parallel ranks, narrower formats or a larger memory");
  }
  if (block <= 0) {
    return std::uint64_t{1} << 20U;  // no cache grows with the context
  }
  const auto blocks = static_cast<std::uint64_t>(left / block);
  memory.kv = static_cast<double>(blocks) * block;
  return blocks;
}

Result<std::shared_ptr<StepModel>> timer_of(const DeploymentInputs& inputs) {
  if (inputs.timer != nullptr) {
    return inputs.timer;
  }
  CostOptions options = inputs.options;
  options.mode = inputs.settings.enforce_eager ? Mode::kEager : options.mode;
  return StepModel::build({.decode = inputs.decode,
                           .prefill = inputs.prefill,
                           .machine = inputs.machine,
                           .calibration = inputs.calibration,
                           .plan = inputs.plan,
                           .options = options,
                           .captured = inputs.settings.captured()})
      .map([](std::unique_ptr<StepModel> built) { return std::shared_ptr(std::move(built)); });
}

}  // namespace

Result<Deployment> deploy(const DeploymentInputs& inputs) {
  auto memory = memory_of(inputs);
  if (!memory) {
    return failure(std::move(memory.error()));
  }
  const auto blocks = blocks_of(inputs, *memory);
  if (!blocks) {
    return failure(blocks.error());
  }
  auto timer = timer_of(inputs);
  if (!timer) {
    return failure(std::move(timer.error()));
  }
  Deployment result;
  result.timer = std::move(*timer);
  result.memory = *memory;
  result.assumptions = result.timer->assumptions();
  Pool& pool = result.pool;
  pool.name = inputs.machine.name;
  pool.settings = inputs.settings;
  pool.settings.num_blocks = *blocks;
  if (pool.settings.max_model_len == 0) {
    pool.settings.max_model_len =
        static_cast<std::uint32_t>(std::max<std::int64_t>(inputs.decode.facts.max_context, 0));
  }
  if (auto checked = check(pool.settings); !checked) {
    return failure(std::move(checked.error()));
  }
  pool.timer = result.timer.get();
  const auto ranks = static_cast<double>(inputs.plan.parallelism.dp);
  pool.gpus = static_cast<double>(inputs.plan.gpus()) / ranks;
  pool.stages = static_cast<double>(inputs.plan.pp);
  pool.blocks = *blocks - 1;  // one block stands for none (vLLM's null block)
  pool.block_bytes = inputs.settings.block_size * memory->kv_per_token * pool.gpus;
  pool.swap_bytes_per_second = inputs.machine.known("host.bandwidth").value_or(0) * pool.gpus;
  if (pool.settings.preemption == Preemption::kSwap && pool.swap_bytes_per_second <= 0) {
    return failure(
        "engine-setting",
        fmt::format("swapping needs host.bandwidth, which {} does not state", inputs.machine.name),
        {}, "give it: --set host.bandwidth='32 GB/s'");
  }
  pool.host_blocks =
      pool.block_bytes > 0
          ? static_cast<std::uint64_t>(inputs.settings.swap_bytes * pool.gpus / pool.block_bytes)
          : 0;
  const auto price = inputs.machine.known("price");
  if (inputs.usd_per_gpu_hour) {
    pool.usd_per_second = *inputs.usd_per_gpu_hour / kSecondsPerHour * pool.gpus;
  } else if (price) {
    pool.usd_per_second = *price * pool.gpus;
  }
  if (const auto idle = inputs.machine.known("power.idle")) {
    pool.idle_watts = *idle * pool.gpus;
  }
  return result;
}

}  // namespace mansard::model::serve
