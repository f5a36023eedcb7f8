#include "validate/suite/gpu/environment.cuh"

#ifdef MANSARD_CUBLASLT
#include <cublasLt.h>
#endif
#include <filesystem>
#include <fstream>
#include <iterator>

#include "validate/measure/manifest.hpp"

namespace mansard::measure {
namespace {

std::string dotted(std::size_t version, std::size_t major_unit, std::size_t minor_unit) {
  return std::to_string(version / major_unit) + "." +
         std::to_string(version % major_unit / minor_unit) + "." +
         std::to_string(version % minor_unit);
}

std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Json clocks(const Nvml& nvml) {
  const DeviceState state = nvml.sample();
  Json json;
  json.add("sm_mhz", state.sm_mhz.value_or(0))
      .add("memory_mhz", state.memory_mhz.value_or(0))
      .add("max_sm_mhz", nvml.max_sm_mhz().value_or(0))
      .add("power_w", state.power_w.value_or(0))
      .add("power_cap_w", nvml.power_cap_w().value_or(0))
      .add("temperature_c", state.temperature_c.value_or(0))
      .add("throttle", state.throttle)
      .add("setting", "as found: neither locked nor changed by this program");
  return json;
}

Json versions(const Nvml& nvml) {
  int driver_api = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver_api));
  check(cudaRuntimeGetVersion(&runtime));
  Json json;
  json.add("driver", nvml.driver_version())
      .add("driver_cuda", cuda_version(driver_api))
      .add("runtime", cuda_version(runtime))
      .add("toolkit", std::to_string(__CUDACC_VER_MAJOR__) + "." +
                          std::to_string(__CUDACC_VER_MINOR__) + "." +
                          std::to_string(__CUDACC_VER_BUILD__))
      .add("cublaslt", cublaslt_version())
      .add("cudnn", cudnn_version())
      .add("nccl", nccl_version());
  return json;
}

/// Refuses to mix two machines in one folder.
void require_same(const std::filesystem::path& path, const DeviceInfo& device, const Nvml& nvml) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const std::string& value : {device.name, nvml.driver_version()}) {
    if (text.find('"' + value + '"') == std::string::npos) {
      throw UsageError("'" + path.string() + "' is of another device or driver than this '" +
                       value + "': give another folder");
    }
  }
}

}  // namespace

void write_manifest(const Options& options, const std::string& machine, const DeviceInfo& device,
                    const Nvml& nvml) {
  const std::filesystem::path path = options.out / "manifest.json";
  if (std::filesystem::exists(path)) {
    require_same(path, device, nvml);
    return;
  }
  Json json;
  json.add("schema", "mansard.manifest/1")
      .add("machine", machine)
      .add("device", device.name)
      .add("date", utc_date())
      .add("sms", device.sms)
      .add("compute_capability", device.capability / 10.0)
      .add("l2_bytes", static_cast<double>(device.l2_bytes))
      .add("memory_bytes", static_cast<double>(device.memory_bytes))
      .add("versions", versions(nvml))
      .add("clocks", clocks(nvml))
      .add("protocol",
           "median of CUDA graph replays of many calls between events; operands rotate through 3 x "
           "L2 (cache=cold) or stay (cache=warm); fresh random data; fp8 with fast accumulation");
  write_file(path, json.render());
}

std::string cublaslt_version() {
#ifdef MANSARD_CUBLASLT
  return dotted(cublasLtGetVersion(), 10000, 100);
#else
  return "absent";
#endif
}

std::string cublaslt_name() {
  const std::string version = cublaslt_version();
  return "cublaslt-" + version.substr(0, version.find('.'));
}

const Library& cudnn_library() {
  static const Library library({"libcudnn.so.9", "libcudnn.so"});
  return library;
}

const Library& nccl_library() {
  static const Library library({"libnccl.so.2", "libnccl.so"});
  return library;
}

std::string cudnn_version() {
  auto* const version = cudnn_library().symbol<std::size_t()>("cudnnGetVersion");
  return version == nullptr ? "absent" : dotted(version(), 10000, 100);
}

std::string nccl_version() {
  auto* const version = nccl_library().symbol<int(int*)>("ncclGetVersion");
  int value = 0;
  const bool known = version != nullptr && version(&value) == 0;
  return known ? dotted(static_cast<std::size_t>(value), 10000, 100) : "absent";
}

}  // namespace mansard::measure
