#pragma once

#include <span>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "model/prediction.hpp"

/// The hierarchical roofline (Williams et al. 2009; Yang et al. 2020): what a machine allows at
/// each intensity, and where the ops of a step lie below it.
namespace mansard::cli {

/// What kind of resource binds an op; decides its colour.
enum class ResourceClass { kMain, kCache, kMatrix, kVector, kLink, kOther };

struct Roofline {
  /// A rate of work, of one or more dtypes and engines.
  struct Ceiling {
    std::string label;  ///< "bf16, fp16 matrix".
    double flops_per_s = 0;
    bool used = false;  ///< By an op of the step.
    bool matrix = false;
  };
  /// A bandwidth.
  struct Slope {
    std::string label;  ///< "hbm".
    double bytes_per_s = 0;
  };
  struct Dot {
    std::string name;
    std::string binding;
    ResourceClass resource = ResourceClass::kOther;
    double intensity = 0;  ///< FLOP per byte moved.
    double flops_per_s = 0;
    double share = 0;  ///< Of the time of the step.
  };
  /// An op without FLOP has no place on the plot.
  struct LeftOut {
    std::string name;
    double share = 0;
  };

  std::string machine;
  std::string heading;
  std::string summary;            ///< "6.18 ms a step, at least 4.02 ms".
  std::vector<Ceiling> ceilings;  ///< From low to high.
  std::vector<Slope> slopes;      ///< The device memory first.
  std::vector<Dot> dots;          ///< The largest share first.
  std::vector<LeftOut> left_out;  ///< Likewise.
};

[[nodiscard]] Roofline roofline(const hardware::Machine& machine,
                                const model::Prediction& prediction);

/// One panel a machine, axes the same in all. Legible on light and dark backgrounds.
[[nodiscard]] std::string roofline_svg(std::span<const Roofline> panels);

}  // namespace mansard::cli
