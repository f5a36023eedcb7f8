#include "validate/suite/matmul.cuh"

#ifdef MANSARD_CUBLASLT
#include <cublasLt.h>
#endif

namespace mansard::measure {

#ifdef MANSARD_CUBLASLT
namespace {

void check_blas(cublasStatus_t status,
                std::source_location where = std::source_location::current()) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw DeviceError(cublasLtGetStatusString(status), where);
  }
}

cublasLtHandle_t handle() {
  static const cublasLtHandle_t kHandle = [] {
    cublasLtHandle_t created = nullptr;
    check_blas(cublasLtCreate(&created));
    return created;
  }();
  return kHandle;
}

struct Types {
  std::string_view dtype;
  cudaDataType input;
  cudaDataType output;
  cudaDataType scale;
  cublasComputeType_t compute;
};

constexpr Types kTypes[] = {
    {"bf16", CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {"fp16", CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {"fp8", CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {"tf32", CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    {"fp32", CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {"int8", CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
};

const Types& types_of(std::string_view dtype) {
  for (const Types& types : kTypes) {
    if (types.dtype == dtype) {
      return types;
    }
  }
  throw UsageError("no matmul of dtype '" + std::string(dtype) + "'");
}

template <typename Value>
void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, Value value) {
  check_blas(cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof value));
}

cublasLtMatrixLayout_t layout(cudaDataType type, std::int64_t rows, std::int64_t cols,
                              std::int64_t batch) {
  cublasLtMatrixLayout_t result = nullptr;
  check_blas(cublasLtMatrixLayoutCreate(&result, type, rows, cols, rows));
  if (batch > 1) {
    const auto count = static_cast<std::int32_t>(batch);
    const std::int64_t stride = rows * cols;
    check_blas(cublasLtMatrixLayoutSetAttribute(result, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                sizeof count));
    check_blas(cublasLtMatrixLayoutSetAttribute(result, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                &stride, sizeof stride));
  }
  return result;
}

}  // namespace

/// Column-major: y^T[n,m] = w[n,k] . x^T[k,m], w stored transposed.
struct Matmul::Plan {
  Plan(const MatmulShape& shape, void* work) : types(types_of(shape.dtype)), workspace(work) {
    check_blas(cublasLtMatmulDescCreate(&desc, types.compute, types.scale));
    set(desc, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    if (shape.dtype == "fp8") {
      set(desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    }
    w = layout(types.input, shape.k, shape.n, shape.batch);
    x = layout(types.input, shape.k, shape.m, shape.batch);
    y = layout(types.output, shape.n, shape.m, shape.batch);
    choose(shape);
  }

  ~Plan() {
    cublasLtMatrixLayoutDestroy(y);
    cublasLtMatrixLayoutDestroy(x);
    cublasLtMatrixLayoutDestroy(w);
    cublasLtMatmulDescDestroy(desc);
  }

  void choose(const MatmulShape& shape) {
    cublasLtMatmulPreference_t preference = nullptr;
    check_blas(cublasLtMatmulPreferenceCreate(&preference));
    const std::size_t bytes = kWorkspaceBytes;
    check_blas(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle(), desc, w, x, y, y, preference, 1, &choice, &found);
    cublasLtMatmulPreferenceDestroy(preference);
    if (status != CUBLAS_STATUS_SUCCESS || found == 0) {
      throw Unsupported("cuBLASLt has no algorithm for " + std::string(shape.dtype) +
                        " m=" + std::to_string(shape.m) + " n=" + std::to_string(shape.n) +
                        " k=" + std::to_string(shape.k));
    }
  }

  const Types& types;
  void* workspace;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t w = nullptr;
  cublasLtMatrixLayout_t x = nullptr;
  cublasLtMatrixLayout_t y = nullptr;
  cublasLtMatmulHeuristicResult_t choice{};
};

Matmul::Matmul(const MatmulShape& shape, void* workspace)
    : plan_(std::make_unique<Plan>(shape, workspace)) {}

void Matmul::run(const void* x, const void* w, void* y, cudaStream_t stream) const {
  const float one = 1;
  const float zero = 0;
  const std::int32_t whole_one = 1;
  const std::int32_t whole_zero = 0;
  const bool whole = plan_->types.scale == CUDA_R_32I;
  check_blas(cublasLtMatmul(
      handle(), plan_->desc, whole ? static_cast<const void*>(&whole_one) : &one, w, plan_->w, x,
      plan_->x, whole ? static_cast<const void*>(&whole_zero) : &zero, y, plan_->y, y, plan_->y,
      &plan_->choice.algo, plan_->workspace, kWorkspaceBytes, stream));
}

#else

struct Matmul::Plan {};

Matmul::Matmul(const MatmulShape&, void*) {
  throw Unsupported("this program was built without cuBLASLt");
}

void Matmul::run(const void*, const void*, void*, cudaStream_t) const {}

#endif

Matmul::~Matmul() = default;
Matmul::Matmul(Matmul&&) noexcept = default;
Matmul& Matmul::operator=(Matmul&&) noexcept = default;

}  // namespace mansard::measure
