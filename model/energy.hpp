#pragma once

#include "model/estimate/context.hpp"

/// What ops draw from the supply.
namespace mansard::model {

/// Energy of one execution of an op; absent (`dynamic` false) where the calibration has no energy
/// data or the machine no power figures.
struct OpEnergy {
  Typed<Joules> dynamic;  ///< Above idling.
  Typed<Joules> total;
};

/// Energy of an op that takes `time`, in `busy` of which (absent: none) instructions keep the
/// processors busy:
///
///   dynamic = ((FLOP * flop)^p + (main reads * read + main writes * write + other bytes *
///   cache)^p)^(1/p) dynamic of an op without contractions: at least `active` * busy, the power of
///   a chip busy with instructions total   = min(cap * time, idle * time + dynamic)
///
/// flop by type of arithmetic, at the voltage that the cap settles on. Source: 23 rows of ops
/// repeated for over a second on an H200, 2026-11-30 (extra/h200-sxm.energy.csv): 2.5 % above 50
/// us, 4.4 % with each row left out.
[[nodiscard]] OpEnergy energy_of(const OpContext& context, Typed<Seconds> time,
                                 Typed<Seconds> busy);

}  // namespace mansard::model
