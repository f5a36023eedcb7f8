#include "ir/kernel_class.hpp"

#include <string>
#include <string_view>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ir/kernel_name.hpp"

namespace mansard::ir {

namespace {

struct Named {
  const char* name;
  const char* kind;
  const char* dtype;  ///< "*": not asked.
  const char* tile;
};
constexpr Named kNames[] = {
#define KERNEL(name, kind, dtype, tile) {name, kind, dtype, tile},
#include "tests/ir/kernel_names.def"
#undef KERNEL
};

std::string tile_of(const KernelTile& tile) {
  return tile.m == 0 ? "" : fmt::format("{}x{}", tile.m, tile.n);
}

}  // namespace

TEST_CASE("names of libraries' kernels tell what they do, their format and tile",
          "[kernel_class]") {
  for (const Named& named : kNames) {
    CAPTURE(named.name);
    const KernelClass kernel = classify_kernel(named.name, "");
    CHECK(kernel.kind() == named.kind);
    if (std::string_view(named.dtype) != "*") {
      CHECK(kernel.dtype == named.dtype);
    }
    if (std::string_view(named.tile) != "*") {
      CHECK(tile_of(kernel.tile) == named.tile);
    }
  }
  CHECK(classify_kernel("something_else", "aten::mm").kind() == "matmul");
  CHECK(classify_kernel("something_else", "aten::mul_").kind() == "elementwise");
}

TEST_CASE("second kernels of split work belong to the first", "[kernel_class]") {
  for (const char* name :
       {"void cublasLt::splitKreduce_kernel<32, 16>",
        "void vllm::paged_attention_v2_reduce_kernel<unsigned short, 128, 128, 512>(x)",
        "void flash::flash_fwd_splitkv_combine_kernel<x>(x)", "_fwd_kernel_stage2",
        "void cudnn::fusion::lean_reduction_kernel<false, false, false>(void*)"}) {
    CAPTURE(name);
    CHECK(classify_kernel(name, "").continues);
  }
}

TEST_CASE("a cuBLAS name tells its tile, depth, stages and split", "[kernel_class]") {
  const KernelClass kernel = classify_kernel("nvjet_sm90_tst_128x8_64x12_2x1_v_bz_splitK_TNT", "");
  CHECK(kernel.tile.m == 128);
  CHECK(kernel.tile.n == 8);
  CHECK(kernel.tile.k == 64);
  CHECK(kernel.tile.stages == 12);
  CHECK(kernel.tile.split_k);
  CHECK(classify_kernel("void cublasLt::splitKreduce_kernel<32, 16>", "").continues);
}

TEST_CASE("a short name leaves out namespaces, templates and parameters", "[kernel_class]") {
  CHECK(short_kernel_name("void at::native::(anonymous namespace)::softmax<float, 4>(float*)") ==
        "softmax");
  CHECK(short_kernel_name("saxpy") == "saxpy");
  CHECK(short_kernel_name("cutlass_k(Params)") == "cutlass_k");
  CHECK(short_kernel_name("void cutlass::Kernel<cutlass_80_tensorop>(X)") == "cutlass_80_tensorop");
  CHECK(short_kernel_name("") == "");
  CHECK(short_kernel_name("<unknown>") == "<unknown>");
}

}  // namespace mansard::ir
