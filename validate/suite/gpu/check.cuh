#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

namespace mansard::measure {

/// A call of the device's libraries that failed; the text holds file:line and the library's words.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(const std::string& what, std::source_location where)
      : std::runtime_error(std::string(where.file_name()) + ":" + std::to_string(where.line()) +
                           ": " + what) {}
};

/// Throws DeviceError unless the call succeeded.
inline void check(cudaError_t error, std::source_location where = std::source_location::current()) {
  if (error != cudaSuccess) {
    cudaGetLastError();
    throw DeviceError(std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error),
                      where);
  }
}

/// Throws DeviceError when the launch before it was refused.
inline void check_launch(std::source_location where = std::source_location::current()) {
  check(cudaGetLastError(), where);
}

}  // namespace mansard::measure
