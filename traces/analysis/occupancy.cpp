#include "traces/analysis/occupancy.hpp"

#include <algorithm>
#include <cmath>

namespace mansard::traces {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

double product(const ir::Extent& extent) {
  return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) *
         static_cast<double>(extent[2]);
}

/// Blocks that a processor holds at most: 16 on 7.5, 8.6 and 8.7, 24 on 8.9, 32 on the rest.
std::int64_t block_slots(const ir::TraceDevice& d) {
  if (d.compute_major == 8 && d.compute_minor == 9) {
    return 24;
  }
  const bool few = (d.compute_major == 7 && d.compute_minor == 5) ||
                   (d.compute_major == 8 && d.compute_minor >= 6);
  return few ? 16 : 32;
}

std::int64_t by_registers(const ir::TraceDevice& d, const ir::TraceEvent& k, std::int64_t warps,
                          std::int64_t otherwise) {
  if (k.registers <= 0 || d.registers_per_sm <= 0) {
    return otherwise;
  }
  constexpr std::int64_t kUnit = 256;
  const std::int64_t per_warp = round_up(k.registers * d.warp_size, kUnit);
  return d.registers_per_sm / per_warp / warps;
}

std::int64_t by_shared(const ir::TraceDevice& d, const ir::TraceEvent& k, std::int64_t otherwise) {
  constexpr std::int64_t kReserved = 1024;
  const std::int64_t reserved = d.compute_major >= 8 ? kReserved : 0;
  const std::int64_t bytes = k.shared_static + k.shared_dynamic + reserved;
  return bytes <= 0 || d.shared_per_sm <= 0 ? otherwise : d.shared_per_sm / bytes;
}

}  // namespace

std::optional<Occupancy> occupancy(const ir::TraceDevice& d, const ir::TraceEvent& k) {
  const double blocks = product(k.grid);
  const double block = product(k.block);
  constexpr double kMostThreads = 1024;
  if (d.sm_count <= 0 || d.warp_size <= 0 || d.threads_per_sm <= 0 || blocks <= 0 || block <= 0 ||
      block > kMostThreads) {
    return std::nullopt;
  }
  const std::int64_t warps = round_up(static_cast<std::int64_t>(block), d.warp_size) / d.warp_size;
  const std::int64_t by_threads = d.threads_per_sm / d.warp_size / warps;
  const std::int64_t fitting =
      std::min({block_slots(d), by_threads, by_registers(d, k, warps, by_threads),
                by_shared(d, k, by_threads)});
  // It ran, so one block does fit, whatever the figures say.
  const std::int64_t per_sm = std::max<std::int64_t>(1, fitting);
  Occupancy result{.blocks_per_sm = per_sm};
  result.share = std::min(1.0, static_cast<double>(per_sm * warps * d.warp_size) /
                                   static_cast<double>(d.threads_per_sm));
  result.waves = blocks / static_cast<double>(per_sm * d.sm_count);
  const double rest = result.waves - std::floor(result.waves);
  result.last_wave = rest > 0 ? rest : 1;
  return result;
}

}  // namespace mansard::traces
