#pragma once

#include <span>
#include <string_view>

#include "validate/suite/gpu/lab.cuh"

namespace mansard::measure {

/// One question to the machine. The rows that it records have `op` begin with the probe's name or
/// say it.
struct Probe {
  std::string_view name;
  /// What is measured and its unit, for --list.
  std::string_view what;
  void (*run)(Lab&);
};

/// What one call moves or does, and in which unit per second the row's `value` says it.
struct Rate {
  double per_call = 0;
  /// Of 1 per microsecond: 1e-3 for GB/s of bytes, 1e-6 for TFLOP/s of FLOP.
  double scale = 1;
  const char* unit = "";

  [[nodiscard]] static Rate gigabytes(double bytes) { return {bytes, 1e-3, "GB/s"}; }
  [[nodiscard]] static Rate teraflops(double flops) { return {flops, 1e-6, "TFLOP/s"}; }
  [[nodiscard]] static Rate teraops(double ops) { return {ops, 1e-6, "Top/s"}; }
};

/// `mansard-probes`, mode graph, and the machine; false when the row is there already or time is
/// up.
[[nodiscard]] bool begin_row(const Lab& lab, Row& row);

/// Times the subject and records its row with value = the rate. The row is skipped as in begin_row.
void measure_rate(Lab& lab, Row row, const Subject& subject, const Rate& rate);

void probe_launch(Lab& lab);
void probe_hbm(Lab& lab);
void probe_l2(Lab& lab);
void probe_l2_partitions(Lab& lab);
void probe_shared(Lab& lab);
void probe_latency(Lab& lab);
void probe_access(Lab& lab);
void probe_banks(Lab& lab);
void probe_vector(Lab& lab);
void probe_matrix(Lab& lab);
void probe_wgmma(Lab& lab);
void probe_dependent(Lab& lab);
void probe_host_copies(Lab& lab);
void probe_collectives(Lab& lab);
void probe_sustained(Lab& lab);
void probe_energy(Lab& lab);

}  // namespace mansard::measure
