#include "validate/suite/gpu/nvml.hpp"

#include <string_view>

namespace mansard::measure {
namespace {

// The part of nvml.h that is used, for toolkits that come without it.
using NvmlDevice = void*;
constexpr unsigned kSmClock = 1;
constexpr unsigned kMemoryClock = 2;
constexpr unsigned kGpuTemperature = 0;
constexpr unsigned kInstantPowerField = 186;

struct FieldValue {
  unsigned field = 0;
  unsigned scope = 0;
  long long timestamp = 0;
  long long latency_us = 0;
  int value_type = 0;
  int result = 0;
  union {
    double d;
    unsigned ui;
    unsigned long long ull;
  } value{};
};

struct Utilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};

struct Reason {
  unsigned long long bit;
  std::string_view name;
};

constexpr Reason kReasons[] = {{0x2, "applications_clocks"}, {0x4, "sw_power_cap"},
                               {0x8, "hw_slowdown"},         {0x10, "sync_boost"},
                               {0x20, "sw_thermal"},         {0x40, "hw_thermal"},
                               {0x80, "hw_power_brake"},     {0x100, "display_clocks"}};

std::string reason_words(unsigned long long bits) {
  std::string words;
  for (const Reason& reason : kReasons) {
    if ((bits & reason.bit) != 0) {
      words += (words.empty() ? "" : ";") + std::string(reason.name);
    }
  }
  return words;
}

using ReadUnsigned = int(NvmlDevice, unsigned*);
using ReadIndexed = int(NvmlDevice, unsigned, unsigned*);

std::optional<double> read(ReadUnsigned* function, NvmlDevice device, double unit) {
  unsigned value = 0;
  if (function == nullptr || device == nullptr || function(device, &value) != 0) {
    return std::nullopt;
  }
  return value * unit;
}

std::optional<double> read(ReadIndexed* function, NvmlDevice device, unsigned index) {
  unsigned value = 0;
  if (function == nullptr || device == nullptr || function(device, index, &value) != 0) {
    return std::nullopt;
  }
  return value;
}

/// Watts at this moment, where the device reports them apart from the average of the last second.
std::optional<double> instant_power(const Library& library, NvmlDevice device) {
  auto* const fields =
      library.symbol<int(NvmlDevice, int, FieldValue*)>("nvmlDeviceGetFieldValues");
  FieldValue value;
  value.field = kInstantPowerField;
  if (fields == nullptr || fields(device, 1, &value) != 0 || value.result != 0) {
    return std::nullopt;
  }
  return value.value.ui * 1e-3;
}

}  // namespace

Nvml::Nvml(const std::string& pci_bus_id) : library_({"libnvidia-ml.so.1"}) {
  auto* const init = library_.symbol<int()>("nvmlInit_v2");
  auto* const find =
      library_.symbol<int(const char*, NvmlDevice*)>("nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || find == nullptr || init() != 0 ||
      find(pci_bus_id.c_str(), &device_) != 0) {
    device_ = nullptr;
  }
}

DeviceState Nvml::sample() const {
  DeviceState state;
  if (!found()) {
    return state;
  }
  auto* const clock = library_.symbol<ReadIndexed>("nvmlDeviceGetClockInfo");
  state.sm_mhz = read(clock, device_, kSmClock);
  state.memory_mhz = read(clock, device_, kMemoryClock);
  state.power_w = instant_power(library_, device_);
  if (!state.power_w) {
    state.power_w = read(library_.symbol<ReadUnsigned>("nvmlDeviceGetPowerUsage"), device_, 1e-3);
  }
  state.temperature_c =
      read(library_.symbol<ReadIndexed>("nvmlDeviceGetTemperature"), device_, kGpuTemperature);
  auto* const reasons = library_.symbol<int(NvmlDevice, unsigned long long*)>(
      "nvmlDeviceGetCurrentClocksThrottleReasons");
  unsigned long long bits = 0;
  if (reasons != nullptr && reasons(device_, &bits) == 0) {
    state.throttle = reason_words(bits);
  }
  return state;
}

std::string Nvml::driver_version() const {
  char text[96] = "";
  auto* const version = library_.symbol<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  return version != nullptr && version(text, sizeof text) == 0 ? text : "unknown";
}

std::optional<double> Nvml::max_sm_mhz() const {
  return read(library_.symbol<ReadIndexed>("nvmlDeviceGetMaxClockInfo"), device_, kSmClock);
}

std::optional<double> Nvml::power_cap_w() const {
  return read(library_.symbol<ReadUnsigned>("nvmlDeviceGetEnforcedPowerLimit"), device_, 1e-3);
}

std::optional<double> Nvml::energy_j() const {
  auto* const total =
      library_.symbol<int(NvmlDevice, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
  unsigned long long millijoules = 0;
  if (!found() || total == nullptr || total(device_, &millijoules) != 0) {
    return std::nullopt;
  }
  return static_cast<double>(millijoules) * 1e-3;
}

std::optional<double> Nvml::utilization() const {
  auto* const rates =
      library_.symbol<int(NvmlDevice, Utilization*)>("nvmlDeviceGetUtilizationRates");
  Utilization value;
  if (!found() || rates == nullptr || rates(device_, &value) != 0) {
    return std::nullopt;
  }
  return value.gpu;
}

}  // namespace mansard::measure
