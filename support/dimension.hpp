#pragma once

namespace mansard {

/// Exponents of the base dimensions of a physical value: FLOP, byte, second, joule, instruction,
/// clock cycle, US dollar. The same type is checked at compile time in `Quantity` and at run time
/// in `ir::Expr`.
struct Dimension {
  int flop = 0;
  int byte = 0;
  int second = 0;
  int joule = 0;
  int instruction = 0;
  int cycle = 0;
  int usd = 0;

  friend constexpr bool operator==(const Dimension&, const Dimension&) = default;

  /// The dimension of a product of values.
  friend constexpr Dimension operator+(const Dimension& a, const Dimension& b) {
    return {a.flop + b.flop,
            a.byte + b.byte,
            a.second + b.second,
            a.joule + b.joule,
            a.instruction + b.instruction,
            a.cycle + b.cycle,
            a.usd + b.usd};
  }
  /// The dimension of a quotient of values.
  friend constexpr Dimension operator-(const Dimension& a, const Dimension& b) {
    return {a.flop - b.flop,
            a.byte - b.byte,
            a.second - b.second,
            a.joule - b.joule,
            a.instruction - b.instruction,
            a.cycle - b.cycle,
            a.usd - b.usd};
  }
};

inline constexpr Dimension kNumber{};
inline constexpr Dimension kFlop{.flop = 1};
inline constexpr Dimension kByte{.byte = 1};
inline constexpr Dimension kSecond{.second = 1};
inline constexpr Dimension kJoule{.joule = 1};
inline constexpr Dimension kInstruction{.instruction = 1};
inline constexpr Dimension kCycle{.cycle = 1};
inline constexpr Dimension kFlopPerSecond{.flop = 1, .second = -1};
inline constexpr Dimension kBytePerSecond{.byte = 1, .second = -1};
inline constexpr Dimension kBytePerCycle{.byte = 1, .cycle = -1};
inline constexpr Dimension kInstructionPerSecond{.second = -1, .instruction = 1};
inline constexpr Dimension kHertz{.second = -1, .cycle = 1};
inline constexpr Dimension kWatt{.second = -1, .joule = 1};
inline constexpr Dimension kUsdPerSecond{.second = -1, .usd = 1};

}  // namespace mansard
