#include "frontend/ptx/interpreter/matrix.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "frontend/ptx/interpreter/number.hpp"

namespace mansard::frontend::ptx {
namespace {

constexpr unsigned kRows = 16;
constexpr unsigned kColumns = 8;
constexpr unsigned kHalfRows = 8;

struct Shape {
  std::string_view name;
  unsigned depth;  ///< k
};

constexpr std::array kShapes = {Shape{"m16n8k4", 4}, Shape{"m16n8k8", 8}, Shape{"m16n8k16", 16},
                                Shape{"m16n8k32", 32}};

/// How a 32-bit register holds elements: tf32 one, 16 bits two, 8 bits four. PTX ISA, "matrix
/// fragments for mma": a row of A and a column of B go over four lanes, element pairs together.
class Packing {
 public:
  explicit Packing(Type type) : type_(type), each_(type == Type::kTf32 ? 1 : 32 / bits_of(type)) {}

  [[nodiscard]] double a(const Fragment& from, unsigned row, unsigned k) const {
    const unsigned reg = (row >= kHalfRows ? 1 : 0) + 2 * (k / run());
    return element(from[reg], row % kHalfRows, k);
  }
  [[nodiscard]] double b(const Fragment& from, unsigned k, unsigned column) const {
    return element(from[k / run()], column, k);
  }
  /// Registers that `depth` elements of A and B take.
  [[nodiscard]] unsigned a_registers(unsigned depth) const { return 2 * depth / run(); }
  [[nodiscard]] unsigned b_registers(unsigned depth) const { return depth / run(); }

 private:
  [[nodiscard]] unsigned run() const { return 4 * each_; }

  [[nodiscard]] double element(const Lanes& lanes, unsigned group, unsigned k) const {
    const unsigned lane = group * 4 + k % run() / each_;
    const std::uint64_t bits = lanes[lane] >> (k % each_ * (32 / each_));
    switch (kind_of(type_)) {
      case TypeKind::kSigned:
        return static_cast<double>(as_signed(type_, bits));
      case TypeKind::kUnsigned:
        return static_cast<double>(as_unsigned(type_, bits));
      default:
        return as_float(type_, bits);
    }
  }

  Type type_;
  unsigned each_;
};

/// Where element (row, column) of C and D stands.
struct Place {
  unsigned reg;
  unsigned lane;
  unsigned shift;
};

Place place_of(Type type, unsigned row, unsigned column) {
  const unsigned lane = row % kHalfRows * 4 + column / 2;
  const unsigned upper = row >= kHalfRows ? 1 : 0;
  if (type == Type::kF16) {
    return {upper, lane, column % 2 * 16};
  }
  return {column % 2 + 2 * upper, lane, 0};
}

double value_of(Type type, std::uint64_t bits) {
  return type == Type::kS32 ? static_cast<double>(as_signed(type, bits)) : as_float(type, bits);
}

std::uint64_t bits_from(Type type, double value) {
  return type == Type::kS32
             ? as_unsigned(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)))
             : float_bits(type, value, Rounding::kNearest, false);
}

bool is_known(Type type) {
  constexpr std::array kTypes = {Type::kF16, Type::kBf16, Type::kTf32, Type::kS8, Type::kU8};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

unsigned accumulators(Type type) {
  return type == Type::kF16 ? 2 : 4;
}

}  // namespace

std::optional<Fragment> multiply_matrices(const Form& form, const Fragment& a, const Fragment& b,
                                          const Fragment& c) {
  const auto* shape = std::find_if(kShapes.begin(), kShapes.end(),
                                   [&](const Shape& each) { return form.has(each.name); });
  const bool is_plain =
      form.types.size() == 4 && !form.has("block_scale") && form.type(0) == form.type(3);
  if (shape == kShapes.end() || !is_plain || !is_known(form.type(1)) || !is_known(form.type(2)) ||
      form.has("satfinite")) {
    return std::nullopt;
  }
  const Packing left(form.type(1));
  const Packing right(form.type(2));
  const Type sum_type = form.type(0);
  const bool is_float_sum = sum_type == Type::kF32 || sum_type == Type::kF16;
  if ((!is_float_sum && sum_type != Type::kS32) || a.size() != left.a_registers(shape->depth) ||
      b.size() != right.b_registers(shape->depth) || c.size() != accumulators(sum_type)) {
    return std::nullopt;
  }
  Fragment d(c.size(), Lanes{});
  for (unsigned row = 0; row < kRows; ++row) {
    for (unsigned column = 0; column < kColumns; ++column) {
      const Place place = place_of(sum_type, row, column);
      double sum = value_of(sum_type, c[place.reg][place.lane] >> place.shift);
      for (unsigned k = 0; k < shape->depth; ++k) {
        sum += left.a(a, row, k) * right.b(b, k, column);
      }
      d[place.reg][place.lane] |= bits_from(sum_type, sum) << place.shift;
    }
  }
  return d;
}

}  // namespace mansard::frontend::ptx
