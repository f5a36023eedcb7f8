#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validate/measure/row.hpp"

namespace mansard::measure {

/// A parameter of a PTX entry.
struct KernelParam {
  /// As PTX names it: `saxpy_param_0`.
  std::string name;
  /// `u32`, `f32`, `u64`, `b8`, ...
  std::string type;
  std::int64_t bytes = 0;
};

/// What is passed: a buffer on the device, or a scalar's bytes.
struct KernelArgument {
  std::string param;
  bool is_buffer = false;
  /// Element type of a buffer, as memory.cuh names it.
  std::string element;
  std::int64_t count = 0;
  /// Whole numbers below it; 0: random over the whole format.
  std::int64_t limit = 0;
  /// A scalar, little endian, as wide as its parameter.
  std::vector<std::byte> scalar;
};

/// The parameters of `.entry NAME(...)` in a PTX text. Throws UsageError when there is no such
/// entry, naming those that there are.
[[nodiscard]] std::vector<KernelParam> entry_params(std::string_view ptx, std::string_view entry);

/// Binds `args` ("n=1024;x=f32[1048576];i=u32[64]%1024;a=2.0f") to the parameters: by PTX name, by
/// position ("0=..."), by `names` (the source's names in order), and, when none of these fits and
/// there are as many as parameters, in order. Unbound pointers (64 bits) get 1 GiB of random fp32.
/// Throws UsageError on the rest.
[[nodiscard]] std::vector<KernelArgument> bind_arguments(std::span<const KernelParam> params,
                                                         std::string_view args,
                                                         std::span<const std::string> names);

}  // namespace mansard::measure
