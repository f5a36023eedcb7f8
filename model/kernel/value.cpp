#include "model/kernel/value.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "model/kernel/value_numbers.hpp"

namespace mansard::model::kernel {

Value Value::constant(std::int64_t value) {
  Value v;
  v.known = ~Mask{0};
  v.uniform = true;
  v.base[0] = value;
  return v;
}

void Value::spread() {
  if (uniform) {
    base.fill(base[0]);
    uniform = false;
  }
}

bool Alu::varies(const Value& v) const {
  for (unsigned d = 0; d < kDims; ++d) {
    if (v.coef[d] != 0 && domain_.varies(d)) {
      return true;
    }
  }
  return false;
}

void Alu::pin(Value& v) {
  for (unsigned d = 0; d < kDims; ++d) {
    if (v.coef[d] == 0) {
      continue;
    }
    if (Domain::opaque(d)) {
      v = Value::unknown(kData);
      return;
    }
    domain_.extent[d] = 1;
    v.coef[d] = 0;
  }
}

void Alu::shrink(const Value& v, __int128 slack, int direction) {
  const auto contribution = [&](unsigned d) -> __int128 {
    const __int128 c = static_cast<__int128>(v.coef[d]) * direction;
    return c > 0 ? c * (domain_.extent[d] - 1) : 0;
  };
  while (true) {
    __int128 total = 0;
    for (unsigned d = 0; d < kFirstOpaque; ++d) {
      total += contribution(d);
    }
    if (total <= slack) {
      return;
    }
    int best = -1;
    double best_ratio = -1;
    std::int64_t best_extent = 1;
    int largest = -1;
    for (unsigned d = 0; d < kFirstOpaque; ++d) {
      const __int128 part = contribution(d);
      if (part == 0) {
        continue;
      }
      if (largest < 0 || part > contribution(static_cast<unsigned>(largest))) {
        largest = static_cast<int>(d);
      }
      const __int128 left = slack - (total - part);
      if (left < 0) {
        continue;
      }
      const __int128 c = static_cast<__int128>(v.coef[d]) * direction;
      const auto extent = static_cast<std::int64_t>(left / c + 1);
      const double ratio = static_cast<double>(extent) / static_cast<double>(domain_.extent[d]);
      if (ratio > best_ratio) {
        best = static_cast<int>(d);
        best_ratio = ratio;
        best_extent = extent;
      }
    }
    if (best >= 0) {
      domain_.extent[static_cast<unsigned>(best)] = best_extent;
      return;
    }
    domain_.extent[static_cast<unsigned>(largest)] = 1;
  }
}

bool Alu::constrain(const Value& v, Mask lanes, std::int64_t low, std::int64_t high) {
  lanes &= v.known & mask;
  if (lanes == 0) {
    return true;
  }
  bool any = false;
  for (unsigned d = 0; d < kDims; ++d) {
    if (v.coef[d] != 0 && domain_.varies(d)) {
      if (Domain::opaque(d)) {
        return false;
      }
      any = true;
    }
  }
  if (!any) {
    return true;
  }
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
    const std::int64_t base = v.at(static_cast<unsigned>(std::countr_zero(rest)));
    least = std::min(least, base);
    greatest = std::max(greatest, base);
  }
  shrink(v, static_cast<__int128>(high) - greatest, 1);
  shrink(v, static_cast<__int128>(least) - low, -1);
  return true;
}

Value Alu::wrap(Value v, unsigned bits) {
  if (bits >= 64) {
    return v;
  }
  const unsigned lanes = v.uniform ? 1 : kLanes;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    v.base[lane] = sign_extended(v.base[lane], bits);
  }
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  for (unsigned d = kFirstOpaque; d < kDims; ++d) {
    if (v.coef[d] != 0) {
      return v;  // an unknown number is taken to fit its type
    }
  }
  constrain(v, ~Mask{0}, bits == 1 ? 0 : -half, bits == 1 ? 1 : half - 1);
  return v;
}

Value Alu::as_unsigned(Value v, unsigned bits) {
  if (bits >= 64) {
    return v;
  }
  for (unsigned d = kFirstOpaque; d < kDims; ++d) {
    if (v.coef[d] != 0) {
      return v;
    }
  }
  const std::int64_t modulus = std::int64_t{1} << bits;
  const unsigned lanes = v.uniform ? 1 : kLanes;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    v.base[lane] += v.base[lane] < 0 ? modulus : 0;
  }
  constrain(v, ~Mask{0}, 0, modulus - 1);
  return v;
}

}  // namespace mansard::model::kernel
