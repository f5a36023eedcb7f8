#pragma once

#include "model/calibration.hpp"
#include "model/capacities.hpp"
#include "model/cost_model.hpp"

/// From ops to the whole step.
namespace mansard::model {

struct TotalsContext {
  const Capacities& capacities;
  Parameters& parameters;
  const CostOptions& options;
};

/// Fills the totals of `model` from its ops, each times its count:
///
///   estimate = max(sum of estimates, sum of the host's times to issue, sum of dynamic energies /
///   (cap - idle))
///
/// The second matters where the host issues kernel by kernel, the third under the power cap
/// (sustained regime). Of a step, low and high come from `step.interval` (errors of ops cancel in
/// part), of an op alone from its own interval.
void add_totals(const TotalsContext& context, CostModel& model);

}  // namespace mansard::model
