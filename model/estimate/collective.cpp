#include <string>

#include "model/estimate/estimators.hpp"
#include "model/estimate/pieces.hpp"

namespace mansard::model::estimators {
namespace {

using ir::Expr;

constexpr double kDevices = 4;

constexpr double kNever = 1e6;  // s

std::string link_of(const OpContext& context) {
  const std::string_view tier = context.attribute("tier");
  return tier.empty() ? "nvlink" : std::string(tier);
}

/// Builds the terms of one collective on one link.
class Collective {
 public:
  Collective(const OpContext& context, ir::Typed<BytesPerSecond> link)
      : context_(context),
        kind_(context.op.def->name),
        link_(link.expr()),
        sent_(context.demand.link_bytes.expr()) {}

  OpEstimate estimate() const {
    const Typed<Seconds> start = time("start");
    const Typed<Seconds> best = is_point_to_point() ? point_to_point() : rings();
    const Typed<Seconds> switched = in_switch(best);
    return {.time = start + switched,
            .terms = {{"start", start, {}},
                      {"protocol", switched, {}},
                      {"link", Typed<Seconds>(sent_ / link_), {}}},
            .launches = parameter("launches")};
  }

 private:
  Expr parameter(std::string_view name, const Dimension& dimension = kNumber) const {
    return context_.parameter_of(kind_, name, dimension);
  }
  Typed<Seconds> time(std::string_view name) const {
    return Typed<Seconds>(parameter(name, kSecond));
  }
  bool is_point_to_point() const { return kind_ == "send_recv" || kind_ == "all_to_all"; }

  /// `sent_` at a share of the link.
  Typed<Seconds> transfer(std::string_view share) const {
    return Typed<Seconds>(sent_ / (parameter(share) * link_));
  }

  /// A pipeline of the best number of chunks pays 2 sqrt(transfer * chunk) to fill.
  Typed<Seconds> pipelined(Typed<Seconds> body, std::string_view chunk = "chunk") const {
    return body +
           Typed<Seconds>(2 * time(chunk).expr() * square_root(body.expr() / time(chunk).expr()));
  }

  Expr steps() const {
    const Expr others = context_.dim("p") - 1;
    return kind_ == "all_reduce" ? 2 * others : others;
  }

  Typed<Seconds> rings() const {
    const auto latency = [&](std::string_view step) {
      return Typed<Seconds>(steps() * time(step).expr());
    };
    const Typed<Seconds> ll = latency("ll_step") + transfer("ll");
    const Typed<Seconds> ll128 = latency("ll128_step") + transfer("ll128");
    const Typed<Seconds> simple =
        time("simple_start") + latency("simple_step") + pipelined(transfer("simple"));
    return min(min(min(ll, ll128), simple), one_shot());
  }

  /// Every device sends its whole message to every other: what serving libraries' own all-reduces
  /// do with small ones.
  Typed<Seconds> one_shot() const {
    const Expr others = context_.dim("p") - 1;
    const Expr message = context_.operand("x")->bytes.expr() / 2;  // Read and written in place.
    const Expr step = parameter("one_shot_step", kSecond);
    return Typed<Seconds>(kind_ == "all_reduce"
                              ? others * (step + message / (parameter("one_shot") * link_))
                              : context_.pool().constant(kNever, kSecond));
  }

  Typed<Seconds> point_to_point() const {
    return min(transfer("ll"), time("simple_start") + pipelined(transfer("p2p")));
  }

  /// An all-reduce of four devices and more may be added up in the switch, each device sending its
  /// message once.
  Typed<Seconds> in_switch(Typed<Seconds> otherwise) const {
    const hardware::Tier* tier = context_.capacities.machine().tier(link_of(context_));
    if (kind_ != "all_reduce" || tier == nullptr || !tier->reduces) {
      return otherwise;
    }
    const Expr message = context_.demand.bytes.expr() / 2;  // Read and written in place.
    const Typed<Seconds> body(message / (parameter("switch") * link_));
    const Typed<Seconds> reduced = time("switch_start") + pipelined(body, "switch_chunk");
    return Typed<Seconds>(ir::select(ir::less(context_.dim("p"), kDevices), otherwise.expr(),
                                     min(otherwise, reduced).expr()));
  }

  const OpContext& context_;
  std::string_view kind_;
  Expr link_;
  Expr sent_;
};

}  // namespace

/// NCCL's protocols, the fastest of them (x bytes sent by each device, s steps of the ring):
///
///   LL      s * ll_step + x / (ll * link): 8 bytes with 4 of flags, no synchronisation
///   LL128   s * ll128_step + x / (ll128 * link)
///   Simple  simple_start + s * simple_step + transfer + 2 sqrt(transfer * chunk), transfer = x /
///   (simple * link) one-shot  all-reduce of other libraries: (p - 1) * (one_shot_step + message /
///   (one_shot * link)) NVLS    all-reduce in the switch: switch_start + the same of the message at
///   `switch` p2p     all_to_all and send_recv: LL or Simple at `p2p`, without steps
///
/// T = start + the least. Source: H200 (2 GPUs, 2026-11-30) and aiconfigurator's H100, B200 and
/// A100 tables (2 to 8 GPUs): 6 to 9 % with sizes left out; 18 % where 8 GPUs were extrapolated.
OpEstimate collective(const OpContext& context) {
  const auto link = context.capacities.link_bandwidth(link_of(context));
  if (!link) {
    return {.time = no_time(context), .terms = {}, .launches = context.parameter("launches")};
  }
  return Collective(context, *link).estimate();
}

}  // namespace mansard::model::estimators
