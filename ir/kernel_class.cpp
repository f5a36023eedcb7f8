#include "ir/kernel_class.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace mansard::ir {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// A part of a name, in lower case, and the kinds of op that it means; the first that is there
/// holds. From the particular to the general.
struct Sign {
  std::string_view part;
  std::array<std::string_view, 3> kinds;
  bool continues = false;
};

constexpr std::array kCommunication{Sign{"allreduce", {"all_reduce"}},
                                    Sign{"all_reduce", {"all_reduce"}},
                                    Sign{"cross_device_reduce", {"all_reduce"}},
                                    Sign{"reducescatter", {"reduce_scatter"}},
                                    Sign{"reduce_scatter", {"reduce_scatter"}},
                                    Sign{"allgather", {"all_gather"}},
                                    Sign{"all_gather", {"all_gather"}},
                                    Sign{"alltoall", {"all_to_all"}},
                                    Sign{"all_to_all", {"all_to_all"}},
                                    Sign{"sendrecv", {"send_recv"}},
                                    Sign{"broadcast", {"send_recv"}},
                                    Sign{"nccl", {"all_reduce"}},
                                    Sign{"rccl", {"all_reduce"}}};

constexpr std::array kSigns{Sign{"splitkreduce", {"matmul"}, true},
                            Sign{"splitk_reduce", {"matmul"}, true},
                            Sign{"lean_reduction_kernel", {"attention"}, true},
                            Sign{"splitkv_combine", {"attention", "mla_attention"}, true},
                            Sign{"flash_fwd_combine", {"attention", "mla_attention"}, true},
                            Sign{"mergeattentionstates", {"attention", "mla_attention"}, true},
                            Sign{"merge_attn_states", {"attention", "mla_attention"}, true},
                            Sign{"reshape_and_cache", {"kv_write"}},
                            Sign{"concat_and_cache", {"kv_write"}},
                            Sign{"kv_cache", {"kv_write"}},
                            Sign{"flashmla", {"mla_attention"}},
                            Sign{"mla_", {"mla_attention"}},
                            Sign{"flash", {"attention", "mla_attention"}},
                            Sign{"fmha", {"attention"}},
                            Sign{"sdpa", {"attention"}},
                            Sign{"paged_attention", {"attention"}},
                            Sign{"unified_attention", {"attention"}},
                            Sign{"batchdecode", {"attention"}},
                            Sign{"batchprefill", {"attention"}},
                            Sign{"attention", {"attention"}},
                            Sign{"topkgating", {"moe_router"}},
                            Sign{"topk_softmax", {"moe_router"}},
                            Sign{"moe_align", {"moe_router"}},
                            Sign{"gathertopk", {"moe_router"}},
                            Sign{"fused_moe", {"grouped_matmul"}},
                            Sign{"grouped_gemm", {"grouped_matmul"}},
                            Sign{"groupgemm", {"grouped_matmul"}},
                            Sign{"groupproblemshape", {"grouped_matmul"}},
                            Sign{"moe", {"grouped_matmul", "moe_router"}},
                            Sign{"conv2d", {"convolution"}},
                            Sign{"fprop", {"convolution"}},
                            Sign{"dgrad", {"convolution"}},
                            Sign{"wgrad", {"convolution"}},
                            Sign{"winograd", {"convolution"}},
                            Sign{"convolve", {"convolution"}},
                            Sign{"causal_conv1d", {"convolution"}},
                            Sign{"selective_scan", {"ssm_scan"}},
                            Sign{"ssd_chunk", {"ssm_scan"}},
                            Sign{"gated_delta", {"linear_attention"}},
                            Sign{"nvjet", {"matmul"}},
                            Sign{"gemm", {"matmul"}},
                            Sign{"gemv", {"matmul"}},
                            Sign{"gemvx", {"matmul"}},
                            Sign{"cijk_", {"matmul"}},
                            Sign{"matmul", {"matmul"}},
                            Sign{"wgmma", {"matmul"}},
                            Sign{"_mm_", {"matmul"}},
                            Sign{"ampere_", {"matmul"}},
                            Sign{"volta_", {"matmul"}},
                            Sign{"turing_", {"matmul"}},
                            Sign{"xmma", {"matmul"}},
                            Sign{"marlin", {"matmul"}},
                            Sign{"machete", {"matmul"}},
                            Sign{"layer_norm", {"norm"}},
                            Sign{"layernorm", {"norm"}},
                            Sign{"rms_norm", {"norm"}},
                            Sign{"rmsnorm", {"norm"}},
                            Sign{"batch_norm", {"norm"}},
                            Sign{"bn_fw", {"norm"}},
                            Sign{"bn_bw", {"norm"}},
                            Sign{"rsqrt", {"norm"}},
                            Sign{"rotary", {"rope"}},
                            Sign{"rope", {"rope"}},
                            Sign{"softmax", {"softmax"}},
                            Sign{"argmax", {"sample"}},
                            Sign{"multinomial", {"sample"}},
                            Sign{"sampling", {"sample"}},
                            Sign{"embedding", {"embedding"}},
                            Sign{"indexselect", {"embedding"}},
                            Sign{"vectorized_gather", {"embedding"}},
                            Sign{"act_and_mul", {"elementwise"}},
                            Sign{"silu", {"elementwise"}},
                            Sign{"gelu", {"elementwise"}},
                            Sign{"direct_copy", {"kv_write", "elementwise"}},
                            Sign{"copy_kernel", {"kv_write", "elementwise"}},
                            Sign{"copybuffer", {"kv_write", "elementwise"}},
                            Sign{"catarraybatchedcopy", {"elementwise"}},
                            Sign{"transpose", {"elementwise"}},
                            Sign{"nchwtonhwc", {"elementwise"}},
                            Sign{"nhwctonchw", {"elementwise"}},
                            Sign{"elementwise", {"elementwise"}},
                            Sign{"multi_tensor_apply", {"elementwise"}},
                            Sign{"dropout", {"elementwise"}},
                            Sign{"reduce", {"elementwise", "norm"}},
                            Sign{"pool", {"elementwise"}},
                            Sign{"scatter", {"embedding"}},
                            Sign{"index", {"embedding"}},
                            Sign{"gather", {"embedding"}},
                            Sign{"sort", {"moe_router", "sample"}},
                            Sign{"scan", {"elementwise"}},
                            Sign{"cumsum", {"elementwise"}},
                            Sign{"triton_poi", {"elementwise"}},
                            Sign{"triton_red", {"norm", "elementwise"}},
                            Sign{"triton_per", {"norm", "elementwise"}},
                            Sign{"cupy_", {"elementwise"}},
                            Sign{"vectorized", {"elementwise"}},
                            Sign{"fill", {"elementwise"}},
                            Sign{"at::native", {"elementwise"}}};

/// Ops of frameworks, for kernels whose names say nothing.
constexpr std::array kOps{Sign{"aten::mm", {"matmul"}},
                          Sign{"aten::addmm", {"matmul"}},
                          Sign{"aten::bmm", {"matmul"}},
                          Sign{"aten::baddbmm", {"matmul"}},
                          Sign{"aten::linear", {"matmul"}},
                          Sign{"aten::_scaled_mm", {"matmul"}},
                          Sign{"convolution", {"convolution"}},
                          Sign{"attention", {"attention"}},
                          Sign{"embedding", {"embedding"}},
                          Sign{"norm", {"norm"}},
                          Sign{"softmax", {"softmax"}},
                          Sign{"aten::copy_", {"kv_write", "elementwise"}},
                          Sign{"aten::add", {"elementwise"}},
                          Sign{"aten::mul", {"elementwise"}},
                          Sign{"record_param_comms", {"all_reduce"}}};

template <std::size_t N>
bool apply(const std::array<Sign, N>& signs, std::string_view text, KernelClass& result) {
  for (const Sign& sign : signs) {
    if (contains(text, sign.part)) {
      for (const std::string_view kind : sign.kinds) {
        if (!kind.empty()) {
          result.kinds.emplace_back(kind);
        }
      }
      result.continues = sign.continues;
      return true;
    }
  }
  return false;
}

/// A compiled pointwise kernel names its ops: halves swapped and negated are a rotary embedding.
bool is_rope(std::string_view name) {
  return contains(name, "triton_poi") && contains(name, "cat") && contains(name, "mul") &&
         (contains(name, "sub") || contains(name, "neg") || contains(name, "cos"));
}

std::string library_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kLibraries[] = {
      {"nccl", "nccl"},
      {"rccl", "rccl"},
      {"cudnn", "cudnn"},
      {"nvjet", "cublaslt"},
      {"cublas", "cublaslt"},
      {"flash", "flash-attention-2"},
      {"triton", "triton-inductor"},
      {"cutlass", "cublaslt"},
      {"xmma", "cublaslt"},
      {"gemm", "cublaslt"},
      {"at::native", "pytorch-eager"},
      {"cijk_", "hipblaslt"}};
  for (const auto& [part, library] : kLibraries) {
    if (contains(name, part)) {
      return std::string(library);
    }
  }
  return "";
}

std::string dtype_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"e4m3", "fp8"},    {"bf16", "bf16"}, {"bfloat16", "bf16"}, {"tf32", "tf32"},
      {"s1688", "tf32"},  {"f16", "fp16"},  {"half", "fp16"},     {"fp16", "fp16"},
      {"h884", "fp16"},   {"s884", "fp16"}, {"s16816", "fp16"},   {"h16816", "fp16"},
      {"sgemm", "fp32"},  {"f32", "fp32"},  {"dgemm", "fp64"},    {"f64", "fp64"},
      {"double", "fp64"}, {"float", "fp32"}};
  for (const auto& [part, dtype] : kTypes) {
    if (contains(name, part)) {
      return std::string(dtype);
    }
  }
  return "";
}

/// Two numbers with an x between at `at`, as in "128x256".
bool pair_at(std::string_view name, std::size_t at, int& first, int& second, std::size_t& end) {
  const char* last = name.data() + name.size();
  const auto a = std::from_chars(name.data() + at, last, first);
  if (a.ec != std::errc() || a.ptr == last || *a.ptr != 'x') {
    return false;
  }
  const auto b = std::from_chars(a.ptr + 1, last, second);
  end = static_cast<std::size_t>(b.ptr - name.data());
  return b.ec == std::errc();
}

/// "..._128x8_64x12_..." : tile, then depth and stages.
KernelTile tile_of(std::string_view name) {
  KernelTile tile;
  tile.split_k = contains(name, "splitk");
  for (std::size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1)) {
    std::size_t end = 0;
    if (pair_at(name, at + 1, tile.m, tile.n, end)) {
      if (end < name.size() && name[end] == '_') {
        (void)pair_at(name, end + 1, tile.k, tile.stages, end);
      }
      return tile;
    }
  }
  tile.m = tile.n = 0;
  return tile;
}

}  // namespace

bool KernelClass::is(std::string_view kind) const {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

KernelClass classify_kernel(std::string_view kernel, std::string_view op) {
  const std::string name = lower(kernel);
  KernelClass result;
  const bool communicates = contains(name, "nccl") || contains(name, "rccl") ||
                            contains(name, "cross_device") || contains(name, "one_shot");
  if (communicates && apply(kCommunication, name, result)) {
    // Nothing more.
  } else if (is_rope(name)) {
    result.kinds = {"rope", "elementwise"};
  } else if (!apply(kSigns, name, result)) {
    apply(kOps, lower(op), result);
  }
  result.library = library_of(name);
  result.dtype = dtype_of(name);
  if (result.is("matmul") || result.is("convolution")) {
    result.tile = tile_of(name);
  }
  return result;
}

}  // namespace mansard::ir
