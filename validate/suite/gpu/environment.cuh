#pragma once

#include <string>

#include "validate/suite/gpu/lab.cuh"

namespace mansard::measure {

/// Writes DIR/manifest.json: device, driver, runtime and library versions, clock state, date; no
/// serial number or UUID. Where it exists, it must be of the same device and driver: throws
/// UsageError otherwise.
void write_manifest(const Options& options, const std::string& machine, const DeviceInfo& device,
                    const Nvml& nvml);

/// "13.1" of cuBLASLt and so on; "absent" where the library is not found.
[[nodiscard]] std::string cublaslt_version();
[[nodiscard]] std::string cudnn_version();
[[nodiscard]] std::string nccl_version();

/// The major version only, as implementations are named: "cublaslt-13".
[[nodiscard]] std::string cublaslt_name();

/// The libraries that are found at run time.
[[nodiscard]] const Library& cudnn_library();
[[nodiscard]] const Library& nccl_library();

}  // namespace mansard::measure
