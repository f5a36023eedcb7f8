#pragma once

#include <optional>
#include <string>

#include "validate/suite/gpu/library.hpp"

namespace mansard::measure {

/// The device's state at one moment; absent where the management library gives none.
struct DeviceState {
  std::optional<double> sm_mhz;
  std::optional<double> memory_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  /// Why the clocks are held down: words as `sw_power_cap`, `;` between them; empty for none.
  std::string throttle;
};

/// NVIDIA's management library (libnvidia-ml), found at run time; without it every reading is
/// absent.
class Nvml {
 public:
  /// `pci_bus_id` as CUDA gives it.
  explicit Nvml(const std::string& pci_bus_id);

  [[nodiscard]] bool found() const { return device_ != nullptr; }
  [[nodiscard]] DeviceState sample() const;
  [[nodiscard]] std::string driver_version() const;
  /// Highest SM clock in MHz, power cap in W.
  [[nodiscard]] std::optional<double> max_sm_mhz() const;
  [[nodiscard]] std::optional<double> power_cap_w() const;
  /// Joules since the driver was loaded; the counter steps every 20 to 100 ms.
  [[nodiscard]] std::optional<double> energy_j() const;
  /// Percent of the last sample period in which a kernel ran: another's load when we run none.
  [[nodiscard]] std::optional<double> utilization() const;

 private:
  Library library_;
  void* device_ = nullptr;
};

}  // namespace mansard::measure
