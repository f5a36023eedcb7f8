#include "ir/kernel_class.hpp"

#include <catch2/catch.hpp>

#include "ir/kernel_name.hpp"

namespace mansard::ir {

TEST_CASE("names of libraries' kernels tell what they do", "[kernel_class]") {
  const std::pair<const char*, const char*> kCases[] = {
      {"nvjet_sm90_tst_128x8_64x12_2x1_v_bz_TNT", "matmul"},
      {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>", "matmul"},
      {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6_tn", "matmul"},
      {"Cijk_Alik_Bljk_HHS_BH_MT128x128x32", "matmul"},
      {"void gemv2T_kernel_val<int, double>(...)", "matmul"},
      {"cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_35", "attention"},
      {"void pytorch_flash::flash_fwd_kernel<...>", "attention"},
      {"triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", "norm"},
      {"triton_poi_fused_mul_silu_split_0", "elementwise"},
      {"triton_poi_fused_add_cat_mul_split_sub_0", "rope"},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all_reduce"},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "send_recv"},
      {"void at::native::(anonymous namespace)::indexSelectSmallIndex<c10::BFloat16>", "embedding"},
      {"void vllm::reshape_and_cache_flash_kernel<...>", "kv_write"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>",
       "elementwise"},
      {"something_else", ""}};
  for (const auto& [name, kind] : kCases) {
    CAPTURE(name);
    CHECK(classify_kernel(name, "").kind() == kind);
  }
  CHECK(classify_kernel("something_else", "aten::mm").kind() == "matmul");
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
