#pragma once

namespace mansard::model::test {

/// The constants that the prototypes of reference_test.cpp took, fitted on H200 rows of 2026-11-30;
/// not the calibration in hardware/calibrations, which may be refitted.
inline constexpr const char* kReferenceCalibration = R"(
schema: 1
machine: reference
implementations:
  cublaslt:
    matmul.start: 1.227 us
    matmul.tf32.start: 2.984 us
    matmul.fp32.start: 4.3656 us
    matmul.matrix: 0.7793
    matmul.fp8.matrix: 0.69929
    matmul.tf32.matrix: 0.94816
    matmul.int8.matrix: 0.45113
    matmul.fp32.matrix: 0.76287
    matmul.feed: 68.333 B/clk
    matmul.fp32.feed: 21.374 B/clk
    matmul.int8.feed: 33.315 B/clk
    matmul.tick: 93.371 ns
    matmul.fp32.tick: 100 ns
    matmul.prologue: 1.3021 us
    matmul.epilogue: 3.8846 ps
    matmul.main: 0.92467
    matmul.ramp: 0.53582 us
    matmul.exposed: 0.1983
    matmul.fill: 0.42524
    matmul.fp32.reduce: 2 us
    matmul.reduce: 3.413 us
    matmul.reduce_rate: 4.3704
    matmul.clock_energy: 1.2 nJ/clk
    matmul.energy: 0.64054 pJ/FLOP
    matmul.fp8.energy: 0.23699 pJ/FLOP
    matmul.tf32.energy: 2.0191 pJ/FLOP
    matmul.int8.energy: 0.095831 pJ/FLOP
    matmul.fp32.energy: 2.5622 pJ/FLOP
    matmul.warm_up: 150 us
    matmul.gemv.unaligned.start: 2.699 us
    matmul.gemv.unaligned.main: 0.5543
    matmul.gemv.unaligned.chain: 0.754 ns
    matmul.unaligned.start: 1.108 us
    matmul.unaligned.feed: 5.587 B/clk
    matmul.unaligned.a4.feed: 11.97 B/clk
    matmul.unaligned.tick: 0.3271 us
    matmul.unaligned.prologue: 0.7466 us
    matmul.unaligned.epilogue: 102.8 ps
    matmul.unaligned.main: 0.3506
    matmul.unaligned.ramp: 0 us
    matmul.unaligned.fill: 0
    matmul.unaligned.reduce: 2.139 us
    matmul.unaligned.reduce_rate: 0.5198
    matmul.unaligned.energy: 0.192 pJ/FLOP
    matmul.min_stages: 2
  cudnn:
    attention.decode.start: 2.978 us
    attention.decode.main: 0.974
    attention.decode.tile: 1.216 us
    attention.decode.fill: 6.343 us
    attention.decode.resident: 3.745
    attention.decode.max_split: 16
    attention.decode.mma: 0
    attention.decode.overlap: 1.847
    attention.decode.reduce: 2.35 us
    attention.decode.reduce_rate: 0.7633
    attention.prefill.start: 4.086 us
    attention.prefill.matrix: 1.06 # a little of the exponentials overlaps
    attention.prefill.special: 0.934
    attention.prefill.turn: 1.022
    attention.prefill.diagonal: 0.403
    attention.prefill.tail: 0.725
    attention.prefill.energy: 0.894 pJ/FLOP
    attention.prefill.copy.launches: 1
    attention.prefill.copy.start: 1.75 us
    attention.prefill.copy.issue: 0.6534 clk
  cutlass-grouped: # tiles of 64 x 128
    grouped_matmul.start: 12.62 us
    grouped_matmul.tile_least: 64
    grouped_matmul.tile_most: 64
    grouped_matmul.half: 0
    grouped_matmul.main: 0.6229
    grouped_matmul.matrix: 0.6417
    grouped_matmul.fill: 1.64 us
    grouped_matmul.step: 0.07 us
    grouped_matmul.overlap: 1.94
  nccl:
    collective.start: 8.511 us
    collective.all_to_all.start: 10.17 us
    collective.all_to_all.chunk: 1.627 us
    collective.send_recv.start: 10.17 us
    collective.send_recv.chunk: 1.627 us
    collective.ll_step: 0.7058 us
    collective.ll128_step: 0.9277 us
    collective.simple_start: 3.962 us
    collective.simple_step: 0.5033 us
    collective.ll: 0.01514
    collective.ll128: 0.2887
    collective.simple: 0.7419
    collective.all_gather.ll128: 0.2555
    collective.all_gather.simple: 0.6565
    collective.all_gather.chunk: 1.458 us
    collective.reduce_scatter.ll128: 0.2555
    collective.reduce_scatter.simple: 0.6565
    collective.reduce_scatter.chunk: 1.458 us
    collective.p2p: 0.7326
    collective.switch: 0.5428
    collective.switch_start: 33.44 us
    collective.switch_chunk: 0.8433 us
    collective.chunk: 1.647 us
)";

}  // namespace mansard::model::test
