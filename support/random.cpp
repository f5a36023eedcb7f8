#include "support/random.hpp"

#include <bit>
#include <cmath>

namespace mansard {
namespace {

constexpr double kLn2High = 0x1.62e42fee00000p-1;  ///< Leading bits of ln 2; the rest follows.
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

}  // namespace

double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // in [1/2, 1)
  if (m < 0x1.6a09e667f3bcdp-1) {       // the square root of 1/2
    m *= 2;
    --exponent;
  }
  // log m = 2 atanh(s), |s| < 0.172: the terms below 2^-60 are left out.
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double sum = 0;
  for (int k = 23; k >= 3; k -= 2) {
    sum = square * (sum + 1.0 / k);
  }
  const auto e = static_cast<double>(exponent);
  return e * kLn2High + (2 * s + (2 * s * sum + e * kLn2Low));
}

double portable_exp(double x) {
  const double n = std::floor(x / (kLn2High + kLn2Low) + 0.5);
  const double r = (x - n * kLn2High) - n * kLn2Low;  // at most 0.35
  double sum = 1;
  for (int k = 16; k >= 1; --k) {
    sum = 1 + sum * r / k;
  }
  return std::ldexp(sum, static_cast<int>(n));
}

Random::Random(std::uint64_t seed) : state_{} {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15U;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    word = z ^ (z >> 31U);
  }
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() {
  return (static_cast<double>(next() >> 12U) + 0.5) * 0x1p-52;
}

double Random::exponential() {
  return -portable_log(uniform());
}

double Random::normal() {
  for (;;) {
    const double u = 2 * uniform() - 1;
    const double v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) {
      return u * std::sqrt(-2 * portable_log(s) / s);
    }
  }
}

double Random::gamma(double shape) {
  if (shape < 1) {
    const double smaller = gamma(shape + 1);
    return smaller * portable_exp(portable_log(uniform()) / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double root = 1 + c * x;
    if (root <= 0) {
      continue;
    }
    const double v = root * root * root;
    if (portable_log(uniform()) < 0.5 * x * x + d - d * v + d * portable_log(v)) {
      return d * v;
    }
  }
}

}  // namespace mansard
