#include "ir/dtype.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace mansard::ir {
namespace {

constexpr std::array kDtypes = {
    Dtype{"fp64", 64, {}, "fp64", "IEEE 754 binary64"},
    Dtype{"fp32", 32, {}, "fp32", "IEEE 754 binary32"},
    Dtype{"tf32",
          32,
          {},
          "tf32",
          "stored as fp32, multiplied with 10 bits of mantissa (NVIDIA A100 white paper, 2020)"},
    Dtype{"bf16",
          16,
          {},
          "bf16",
          "bfloat16: 8 bits of exponent, 7 of mantissa (Intel BF16 definition, 2018)"},
    Dtype{"fp16", 16, {}, "fp16", "IEEE 754 binary16"},
    Dtype{"fp8", 8, {}, "fp8", "e4m3 (OCP OFP8 1.0, 2023); per-tensor scale not counted"},
    Dtype{"fp8_e5m2", 8, {}, "fp8", "e5m2 (OCP OFP8 1.0, 2023); per-tensor scale not counted"},
    Dtype{"fp8_block",
          8,
          {128, 128, 32},
          "fp8",
          "e4m3, one fp32 scale per 128x128 block (DeepSeek-V3, arXiv 2412.19437, section 3.3)"},
    Dtype{"mxfp8", 8, {32, 1, 8}, "fp8", "e4m3, one e8m0 scale per 32 elements (OCP MX 1.0, 2023)"},
    Dtype{"fp6", 6, {}, "fp6", "e3m2 or e2m3 (OCP MX 1.0, 2023), scales not counted"},
    Dtype{"mxfp6",
          6,
          {32, 1, 8},
          "fp6",
          "e3m2 or e2m3, one e8m0 scale per 32 elements (OCP MX 1.0, 2023): 6.25 bit"},
    Dtype{"fp4", 4, {}, "fp4", "e2m1 (OCP MX 1.0, 2023), scales not counted"},
    Dtype{"mxfp4",
          4,
          {32, 1, 8},
          "fp4",
          "e2m1, one e8m0 scale per 32 elements (OCP MX 1.0, 2023): 4.25 bit"},
    Dtype{"nvfp4",
          4,
          {16, 1, 8},
          "fp4",
          "e2m1, one e4m3 scale per 16 elements (NVIDIA Blackwell, 2024): 4.5 bit; per-tensor fp32 "
          "scale not counted"},
    Dtype{"int8", 8, {}, "int8", "two's complement; per-channel scales not counted"},
    Dtype{"int4", 4, {}, "int4", "two's complement; scales not counted"},
    Dtype{"int8_wo",
          8,
          {},
          "",
          "weight-only int8; per-channel scales not counted (LLM.int8, arXiv 2208.07339)"},
    Dtype{"int4_wo",
          4,
          {128, 1, 20},
          "",
          "weight-only int4, fp16 scale and 4-bit zero per 128 elements (GPTQ, arXiv 2210.17323; "
          "AWQ, arXiv 2306.00978): 4.156 bit"},
    Dtype{"int4_g64",
          4,
          {64, 1, 20},
          "",
          "weight-only int4, fp16 scale and 4-bit zero per 64 elements (as int4_wo): 4.3125 bit"},
    Dtype{"int4_g32",
          4,
          {32, 1, 20},
          "",
          "weight-only int4, fp16 scale and 4-bit zero per 32 elements (as int4_wo): 4.625 bit"},
    Dtype{"int4_g16",
          4,
          {16, 1, 20},
          "",
          "weight-only int4, fp16 scale and 4-bit zero per 16 elements (as int4_wo): 5.25 bit"},
    Dtype{"int4_sym_g64",
          4,
          {64, 1, 16},
          "",
          "weight-only int4, 16-bit scale per 64 elements and no zero (compressed-tensors): 4.25 "
          "bit"},
    Dtype{"int4_sym_g32",
          4,
          {32, 1, 16},
          "",
          "weight-only int4, 16-bit scale per 32 elements and no zero (compressed-tensors): 4.5 "
          "bit"},
    Dtype{"nf4",
          4,
          {64, 1, 8.125},
          "",
          "weight-only normal float, 8-bit scale per 64 elements and fp32 per 256 scales (QLoRA, "
          "arXiv 2305.14314, section 3): 4.127 bit"},
    Dtype{"ternary",
          2,
          {},
          "",
          "weight-only -1, 0 or 1, four to a byte; one scale a matrix not counted (BitNet b1.58, "
          "arXiv 2402.17764): 2 bit"},
    Dtype{"bool", 8, {}, "", "one byte"},
    Dtype{"uint8", 8, {}, "", "one byte, unsigned"},
    Dtype{"int16", 16, {}, "", "two's complement"},
    Dtype{"int32", 32, {}, "", "two's complement"},
    Dtype{"int64", 64, {}, "", "two's complement"},
};

struct Alias {
  std::string_view alias;
  std::string_view name;
};

/// Names that frameworks and checkpoints use.
constexpr std::array kAliases = {
    Alias{"float64", "fp64"},      Alias{"double", "fp64"},   Alias{"f64", "fp64"},
    Alias{"float32", "fp32"},      Alias{"float", "fp32"},    Alias{"f32", "fp32"},
    Alias{"bfloat16", "bf16"},     Alias{"float16", "fp16"},  Alias{"half", "fp16"},
    Alias{"f16", "fp16"},          Alias{"e4m3", "fp8"},      Alias{"fp8_e4m3", "fp8"},
    Alias{"float8_e4m3fn", "fp8"}, Alias{"e5m2", "fp8_e5m2"}, Alias{"float8_e5m2", "fp8_e5m2"},
    Alias{"e2m1", "fp4"},          Alias{"gptq", "int4_wo"},  Alias{"awq", "int4_wo"},
};

/// Bytes of `things`, each of `bits` bits (a multiple of 1/8), packed and rounded up.
Expr packed_bytes(Expr things, double bits) {
  if (std::fmod(bits, 8) == 0) {
    return things * (bits / 8);
  }
  if (bits == std::floor(bits)) {
    return ceil_div(things * bits, 8);
  }
  return ceil_div(things * (bits * 8), 64);
}

}  // namespace

std::span<const Dtype> dtypes() {
  return kDtypes;
}

const Dtype* find_dtype(std::string_view name) {
  const auto* const alias = std::ranges::find(kAliases, name, &Alias::alias);
  const std::string_view own_name = alias == kAliases.end() ? name : alias->name;
  const auto* const found = std::ranges::find(kDtypes, own_name, &Dtype::name);
  return found == kDtypes.end() ? nullptr : found;
}

Expr bytes_of(const Dtype& dtype, Expr elements) {
  Expr bytes = packed_bytes(elements, dtype.bits);
  const BlockScale& scale = dtype.scale;
  if (scale.elements > 0) {
    const Expr blocks = ceil_div(elements, static_cast<double>(scale.elements) * scale.rows);
    bytes = bytes + packed_bytes(blocks, scale.scale_bits);
  }
  return bytes * elements.pool().unit(kByte);
}

}  // namespace mansard::ir
