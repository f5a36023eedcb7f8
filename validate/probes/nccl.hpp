#pragma once

#include <cstddef>
#include <string>

namespace mansard::measure {

// The part of nccl.h that is used, for toolkits that come without it; `stream` is a cudaStream_t.
using NcclComm = void*;

/// NCCL by name, found at run time. Each method throws DeviceError when the call fails, and
/// Unsupported when the library is absent. Elements are bf16.
class Nccl {
 public:
  Nccl();

  void init(NcclComm* comms, int count, const int* devices) const;
  void destroy(NcclComm comm) const;
  void all_reduce(const void* send, void* receive, std::size_t count, NcclComm comm,
                  void* stream) const;
  /// `count` elements of each rank.
  void all_gather(const void* send, void* receive, std::size_t count, NcclComm comm,
                  void* stream) const;
  /// `count` elements for each rank.
  void reduce_scatter(const void* send, void* receive, std::size_t count, NcclComm comm,
                      void* stream) const;
  void send(const void* data, std::size_t count, int peer, NcclComm comm, void* stream) const;
  void receive(void* data, std::size_t count, int peer, NcclComm comm, void* stream) const;
  void group_start() const;
  void group_end() const;

 private:
  void check_nccl(int result) const;
};

}  // namespace mansard::measure
