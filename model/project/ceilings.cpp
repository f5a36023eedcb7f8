#include "model/project/ceilings.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mansard::model {
namespace {

/// Below this share of every ceiling a kernel waits for latencies.
constexpr double kNearCeiling = 0.75;
/// A kernel shorter than this many launches in a graph is mostly start and end.
constexpr double kLaunches = 2;
constexpr double kSector = 32;

/// The rate at the greatest clock.
std::optional<double> peak(const hardware::Machine& machine, const std::string& path) {
  if (machine.find(path) == nullptr || !machine.known(path)) {
    return std::nullopt;
  }
  ir::ExprPool pool;
  const auto rate = machine.peak(path, pool);
  return rate ? std::optional(ir::value(*rate, machine.bindings())) : std::nullopt;
}

/// Stated where it is, else measured.
std::optional<double> bandwidth(const hardware::Machine& machine, const std::string& tier) {
  const auto stated = machine.known(tier + ".bandwidth");
  return stated ? stated : machine.known(tier + ".measured_bandwidth");
}

class Builder {
 public:
  Builder(const hardware::Machine& machine, const ir::KernelWork& work)
      : machine_(machine), work_(work) {
    result_.work = &work;
  }

  KernelRoofline build() {
    const std::string main = machine_.main().name;
    add(main, work_.main_bytes, bandwidth(machine_, main));
    add("l2", work_.l2_bytes, bandwidth(machine_, "l2"));
    add("shared", work_.l1_bytes, at_clock(bandwidth(machine_, "shared")));
    const auto issue = at_clock(machine_.known("instruction"));
    add("instruction", work_.warp_instructions, issue);
    const auto memory = bandwidth(machine_, main);
    if (issue && memory) {
      result_.instruction_ridge = *issue / (*memory / kSector);
    }
    rates();
    intensities();
    classify();
    std::sort(result_.ceilings.begin(), result_.ceilings.end(),
              [](const CeilingTime& a, const CeilingTime& b) {
                return a.seconds != b.seconds ? a.seconds > b.seconds : a.resource < b.resource;
              });
    finish();
    return std::move(result_);
  }

 private:
  /// A rate of the processors at the clock that the kernel was held to.
  [[nodiscard]] std::optional<double> at_clock(std::optional<double> rate) const {
    const auto most = machine_.known("clock.max");
    const bool held = rate && work_.clock_locked && work_.clock_hz && most && *work_.clock_hz > 0;
    return held ? std::optional(*rate * std::min(1.0, *work_.clock_hz / *most)) : rate;
  }

  void add(const std::string& resource, std::optional<double> amount, std::optional<double> rate) {
    if (amount && rate && *rate > 0) {
      result_.ceilings.push_back({resource, *amount / *rate});
    }
  }

  /// FLOP of several formats share the processors, so their times add up per engine.
  void rates() {
    double most = 0;
    for (const auto& [path, flops] : work_.flops) {
      const auto rate = at_clock(peak(machine_, path));
      if (!rate) {
        continue;
      }
      result_.ceilings.push_back({path, flops / *rate});
      compute_ = std::max(compute_, flops / *rate);
      if (flops > most) {
        most = flops;
        const auto memory = bandwidth(machine_, machine_.main().name);
        result_.ridge = memory ? *rate / *memory : 0;
      }
    }
  }

  void intensities() {
    const double flops = work_.total_flops();
    const auto per = [&](const std::optional<double>& bytes) {
      return bytes && *bytes > 0 && flops > 0 ? std::optional(flops / *bytes) : std::nullopt;
    };
    result_.intensity = per(work_.main_bytes);
    result_.l2_intensity = per(work_.l2_bytes);
    result_.l1_intensity = per(work_.l1_bytes);
    if (work_.warp_instructions && work_.main_sectors && *work_.main_sectors > 0) {
      result_.instruction_intensity = *work_.warp_instructions / *work_.main_sectors;
    }
  }

  void classify() {
    const auto seconds = [this](const std::string& resource) {
      for (const CeilingTime& ceiling : result_.ceilings) {
        if (ceiling.resource == resource) {
          return ceiling.seconds;
        }
      }
      return 0.0;
    };
    const double rates = compute_ > 0 ? compute_ : seconds("instruction");
    result_.above_ridge = rates > seconds(machine_.main().name);
  }

  [[nodiscard]] static bool is_rate(const std::string& resource) {
    return resource == "instruction" || resource.starts_with("vector.") ||
           resource.starts_with("matrix.");
  }

  void finish() {
    if (result_.ceilings.empty() || work_.seconds <= 0) {
      return;
    }
    const CeilingTime& binding = result_.ceilings.front();
    result_.attained = binding.seconds / work_.seconds;
    result_.headroom_s = std::max(0.0, work_.seconds - binding.seconds);
    const double launch = machine_.known("launch.graph").value_or(0);
    if (result_.attained >= kNearCeiling) {
      result_.bound = is_rate(binding.resource) ? KernelBound::kCompute : KernelBound::kMemory;
    } else {
      result_.bound =
          work_.seconds < kLaunches * launch ? KernelBound::kLaunch : KernelBound::kLatency;
    }
  }

  const hardware::Machine& machine_;
  const ir::KernelWork& work_;
  KernelRoofline result_;
  double compute_ = 0;
};

}  // namespace

std::string_view name_of(KernelBound bound) {
  switch (bound) {
    case KernelBound::kMemory:
      return "memory";
    case KernelBound::kCompute:
      return "compute";
    case KernelBound::kLaunch:
      return "launch";
    case KernelBound::kLatency:
      return "latency";
    case KernelBound::kUnknown:
      break;
  }
  return "unknown";
}

KernelRoofline kernel_roofline(const hardware::Machine& machine, const ir::KernelWork& work) {
  return Builder(machine, work).build();
}

}  // namespace mansard::model
