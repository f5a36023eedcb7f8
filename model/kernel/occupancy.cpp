#include "model/kernel/occupancy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace mansard::model::kernel {
namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// The figures of a machine file that occupancy needs.
class Limits {
 public:
  explicit Limits(const hardware::Machine& machine) : machine_(machine) {}

  std::int64_t operator()(const std::string& name) {
    const std::string path = name == "sm_count" ? name : "occupancy." + name;
    const Result<double> value = machine_.value(path);
    if (!value) {
      errors_.insert(errors_.end(), value.error().begin(), value.error().end());
      return 1;
    }
    return static_cast<std::int64_t>(std::llround(*value));
  }
  [[nodiscard]] std::int64_t or_else(const std::string& name, std::int64_t otherwise) const {
    return static_cast<std::int64_t>(
        std::llround(machine_.known("occupancy." + name).value_or(static_cast<double>(otherwise))));
  }
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }

 private:
  const hardware::Machine& machine_;
  Diagnostics errors_;
};

}  // namespace

Result<Occupancy> occupancy(const hardware::Machine& machine, const Resources& resources,
                            const Launch& launch) {
  Limits limit(machine);
  const std::int64_t warp_size = limit.or_else("warp_size", kLanes);
  const std::int64_t warps = (launch.threads() + warp_size - 1) / warp_size;
  const std::int64_t max_warps = limit("max_warps");
  const std::int64_t max_blocks = limit("max_blocks");
  const std::int64_t registers = limit("registers");
  const std::int64_t shared = limit("shared");
  const std::int64_t per_block = limit.or_else("shared_per_block", shared);
  const std::int64_t sm_count = limit("sm_count");
  if (!limit.errors().empty()) {
    return failure(limit.errors());
  }
  const std::int64_t used = resources.static_shared + launch.dynamic_shared;
  if (used > per_block) {
    return failure("kernel-shared",
                   fmt::format("a block needs {} bytes of shared memory, {} has {}", used,
                               machine.name, per_block));
  }
  struct Candidate {
    std::int64_t blocks;
    const char* name;
  };
  const std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  const std::int64_t warp_registers =
      rounded_up(std::max<std::int64_t>(1, resources.registers) * warp_size,
                 limit.or_else("register_unit", 256));
  const std::int64_t unit = limit.or_else("warp_unit", 4);
  const std::int64_t by_registers = registers / warp_registers / unit * unit / warps;
  const std::int64_t allocated =
      rounded_up(used + limit.or_else("shared_reserved", 0), limit.or_else("shared_unit", 128));
  const Candidate candidates[] = {{max_warps / warps, "warps"},
                                  {max_blocks, "blocks"},
                                  {resources.registers > 0 ? by_registers : no_limit, "registers"},
                                  {allocated > 0 ? shared / allocated : no_limit, "shared memory"}};
  const Candidate* least = &candidates[0];
  for (const Candidate& each : candidates) {
    if (each.blocks < least->blocks) {
      least = &each;
    }
  }
  if (least->blocks == 0) {
    return failure("kernel-block", fmt::format("a block of {} threads does not fit an SM of {}: {}",
                                               launch.threads(), machine.name, least->name));
  }
  Occupancy result{.blocks_per_sm = least->blocks,
                   .warps_per_sm = least->blocks * warps,
                   .limiter = least->name};
  result.fraction = static_cast<double>(result.warps_per_sm) / static_cast<double>(max_warps);
  result.waves =
      static_cast<double>(launch.blocks()) / static_cast<double>(result.blocks_per_sm * sm_count);
  return result;
}

}  // namespace mansard::model::kernel
