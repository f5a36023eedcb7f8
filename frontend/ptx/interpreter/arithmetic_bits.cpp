#include <array>
#include <bit>
#include <limits>

#include "frontend/ptx/interpreter/arithmetic_impl.hpp"

namespace mansard::frontend::ptx {
namespace {

std::uint64_t popc(const Alu& alu, const Sources& in, bool&) {
  return static_cast<std::uint64_t>(std::popcount(as_unsigned(alu.type, in[0])));
}

std::uint64_t clz(const Alu& alu, const Sources& in, bool&) {
  const auto zeros = static_cast<unsigned>(std::countl_zero(as_unsigned(alu.type, in[0])));
  return zeros - (64 - bits_of(alu.type));
}

std::uint64_t bfind(const Alu& alu, const Sources& in, bool&) {
  std::uint64_t value = as_unsigned(alu.type, in[0]);
  if (is_signed(alu.type) && as_signed(alu.type, in[0]) < 0) {
    value = as_unsigned(alu.type, ~value);
  }
  if (value == 0) {
    return 0xffffffff;
  }
  const auto position = static_cast<std::uint64_t>(63 - std::countl_zero(value));
  return alu.form->has("shiftamt") ? bits_of(alu.type) - 1 - position : position;
}

std::uint64_t brev(const Alu& alu, const Sources& in, bool&) {
  std::uint64_t reversed = 0;
  for (unsigned i = 0; i < bits_of(alu.type); ++i) {
    reversed = (reversed << 1) | ((in[0] >> i) & 1);
  }
  return reversed;
}

std::uint64_t bfe(const Alu& alu, const Sources& in, bool&) {
  const unsigned width = bits_of(alu.type);
  const auto position = static_cast<unsigned>(in[1] & 0xff);
  const auto length = static_cast<unsigned>(in[2] & 0xff);
  const std::uint64_t value = as_unsigned(alu.type, in[0]);
  if (length == 0) {
    return 0;
  }
  const bool negative =
      is_signed(alu.type) && ((value >> std::min(position + length - 1, width - 1)) & 1) != 0;
  std::uint64_t result = position >= width ? 0 : value >> position;
  const unsigned kept = std::min(length, position >= width ? 0 : width - position);
  if (kept < 64) {
    result &= (std::uint64_t{1} << kept) - 1;
    result |= negative ? ~((std::uint64_t{1} << kept) - 1) : 0;
  }
  return as_unsigned(alu.type, result);
}

std::uint64_t bfi(const Alu& alu, const Sources& in, bool&) {
  const unsigned width = bits_of(alu.type);
  const auto position = static_cast<unsigned>(in[2] & 0xff);
  const auto length = static_cast<unsigned>(in[3] & 0xff);
  if (position >= width || length == 0) {
    return as_unsigned(alu.type, in[1]);
  }
  const unsigned kept = std::min(length, width - position);
  const std::uint64_t mask = (kept >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << kept) - 1)
                             << position;
  return as_unsigned(alu.type, (in[1] & ~mask) | ((in[0] << position) & mask));
}

std::uint64_t bit_and(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, in[0] & in[1]);
}
std::uint64_t bit_or(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, in[0] | in[1]);
}
std::uint64_t bit_xor(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, in[0] ^ in[1]);
}
std::uint64_t bit_not(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, ~in[0]);
}
std::uint64_t cnot(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, in[0]) == 0 ? 1 : 0;
}

std::uint64_t lop3(const Alu&, const Sources& in, bool&) {
  std::uint64_t result = 0;
  for (unsigned row = 0; row < 8; ++row) {
    if (((in[3] >> row) & 1) != 0) {
      result |= ((row & 4) != 0 ? in[0] : ~in[0]) & ((row & 2) != 0 ? in[1] : ~in[1]) &
                ((row & 1) != 0 ? in[2] : ~in[2]);
    }
  }
  return result & 0xffffffff;
}

std::uint64_t shl(const Alu& alu, const Sources& in, bool&) {
  const std::uint64_t amount = in[1] & 0xffffffff;
  return amount >= bits_of(alu.type) ? 0 : as_unsigned(alu.type, in[0] << amount);
}

std::uint64_t shr(const Alu& alu, const Sources& in, bool&) {
  const std::uint64_t amount = std::min<std::uint64_t>(in[1] & 0xffffffff, bits_of(alu.type));
  if (is_signed(alu.type)) {
    const std::int64_t value = as_signed(alu.type, in[0]);
    return as_unsigned(alu.type,
                       static_cast<std::uint64_t>(value >> std::min<std::uint64_t>(amount, 63)));
  }
  return amount >= 64 ? 0 : as_unsigned(alu.type, in[0]) >> amount;
}

std::uint64_t funnel(const Alu& alu, const Sources& in, bool left) {
  const std::uint64_t amount =
      alu.form->has("wrap") ? in[2] & 31 : std::min<std::uint64_t>(in[2] & 0xffffffff, 32);
  const std::uint64_t both = ((in[1] & 0xffffffff) << 32) | (in[0] & 0xffffffff);
  return (left ? (both << amount) >> 32 : both >> amount) & 0xffffffff;
}

std::uint64_t shf_l(const Alu& alu, const Sources& in, bool&) {
  return funnel(alu, in, true);
}
std::uint64_t shf_r(const Alu& alu, const Sources& in, bool&) {
  return funnel(alu, in, false);
}

std::uint64_t prmt(const Alu&, const Sources& in, bool&) {
  const std::uint64_t bytes = ((in[1] & 0xffffffff) << 32) | (in[0] & 0xffffffff);
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint64_t selector = (in[2] >> (4 * i)) & 0xf;
    std::uint64_t byte = (bytes >> (8 * (selector & 7))) & 0xff;
    if ((selector & 8) != 0) {
      byte = (byte & 0x80) != 0 ? 0xff : 0;
    }
    result |= byte << (8 * i);
  }
  return result;
}

std::uint64_t dp4a(const Alu& alu, const Sources& in, bool&) {
  const Type a = alu.form->type(0) == Type::kS32 ? Type::kS8 : Type::kU8;
  const Type b = alu.form->type(1) == Type::kS32 ? Type::kS8 : Type::kU8;
  auto sum = static_cast<std::int64_t>(in[2]);
  for (unsigned i = 0; i < 4; ++i) {
    sum += static_cast<std::int64_t>(whole(a, in[0] >> (8 * i)) * whole(b, in[1] >> (8 * i)));
  }
  return static_cast<std::uint64_t>(sum) & 0xffffffff;
}

}  // namespace

std::span<const Evaluator> bit_evaluators() {
  static constexpr std::array kEvaluators{
      Evaluator{"popc", popc},   Evaluator{"clz", clz},   Evaluator{"bfind", bfind},
      Evaluator{"brev", brev},   Evaluator{"bfe", bfe},   Evaluator{"bfi", bfi},
      Evaluator{"and", bit_and}, Evaluator{"or", bit_or}, Evaluator{"xor", bit_xor},
      Evaluator{"not", bit_not}, Evaluator{"cnot", cnot}, Evaluator{"lop3", lop3},
      Evaluator{"shl", shl},     Evaluator{"shr", shr},   Evaluator{"shf.l", shf_l},
      Evaluator{"shf.r", shf_r}, Evaluator{"prmt", prmt}, Evaluator{"dp4a", dp4a},
  };
  return kEvaluators;
}

}  // namespace mansard::frontend::ptx
