#include <cmath>
#include <vector>

#include "validate/suite/cudnn.hpp"
#include "validate/suite/gpu/environment.cuh"

namespace mansard::measure {
namespace {

// The part of cudnn_graph.h (cuDNN 9) that is used, for toolkits that come without it.
using Handle = void*;
using Descriptor = void*;

enum DescriptorType {
  kEngineConfig = 3,
  kEngineHeuristic = 4,
  kExecutionPlan = 5,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kSdpaForward = 41
};

enum Attribute {
  kHeuristicMode = 200,
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kGraphHandle = 800,
  kGraphOps = 801,
  kTensorAlignment = 900,
  kTensorDtype = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kSdpaQuery = 2800,
  kSdpaKey = 2801,
  kSdpaValue = 2802,
  kSdpaOut = 2803,
  kSdpaScale = 2805
};

enum ValueType {
  kTypeHandle = 0,
  kTypeDtype = 1,
  kTypeBool = 2,
  kTypeInt64 = 3,
  kTypePointer = 6,
  kTypeHeuristicMode = 8,
  kTypeDescriptor = 15
};

constexpr int kFloat = 0;
constexpr int kBfloat16 = 9;
constexpr int kHeuristicA = 3;
constexpr std::int64_t kQueryId = 1;
constexpr std::int64_t kKeyId = 2;
constexpr std::int64_t kValueId = 3;
constexpr std::int64_t kOutId = 4;
constexpr std::int64_t kScaleId = 5;

struct Api {
  const Library& library = cudnn_library();
  int (*create_handle)(Handle*) = library.symbol<int(Handle*)>("cudnnCreate");
  int (*set_stream)(Handle, void*) = library.symbol<int(Handle, void*)>("cudnnSetStream");
  int (*create)(int, Descriptor*) =
      library.symbol<int(int, Descriptor*)>("cudnnBackendCreateDescriptor");
  int (*destroy)(Descriptor) = library.symbol<int(Descriptor)>("cudnnBackendDestroyDescriptor");
  int (*set)(Descriptor, int, int, std::int64_t, const void*) =
      library.symbol<int(Descriptor, int, int, std::int64_t, const void*)>(
          "cudnnBackendSetAttribute");
  int (*get)(Descriptor, int, int, std::int64_t, std::int64_t*, void*) =
      library.symbol<int(Descriptor, int, int, std::int64_t, std::int64_t*, void*)>(
          "cudnnBackendGetAttribute");
  int (*finalize)(Descriptor) = library.symbol<int(Descriptor)>("cudnnBackendFinalize");
  int (*execute)(Handle, Descriptor, Descriptor) =
      library.symbol<int(Handle, Descriptor, Descriptor)>("cudnnBackendExecute");
  const char* (*words)(int) = library.symbol<const char*(int)>("cudnnGetErrorString");
  void (*last_words)(char*, std::size_t) =
      library.symbol<void(char*, std::size_t)>("cudnnGetLastErrorString");

  /// What the library says of a failure.
  [[nodiscard]] std::string describe(int status) const {
    char text[512] = "";
    if (last_words != nullptr) {
      last_words(text, sizeof text);
    }
    return std::string(words != nullptr ? words(status) : "?") + " " + text;
  }
};

const Api& api() {
  static const Api kApi;
  if (!kApi.library.found() || kApi.execute == nullptr) {
    throw Unsupported("libcudnn 9 was not found");
  }
  return kApi;
}

void check_cudnn(int status, std::source_location where = std::source_location::current()) {
  if (status != 0) {
    throw DeviceError("cuDNN: " + api().describe(status), where);
  }
}

Handle handle() {
  static const Handle kHandle = [] {
    Handle created = nullptr;
    check_cudnn(api().create_handle(&created));
    return created;
  }();
  return kHandle;
}

/// A descriptor of the backend, destroyed with its owner.
class Owned {
 public:
  explicit Owned(DescriptorType type) { check_cudnn(api().create(type, &value_)); }
  ~Owned() {
    if (value_ != nullptr) {
      api().destroy(value_);
    }
  }
  Owned(Owned&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned& operator=(Owned&&) = delete;

  template <typename T>
  void set(Attribute attribute, ValueType type, const T* values, std::int64_t count) {
    check_cudnn(api().set(value_, attribute, type, count, values));
  }
  template <typename T>
  void set(Attribute attribute, ValueType type, T value) {
    set(attribute, type, &value, 1);
  }
  void set(Attribute attribute, const Owned& part) { set(attribute, kTypeDescriptor, part.value_); }
  [[nodiscard]] int finalize() { return api().finalize(value_); }
  [[nodiscard]] Descriptor get() const { return value_; }

 private:
  Descriptor value_ = nullptr;
};

Owned tensor(std::int64_t id, int dtype, const std::int64_t (&dims)[4], bool by_value) {
  const std::int64_t strides[] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
  Owned result(kTensor);
  result.set(kTensorDtype, kTypeDtype, dtype);
  result.set(kTensorDimensions, kTypeInt64, dims, 4);
  result.set(kTensorStrides, kTypeInt64, strides, 4);
  result.set(kTensorId, kTypeInt64, id);
  result.set(kTensorAlignment, kTypeInt64, std::int64_t{16});
  if (by_value) {
    result.set(kTensorByValue, kTypeBool, true);
  }
  check_cudnn(result.finalize());
  return result;
}

}  // namespace

struct CudnnAttention::Plan {
  explicit Plan(const CudnnAttentionShape& s)
      : q(tensor(kQueryId, kBfloat16, {s.batch, s.q_heads, s.q_len, s.dim}, false)),
        k(tensor(kKeyId, kBfloat16, {s.batch, s.kv_heads, s.kv_len, s.dim}, false)),
        v(tensor(kValueId, kBfloat16, {s.batch, s.kv_heads, s.kv_len, s.dim}, false)),
        o(tensor(kOutId, kBfloat16, {s.batch, s.q_heads, s.q_len, s.dim}, false)),
        scale_tensor(tensor(kScaleId, kFloat, {1, 1, 1, 1}, true)),
        scale(1 / std::sqrt(static_cast<float>(s.dim))) {
    operation.set(kSdpaQuery, q);
    operation.set(kSdpaKey, k);
    operation.set(kSdpaValue, v);
    operation.set(kSdpaOut, o);
    operation.set(kSdpaScale, scale_tensor);
    require(operation.finalize());
    graph.set(kGraphHandle, kTypeHandle, handle());
    graph.set(kGraphOps, operation);
    require(graph.finalize());
    choose();
  }

  static void require(int status) {
    if (status != 0) {
      throw Unsupported("cuDNN does not take this attention: " + api().describe(status));
    }
  }

  /// The heuristic's configurations in its order; the first that becomes a plan.
  void choose() {
    constexpr std::int64_t kMost = 8;
    heuristic.set(kHeuristicGraph, graph);
    heuristic.set(kHeuristicMode, kTypeHeuristicMode, kHeuristicA);
    require(heuristic.finalize());
    std::vector<Descriptor> found;
    for (std::int64_t i = 0; i < kMost; ++i) {
      found.push_back(configs.emplace_back(kEngineConfig).get());
    }
    std::int64_t count = 0;
    require(api().get(heuristic.get(), kHeuristicResults, kTypeDescriptor, kMost, &count,
                      found.data()));
    for (std::int64_t i = 0; i < std::min(count, kMost); ++i) {
      plan = std::make_unique<Owned>(kExecutionPlan);
      plan->set(kPlanHandle, kTypeHandle, handle());
      plan->set(kPlanConfig, kTypeDescriptor, found[i]);
      if (plan->finalize() == 0) {
        std::int64_t one = 0;
        check_cudnn(api().get(plan->get(), kPlanWorkspace, kTypeInt64, 1, &one, &workspace_bytes));
        return;
      }
    }
    throw Unsupported("cuDNN has no plan for this attention");
  }

  Owned q;
  Owned k;
  Owned v;
  Owned o;
  Owned scale_tensor;
  float scale;
  Owned operation{kSdpaForward};
  Owned graph{kOperationGraph};
  Owned heuristic{kEngineHeuristic};
  std::vector<Owned> configs;
  std::unique_ptr<Owned> plan;
  std::int64_t workspace_bytes = 0;
};

CudnnAttention::CudnnAttention(const CudnnAttentionShape& shape)
    : plan_(std::make_unique<Plan>(shape)) {}

CudnnAttention::~CudnnAttention() = default;

std::int64_t CudnnAttention::workspace_bytes() const {
  return plan_->workspace_bytes;
}

void CudnnAttention::run(const void* q, const void* k, const void* v, void* o, void* workspace,
                         void* stream) {
  const std::int64_t ids[] = {kQueryId, kKeyId, kValueId, kOutId, kScaleId};
  const void* const pointers[] = {q, k, v, o, &plan_->scale};
  Owned pack(kVariantPack);
  pack.set(kPackIds, kTypeInt64, ids, 5);
  pack.set(kPackPointers, kTypePointer, pointers, 5);
  pack.set(kPackWorkspace, kTypePointer, workspace);
  check_cudnn(pack.finalize());
  check_cudnn(api().set_stream(handle(), stream));
  check_cudnn(api().execute(handle(), plan_->plan->get(), pack.get()));
}

}  // namespace mansard::measure
