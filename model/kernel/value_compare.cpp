#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "model/kernel/value.hpp"
#include "model/kernel/value_numbers.hpp"

namespace mansard::model::kernel {

Value Alu::negate(Value a) {
  for (std::int64_t& each : a.base) {
    each = each == 0 ? 1 : 0;
  }
  return a;
}

Value Alu::less(const Value& a, const Value& b, unsigned bits, bool is_signed) {
  const Value x = is_signed ? a : as_unsigned(a, bits);
  const Value y = is_signed ? b : as_unsigned(b, bits);
  const Value difference = combine(x, y, -1);
  Value r = lanewise(difference, difference,
                     [](std::int64_t d, std::int64_t) { return std::int64_t{d < 0}; });
  Mask below = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    below |= r.at(lane) != 0 ? Mask{1} << lane : 0;
  }
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (!constrain(difference, below, kMin, -1) || !constrain(difference, ~below, 0, kMax)) {
    return Value::unknown(kData | a.causes | b.causes);
  }
  return r;
}

Value Alu::equal(const Value& a, const Value& b) {
  Value difference = combine(a, b, -1);
  Mask below = 0;
  Mask same = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::int64_t d = difference.at(lane);
    below |= d < 0 ? Mask{1} << lane : 0;
    same |= d == 0 ? Mask{1} << lane : 0;
  }
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (!constrain(difference, same, 0, 0) || !constrain(difference, below, kMin, -1) ||
      !constrain(difference, ~below & ~same, 1, kMax)) {
    return Value::unknown(kData | a.causes | b.causes);
  }
  return lanewise(difference, difference,
                  [](std::int64_t d, std::int64_t) { return std::int64_t{d == 0}; });
}

Value Alu::select(const Value& condition, Value a, Value b) {
  Mask chosen = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    chosen |= condition.at(lane) != 0 ? Mask{1} << lane : 0;
  }
  const Mask decided = condition.known & mask;
  if (decided == mask && (chosen & mask) == mask) {
    return a;
  }
  if (decided == mask && (chosen & mask) == 0) {
    return b;
  }
  bool alike = true;
  for (unsigned d = 0; d < kDims; ++d) {
    alike = alike && (a.coef[d] == b.coef[d] || !domain_.varies(d));
  }
  if (!alike) {
    pin(a);
    pin(b);
  }
  const bool same = a.uniform && b.uniform && a.base[0] == b.base[0] && alike;
  Value r = a;
  r.spread();
  r.causes = a.causes | b.causes | condition.causes;
  r.known = ((chosen & a.known) | (~chosen & b.known)) & (same ? ~Mask{0} : condition.known);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    r.base[lane] = (chosen >> lane & 1U) != 0 ? a.at(lane) : b.at(lane);
  }
  return r;
}

Value Alu::convert(const Value& a, unsigned source_bits, bool source_signed, unsigned bits) {
  Value v = wrap(a, source_bits);
  if (!source_signed) {
    v = as_unsigned(std::move(v), source_bits);
  }
  return wrap(std::move(v), bits);
}

}  // namespace mansard::model::kernel
