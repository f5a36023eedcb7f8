#include "cli/kernel_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "frontend/ptx/interpreter/interpreter.hpp"
#include "model/kernel/analysis.hpp"
#include "support/document.hpp"
#include "support/suggest.hpp"

namespace mansard::cli {
namespace {

namespace ptx = frontend::ptx;
using ir::kNothing;

/// Buffers of noise are tried at these sizes until the kernel stays inside them.
constexpr std::array<std::uint64_t, 3> kSizes = {std::uint64_t{1} << 22, std::uint64_t{1} << 25,
                                                 std::uint64_t{1} << 28};
constexpr std::uint64_t kMostBytes = std::uint64_t{3} << 30;  ///< Of all buffers.
constexpr std::uint32_t kIntegerBound = 1024;
/// Its multiples, modulo 1, are evenly spread and in step with no row of a grid.
constexpr double kGoldenRatio = 0.6180339887498949;
constexpr DocumentLimits kFileLimits = {.bytes = std::size_t{1} << 30};

enum class Noise : std::uint8_t { kIntegers, kFp16, kBf16, kFp32, kFp64 };

Noise noise_of(std::string_view type) {
  return type == "f32"                      ? Noise::kFp32
         : type == "f64"                    ? Noise::kFp64
         : type == "f16" || type == "f16x2" ? Noise::kFp16
         : type.starts_with("bf16")         ? Noise::kBf16
                                            : Noise::kIntegers;
}

/// What the kernel takes the buffer of each parameter to hold, from the loads at its addresses.
std::map<std::uint32_t, Noise> contents(const ir::Kernel& kernel,
                                        const model::kernel::Counts& counts) {
  std::map<std::uint32_t, Noise> result;
  for (const model::kernel::Touch& touch : counts.touches) {
    const std::int64_t object = (touch.address >> ir::kObjectBits) - 1;
    const auto parameter = static_cast<std::uint32_t>(object);
    if (object >= 0 && parameter < kernel.parameters.size()) {
      result.try_emplace(parameter, noise_of(kernel.accesses[touch.access].type));
    }
  }
  return result;
}

template <typename Number>
void fill(std::span<std::byte> bytes, std::mt19937& random, Number (*make)(std::uint32_t)) {
  for (std::size_t i = 0; i + sizeof(Number) <= bytes.size(); i += sizeof(Number)) {
    const Number value = make(static_cast<std::uint32_t>(random()));
    std::memcpy(bytes.data() + i, &value, sizeof(Number));
  }
}

void fill(std::span<std::byte> bytes, Noise noise, std::uint32_t seed) {
  std::mt19937 random(seed);
  switch (noise) {
    case Noise::kFp32:
      return fill<float>(bytes, random,
                         [](std::uint32_t x) { return static_cast<float>(x >> 8U) * 0x1p-24F; });
    case Noise::kFp64:
      return fill<double>(bytes, random, [](std::uint32_t x) { return x * 0x1p-32; });
    case Noise::kFp16:  // 0.5 to 1
      return fill<std::uint16_t>(bytes, random, [](std::uint32_t x) {
        return static_cast<std::uint16_t>(0x3800U | (x & 0x3ffU));
      });
    case Noise::kBf16:
      return fill<std::uint16_t>(bytes, random, [](std::uint32_t x) {
        return static_cast<std::uint16_t>(0x3f00U | (x & 0x7fU));
      });
    case Noise::kIntegers:
      return fill<std::uint32_t>(bytes, random, [](std::uint32_t x) { return x % kIntegerBound; });
  }
}

/// The parameter that a member belongs to: "f_param_0" of "f_param_0[8]".
std::string whole(const ir::KernelParameter& parameter) {
  return parameter.name.substr(0, parameter.name.find('['));
}

ptx::Extent extent(const std::array<std::int64_t, 3>& sides) {
  return {static_cast<std::uint32_t>(sides[0]), static_cast<std::uint32_t>(sides[1]),
          static_cast<std::uint32_t>(sides[2])};
}

class Sampler {
 public:
  Sampler(const ptx::Module& module, const ir::Kernel& kernel, const ir::KernelFlow& flow,
          const model::kernel::Launch& launch, const SampleOptions& options)
      : module_(module),
        kernel_(kernel),
        flow_(flow),
        launch_(launch),
        options_(options),
        function_(*module.find_function(kernel.name)) {}

  Result<Sample> run(const std::set<std::uint32_t>& loops) {
    if (auto read = read_buffers(); !read) {
      return failure(std::move(read.error()));
    }
    noise_ = contents(kernel_, model::kernel::count(kernel_, flow_, launch_));
    Diagnostics last;
    for (const std::uint64_t bytes : kSizes) {
      if (bytes * kernel_.parameters.size() > kMostBytes) {
        break;
      }
      auto counts = interpret(bytes);
      if (counts) {
        return sample_of(*counts, loops, bytes);
      }
      last = std::move(counts.error());
      if (last.empty() || last.front().id != "ptx-bounds") {
        break;
      }
    }
    return failure(std::move(last));
  }

 private:
  Result<void> read_buffers() {
    std::vector<std::string> names;
    for (const ir::KernelParameter& each : kernel_.parameters) {
      names.push_back(model::kernel::display_name(each));
    }
    for (const std::string& each : options_.buffers) {
      const std::size_t equals = each.find('=');
      const std::string name = each.substr(0, equals);
      const auto found = std::find(names.begin(), names.end(), name);
      if (equals == std::string::npos || found == names.end()) {
        const auto meant = did_you_mean(name, names);
        return failure("kernel-buffer",
                       fmt::format("expected NAME=FILE of a pointer, found '{}'", each), {},
                       meant ? fmt::format("did you mean '{}'?", *meant) : "");
      }
      auto file = read_file(each.substr(equals + 1), kFileLimits);
      if (!file) {
        return failure(std::move(file.error()));
      }
      given_[static_cast<std::uint32_t>(found - names.begin())] = *std::move(file);
    }
    return {};
  }

  Result<ptx::Counts> interpret(std::uint64_t bytes) {
    ptx::Memory memory;
    ptx::Launch launch = {.grid = extent(launch_.grid),
                          .block = extent(launch_.block),
                          .dynamic_shared = static_cast<std::uint64_t>(launch_.dynamic_shared)};
    for (std::uint32_t p = 0; p < kernel_.parameters.size(); ++p) {
      const ir::KernelParameter& parameter = kernel_.parameters[p];
      if (parameter.is_pointer) {
        launch.arguments.push_back({whole(parameter), buffer(memory, p, bytes), parameter.offset});
        continue;
      }
      const bool bound = p < launch_.arguments.size() && launch_.arguments[p];
      if (!bound && !parameter.is_float) {
        return failure(
            "kernel-unbound",
            fmt::format("to sample, '{}' must be given", model::kernel::display_name(parameter)),
            {}, "by --arg NAME=VALUE");
      }
      launch.arguments.push_back({whole(parameter),
                                  bound ? static_cast<std::uint64_t>(*launch_.arguments[p]) : 0,
                                  parameter.offset});
    }
    const std::int64_t all = launch_.blocks();
    const std::int64_t some = std::clamp<std::int64_t>(options_.blocks, 1, all);
    std::set<std::uint64_t> chosen;
    for (std::int64_t i = 0; i < some; ++i) {
      const double share = (static_cast<double>(i) + 0.5) * kGoldenRatio;
      chosen.insert(
          static_cast<std::uint64_t>((share - std::floor(share)) * static_cast<double>(all)));
    }
    launch.blocks.assign(chosen.begin(), chosen.end());
    return ptx::interpret(module_, function_, launch, memory);
  }

  std::uint64_t buffer(ptx::Memory& memory, std::uint32_t parameter, std::uint64_t bytes) {
    if (const auto given = given_.find(parameter); given != given_.end()) {
      const std::string& text = given->second->text;
      const std::uint64_t address = memory.allocate(std::max<std::uint64_t>(1, text.size()));
      std::memcpy(memory.bytes(address).data(), text.data(), text.size());
      return address;
    }
    const std::uint64_t address = memory.allocate(bytes);
    if (const auto noise = noise_.find(parameter); noise != noise_.end()) {
      fill(memory.bytes(address), noise->second, parameter + 1);
    }
    return address;
  }

  Sample sample_of(const ptx::Counts& counts, const std::set<std::uint32_t>& loops,
                   std::uint64_t bytes) const {
    Sample sample{.blocks = static_cast<std::int64_t>(counts.blocks),
                  .bytes = bytes,
                  .computed = counts.not_computed.empty()};
    for (const std::uint32_t loop : loops) {
      sample.trips[loop] = trips_of(counts, loop);
    }
    return sample;
  }

  [[nodiscard]] model::kernel::Trips trips_of(const ptx::Counts& counts, std::uint32_t loop) const {
    const std::uint32_t header = flow_.loops[loop].header;
    const auto& inside = executions(counts, kernel_.blocks[header].first);
    const auto runs = static_cast<double>(inside.warps);
    double returns = 0;
    for (const std::uint32_t block : flow_.loops[loop].blocks) {
      returns += ways(counts, block, header);
    }
    if (runs <= returns) {
      return {};
    }
    const std::uint32_t above = flow_.dominator[header];
    const double before = above == kNothing ? 0 : lanes_in(counts, kernel_.blocks[above].first);
    const double active = before > 0 ? lanes_in(counts, kernel_.blocks[header].first) / before : 1;
    return {.count = runs / (runs - returns), .active = std::min(1.0, active)};
  }

  /// Active lanes of a warp, on average.
  [[nodiscard]] double lanes_in(const ptx::Counts& counts, std::uint32_t instruction) const {
    const ptx::InstructionCounts& each = executions(counts, instruction);
    return each.warps > 0 ? static_cast<double>(each.threads) / static_cast<double>(each.warps) : 0;
  }

  /// Warps that went from the end of `block` to `to`.
  [[nodiscard]] double ways(const ptx::Counts& counts, std::uint32_t block,
                            std::uint32_t to) const {
    const ir::KernelBlock& at = kernel_.blocks[block];
    if (at.count == 0 || (at.taken != to && at.next != to)) {
      return 0;
    }
    const ptx::InstructionCounts& last = executions(counts, at.first + at.count - 1);
    if (at.predicate == kNothing) {
      return static_cast<double>(last.warps);
    }
    return static_cast<double>(at.taken == to ? last.taken : last.passed);
  }

  [[nodiscard]] const ptx::InstructionCounts& executions(const ptx::Counts& counts,
                                                         std::uint32_t instruction) const {
    static const ptx::InstructionCounts kNone;
    const std::uint32_t position = kernel_.instructions[instruction].position;
    const auto& all = function_.instructions;
    const auto found =
        std::lower_bound(all.begin(), all.end(), position,
                         [](const auto& each, std::uint32_t at) { return each.position < at; });
    return found == all.end() ? kNone
                              : counts.instructions[static_cast<std::size_t>(found - all.begin())];
  }

  const ptx::Module& module_;
  const ir::Kernel& kernel_;
  const ir::KernelFlow& flow_;
  const model::kernel::Launch& launch_;
  const SampleOptions& options_;
  const ptx::Function& function_;
  std::map<std::uint32_t, std::shared_ptr<const SourceFile>> given_;
  std::map<std::uint32_t, Noise> noise_;
};

}  // namespace

Result<Sample> sample_trips(const ptx::Module& module, const ir::Kernel& kernel,
                            const ir::KernelFlow& flow, const model::kernel::Launch& launch,
                            const std::set<std::uint32_t>& loops, const SampleOptions& options) {
  return Sampler(module, kernel, flow, launch, options).run(loops);
}

}  // namespace mansard::cli
