#pragma once

#include <optional>

#include "model/estimate/context.hpp"

/// Pieces that estimators share.
namespace mansard::model::estimators {

/// Processors of a machine that states how many it has and at which clock they run at most. Tiles
/// and waves need it; a machine without warps (a TPU) or that does not say gets simpler terms.
struct Chip {
  ir::Expr sms;    ///< A plain number.
  ir::Expr clock;  ///< Greatest clock; Hz.
};
[[nodiscard]] std::optional<Chip> chip_of(const OpContext& context);

[[nodiscard]] Typed<Seconds> no_time(const OpContext& context);

/// (a^p + b^p)^(1/p) of two times: two activities that overlap, the greater hiding more of the
/// lesser the greater p is; 1 hides nothing.
[[nodiscard]] Typed<Seconds> overlap(Typed<Seconds> a, Typed<Seconds> b, ir::Expr p);

[[nodiscard]] ir::Expr square_root(ir::Expr x);
/// min(max(x, 0), 1).
[[nodiscard]] ir::Expr share(ir::Expr x);

/// Traffic of a kernel whose operands were just written or are about to be read, from wherever they
/// are: the last-level cache while the footprint is within `cache_from` of its capacity, device
/// memory beyond `cache_to`, in between a mix. Writes have a rate of their own. Parameters, of the
/// op's class: `main` (share of device memory's bandwidth), `write` (the same of writes), `cache`
/// (B/clk of a processor), `cache_from`, `cache_to`.
[[nodiscard]] Typed<Seconds> traffic_time(const OpContext& context);

/// Contractions at the `matrix` share of the machine's greatest rate. No time if the op has none.
[[nodiscard]] Typed<Seconds> contraction_time(const OpContext& context);

/// `work` elements that each take `cycles` of one processor, spread over all; no time on a machine
/// without processors.
[[nodiscard]] Typed<Seconds> cycles_time(const OpContext& context, ir::Expr work, ir::Expr cycles);

/// Power that work may add to idling: cap less idle, or the share `power.dynamic` of the cap where
/// idle power is not known. Absent where the cap is unknown or does not hold for the op alone.
[[nodiscard]] ir::Expr dynamic_power(const OpContext& context);

/// Bytes that the op writes.
[[nodiscard]] Typed<Bytes> written_bytes(const OpContext& context);

/// Where `condition` holds the first estimate, else the second; terms of one name are merged.
[[nodiscard]] OpEstimate choose(ir::Expr condition, const OpEstimate& yes, const OpEstimate& no);

}  // namespace mansard::model::estimators
