#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/cost_model.hpp"
#include "support/dimension.hpp"

/// The terms of an op's bound taken apart again: what is asked of which resource, and what it
/// offers.
namespace mansard::cli {

struct Load {
  std::string resource;  ///< "hbm", "matrix.bf16".
  std::string metric;
  Dimension unit;       ///< Of the demand.
  double demand = 0;    ///< Of the bound: the least.
  double expected = 0;  ///< Of the estimate; differs where experts are routed to.
  double seconds = 0;   ///< demand / capacity.
  [[nodiscard]] double capacity() const { return demand / seconds; }
};

/// Terms that ask for nothing are left out; the greatest is first, the others in the order of the
/// model.
[[nodiscard]] std::vector<Load> loads(const model::OpCost& op, const ir::Bindings& bindings);

/// The path of a figure of the machine that is this resource's capacity: "hbm.bandwidth",
/// "matrix.bf16".
[[nodiscard]] std::string capacity_path(const std::string& resource);

/// The value of a workload symbol nearest to the present one at which another resource binds.
struct Crossing {
  std::int64_t at = 0;
  bool above = true;     ///< Else it binds below.
  std::string resource;  ///< What binds there.
};
/// Looks at whole values up to 2^20 for `symbol` "batch" or "context".
[[nodiscard]] std::optional<Crossing> crossing(const model::OpCost& op,
                                               const ir::Bindings& bindings,
                                               const std::string& symbol);

}  // namespace mansard::cli
