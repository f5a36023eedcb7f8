#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "validate/suite/gpu/check.cuh"

namespace mansard::measure {

/// One large device allocation from which an op's operands are cut, 256-byte aligned, and given
/// back together.
class Arena {
 public:
  explicit Arena(std::size_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Throws DeviceError when the arena is too small, saying how much was asked for.
  [[nodiscard]] std::byte* take(std::size_t bytes,
                                std::source_location where = std::source_location::current());
  template <typename T>
  [[nodiscard]] T* take_array(std::size_t count,
                              std::source_location where = std::source_location::current()) {
    return reinterpret_cast<T*>(take(count * sizeof(T), where));
  }
  void reset() { used_ = 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t left() const { return size_ - used_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

/// A copy in host memory, once what the stream holds is done.
template <typename T>
[[nodiscard]] std::vector<T> download(const T* data, std::size_t count, cudaStream_t stream) {
  std::vector<T> result(count);
  check(cudaMemcpyAsync(result.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  return result;
}

/// Bytes of one element of fp64, fp32, tf32, bf16, fp16, fp8, int32, int8 and the like; throws
/// UsageError on others.
[[nodiscard]] std::size_t element_bytes(std::string_view dtype);

/// Fresh random data: floating formats as from a normal distribution of variance 1, whole ones
/// uniform over the format's range. `seed` and the index decide each element.
void fill_random(std::string_view dtype, void* data, std::size_t count, std::uint64_t seed,
                 cudaStream_t stream);
/// Whole numbers in [0, limit).
void fill_indices(std::uint32_t* data, std::size_t count, std::uint32_t limit, std::uint64_t seed,
                  cudaStream_t stream);
/// For each row of `dim` elements, the cosines of dim / 2 random angles and then their sines.
void fill_angles(float* data, std::size_t count, std::uint32_t dim, std::uint64_t seed,
                 cudaStream_t stream);
/// NaN in every floating format, so that an element never written shows.
void poison(void* data, std::size_t bytes, cudaStream_t stream);
/// Reads `bytes`, so that nothing else stays in the L2.
void read_through(const void* data, std::size_t bytes, cudaStream_t stream);

}  // namespace mansard::measure
