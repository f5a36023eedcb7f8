#include "validate/probes/nccl.hpp"
#include "validate/suite/gpu/environment.cuh"

namespace mansard::measure {
namespace {

constexpr int kBfloat16 = 9;
constexpr int kSum = 0;

/// The function of that name; throws when the library lacks it.
template <typename Function>
Function* required(const char* name) {
  auto* const function = nccl_library().symbol<Function>(name);
  if (function == nullptr) {
    throw Unsupported(std::string("libnccl has no ") + name);
  }
  return function;
}

}  // namespace

Nccl::Nccl() {
  if (!nccl_library().found()) {
    throw Unsupported("libnccl was not found");
  }
}

void Nccl::check_nccl(int result) const {
  if (result != 0) {
    throw DeviceError(
        std::string("NCCL: ") + required<const char*(int)>("ncclGetErrorString")(result),
        std::source_location::current());
  }
}

void Nccl::init(NcclComm* comms, int count, const int* devices) const {
  check_nccl(required<int(NcclComm*, int, const int*)>("ncclCommInitAll")(comms, count, devices));
}

void Nccl::destroy(NcclComm comm) const {
  check_nccl(required<int(NcclComm)>("ncclCommDestroy")(comm));
}

void Nccl::all_reduce(const void* send, void* receive, std::size_t count, NcclComm comm,
                      void* stream) const {
  using Function = int(const void*, void*, std::size_t, int, int, NcclComm, void*);
  static Function* const kCall = required<Function>("ncclAllReduce");
  check_nccl(kCall(send, receive, count, kBfloat16, kSum, comm, stream));
}

void Nccl::all_gather(const void* send, void* receive, std::size_t count, NcclComm comm,
                      void* stream) const {
  using Function = int(const void*, void*, std::size_t, int, NcclComm, void*);
  static Function* const kCall = required<Function>("ncclAllGather");
  check_nccl(kCall(send, receive, count, kBfloat16, comm, stream));
}

void Nccl::reduce_scatter(const void* send, void* receive, std::size_t count, NcclComm comm,
                          void* stream) const {
  using Function = int(const void*, void*, std::size_t, int, int, NcclComm, void*);
  static Function* const kCall = required<Function>("ncclReduceScatter");
  check_nccl(kCall(send, receive, count, kBfloat16, kSum, comm, stream));
}

void Nccl::send(const void* data, std::size_t count, int peer, NcclComm comm, void* stream) const {
  using Function = int(const void*, std::size_t, int, int, NcclComm, void*);
  static Function* const kCall = required<Function>("ncclSend");
  check_nccl(kCall(data, count, kBfloat16, peer, comm, stream));
}

void Nccl::receive(void* data, std::size_t count, int peer, NcclComm comm, void* stream) const {
  using Function = int(void*, std::size_t, int, int, NcclComm, void*);
  static Function* const kCall = required<Function>("ncclRecv");
  check_nccl(kCall(data, count, kBfloat16, peer, comm, stream));
}

void Nccl::group_start() const {
  check_nccl(required<int()>("ncclGroupStart")());
}

void Nccl::group_end() const {
  check_nccl(required<int()>("ncclGroupEnd")());
}

}  // namespace mansard::measure
