#include "ir/kernel_class.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "ir/kernel_format.hpp"

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
                                    Sign{"deep_ep", {"all_to_all"}},
                                    Sign{"dispatch", {"all_to_all"}},
                                    Sign{"combine", {"all_to_all"}},
                                    Sign{"sendrecv", {"send_recv", "all_to_all"}},
                                    Sign{"broadcast", {"send_recv"}},
                                    Sign{"_reduce_", {"reduce_scatter"}},
                                    Sign{"", {"all_reduce"}}};

constexpr auto kSigns = std::to_array<Sign>({
#define SIGN(part, ...) Sign{part, {__VA_ARGS__}},
#define CONTINUES(part, ...) Sign{part, {__VA_ARGS__}, true},
#include "ir/kernel_signs.def"
#undef SIGN
#undef CONTINUES
});

/// Ops of frameworks, for kernels whose names say nothing.
constexpr std::array kOps{Sign{"aten::mm", {"matmul"}},
                          Sign{"aten::addmm", {"matmul"}},
                          Sign{"aten::bmm", {"matmul"}},
                          Sign{"aten::baddbmm", {"matmul"}},
                          Sign{"aten::linear", {"matmul"}},
                          Sign{"aten::matmul", {"matmul"}},
                          Sign{"aten::_scaled_mm", {"matmul"}},
                          Sign{"convolution", {"convolution"}},
                          Sign{"attention", {"attention"}},
                          Sign{"embedding", {"embedding"}},
                          Sign{"norm", {"norm"}},
                          Sign{"softmax", {"softmax"}},
                          Sign{"aten::copy_", {"kv_write", "elementwise"}},
                          Sign{"record_param_comms", {"all_reduce"}},
                          Sign{"nccl:", {"all_reduce"}},
                          Sign{"c10d::", {"all_reduce"}},
                          Sign{"aten::index", {"embedding", "elementwise"}},
                          Sign{"aten::", {"elementwise"}}};

template <std::size_t N>
bool apply(const std::array<Sign, N>& signs, std::string_view text, KernelClass& result) {
  for (const Sign& sign : signs) {
    const bool first = sign.part.starts_with('^');
    if (first ? text.starts_with(sign.part.substr(1)) : contains(text, sign.part)) {
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

/// The name before template arguments and parameters, with its namespaces: what these name (types,
/// functors) says less of what the kernel is.
std::string_view without_arguments(std::string_view name) {
  if (name.starts_with("void ")) {
    name.remove_prefix(5);
  }
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::size_t from = 0;
  for (std::size_t at = name.find(kAnonymous); at != std::string_view::npos;
       at = name.find(kAnonymous, from)) {
    if (name.substr(from, at - from).find('<') != std::string_view::npos) {
      break;
    }
    from = at + kAnonymous.size();
  }
  return name.substr(0, name.find_first_of("<(", from));
}

bool communicates(std::string_view name) {
  constexpr std::array<std::string_view, 13> kParts{"nccl",
                                                    "rccl",
                                                    "cross_device",
                                                    "one_shot",
                                                    "two_shot",
                                                    "oneshot",
                                                    "twoshot",
                                                    "deep_ep",
                                                    "allreduce",
                                                    "all_reduce",
                                                    "allgather",
                                                    "alltoall",
                                                    "reduce_scatter_kernel"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return contains(name, part); });
}

/// torch.compile names a kernel by the ops that it fuses. Contractions among them are those whose
/// bias or view it adds, never its own.
constexpr std::array kFused{Sign{"softmax", {"softmax", "elementwise"}},
                            Sign{"logsumexp", {"softmax", "elementwise"}},
                            Sign{"norm", {"norm", "elementwise"}},
                            Sign{"rsqrt", {"norm", "elementwise"}},
                            Sign{"argmax", {"sample"}},
                            Sign{"embedding", {"embedding", "elementwise"}},
                            Sign{"index_put", {"kv_write", "elementwise"}},
                            Sign{"triton_poi", {"elementwise"}},
                            Sign{"triton_for", {"elementwise"}},
                            Sign{"", {"norm", "softmax", "elementwise"}}};

bool is_compiled(std::string_view name) {
  constexpr std::array<std::string_view, 4> kFirst{"triton_poi", "triton_red", "triton_per",
                                                   "triton_for"};
  return std::any_of(kFirst.begin(), kFirst.end(),
                     [&](std::string_view first) { return name.starts_with(first); });
}

/// Halves swapped and negated are a rotary embedding.
bool is_rope(std::string_view name) {
  return contains(name, "triton_poi") && contains(name, "cat") && contains(name, "mul") &&
         (contains(name, "sub") || contains(name, "neg") || contains(name, "cos"));
}

/// Elementwise kernels are told by their functors whether they only move data.
bool is_copy(std::string_view base, std::string_view name) {
  return contains(base, "elementwise") && contains(name, "direct_copy");
}

std::string library_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kLibraries[] = {
      {"nccl", "nccl"},
      {"rccl", "rccl"},
      {"cudnn", "cudnn"},
      {"miopen", "miopen"},
      {"nvjet", "cublaslt"},
      {"cublas", "cublaslt"},
      {"flash", "flash-attention-2"},
      {"triton", "triton-inductor"},
      {"cutlass", "cublaslt"},
      {"xmma", "cublaslt"},
      {"cijk_", "hipblaslt"},
      {"gemm", "cublaslt"},
      {"at::native", "pytorch-eager"}};
  for (const auto& [part, library] : kLibraries) {
    if (contains(name, part)) {
      return std::string(library);
    }
  }
  return "";
}

}  // namespace

bool KernelClass::is(std::string_view kind) const {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

KernelClass classify_kernel(std::string_view kernel, std::string_view op) {
  const std::string name = lower(kernel);
  const std::string_view base = without_arguments(name);
  KernelClass result;
  if (communicates(base)) {
    apply(kCommunication, base, result);
  } else if (is_rope(name)) {
    result.kinds = {"rope", "elementwise"};
  } else if (is_compiled(base)) {
    apply(kFused, base, result);
  } else if (is_copy(base, name)) {
    result.kinds = {"kv_write", "elementwise"};
  } else if (!apply(kSigns, base, result) && !apply(kSigns, name, result)) {
    apply(kOps, lower(op), result);
  }
  result.library = library_of(name);
  result.dtype = kernel_dtype(name);
  if (result.is("matmul") || result.is("convolution") || result.is("grouped_matmul")) {
    result.tile = kernel_tile(name);
  }
  return result;
}

}  // namespace mansard::ir
