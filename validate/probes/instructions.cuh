#pragma once

#include <cstdint>
#include <string_view>

#include <cuda_fp16.h>

namespace mansard::measure {

/// One instruction as a step x -> f(x) whose result the next step needs. `kOps`: operations of one
/// lane; an FMA is two (FLOP for floating formats, integer operations otherwise).
struct Ffma {
  using Value = float;
  static constexpr std::string_view kName = "ffma";
  static constexpr std::string_view kDtype = "fp32";
  static constexpr double kOps = 2;
  __device__ static void step(Value& x) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(0.9999f), "f"(0.0001f));
  }
};
struct Fadd {
  using Value = float;
  static constexpr std::string_view kName = "fadd";
  static constexpr std::string_view kDtype = "fp32";
  static constexpr double kOps = 1;
  __device__ static void step(Value& x) {
    asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(0.0001f));
  }
};
struct Hfma2 {
  using Value = std::uint32_t;
  static constexpr std::string_view kName = "hfma2";
  static constexpr std::string_view kDtype = "fp16";
  static constexpr double kOps = 4;
  __device__ static void step(Value& x) {
    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(0x3bff3bffu), "r"(0x00800080u));
  }
};
struct Bfma2 {
  using Value = std::uint32_t;
  static constexpr std::string_view kName = "bfma2";
  static constexpr std::string_view kDtype = "bf16";
  static constexpr double kOps = 4;
  __device__ static void step(Value& x) {
    asm volatile("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(0x3f7f3f7fu), "r"(0x38803880u));
  }
};
struct Dfma {
  using Value = double;
  static constexpr std::string_view kName = "dfma";
  static constexpr std::string_view kDtype = "fp64";
  static constexpr double kOps = 2;
  __device__ static void step(Value& x) {
    asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(0.9999), "d"(0.0001));
  }
};
struct Imad {
  using Value = std::uint32_t;
  static constexpr std::string_view kName = "imad";
  static constexpr std::string_view kDtype = "int32";
  static constexpr double kOps = 2;
  __device__ static void step(Value& x) {
    asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(0x9e3779b1u), "r"(0x85ebca6bu));
  }
};
struct Lop {
  using Value = std::uint32_t;
  static constexpr std::string_view kName = "lop3";
  static constexpr std::string_view kDtype = "int32";
  static constexpr double kOps = 1;
  __device__ static void step(Value& x) {
    asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(x) : "r"(0x9e3779b1u), "r"(0x85ebca6bu));
  }
};
struct Ex2 {
  using Value = float;
  static constexpr std::string_view kName = "mufu.ex2";
  static constexpr std::string_view kDtype = "fp32";
  static constexpr double kOps = 1;
  __device__ static void step(Value& x) { asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)); }
};
struct Rsqrt {
  using Value = float;
  static constexpr std::string_view kName = "mufu.rsq";
  static constexpr std::string_view kDtype = "fp32";
  static constexpr double kOps = 1;
  __device__ static void step(Value& x) { asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x)); }
};
struct Shuffle {
  using Value = std::uint32_t;
  static constexpr std::string_view kName = "shfl";
  static constexpr std::string_view kDtype = "int32";
  static constexpr double kOps = 1;
  __device__ static void step(Value& x) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(x));
  }
};

}  // namespace mansard::measure
