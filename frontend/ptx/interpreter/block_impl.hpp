#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ptx/interpreter/block.hpp"
#include "frontend/ptx/interpreter/matrix.hpp"

/// A block of a kernel while it runs; used by block*.cpp only.
namespace mansard::frontend::ptx {

inline constexpr unsigned kBarriers = 16;
inline constexpr std::uint64_t kSectorBytes = 32;

/// A named barrier of the block.
struct Barrier {
  std::uint64_t arrived = 0;   ///< Threads, whole warps.
  std::uint64_t expected = 0;  ///< 0: all of the block that are left.
};

[[nodiscard]] inline unsigned first_lane(Mask mask) {
  return static_cast<unsigned>(std::countr_zero(mask));
}

class Block {
 public:
  Block(const BlockInput& input, Tally& tally, Stop& stop)
      : in_(input), function_(*input.program.function), tally_(tally), stop_(stop) {}
  bool run();

 private:
  // block.cpp: scheduling, one instruction, control
  void start();
  [[nodiscard]] std::uint32_t end() const;
  bool fail(std::string id, std::string message, const Instruction* at);
  bool run_warp(Warp& warp);
  /// Drops paths that have come to where they join others, and ends lanes that ran off the end.
  void settle(Warp& warp);
  static void leave(Warp& warp, Mask lanes);
  // block_barriers.cpp
  void release_barriers();
  void finish_barrier(unsigned number);

  // block_values.cpp: operands, registers, what lanes do by themselves
  [[nodiscard]] std::uint64_t read(const Warp& warp, const Operand& operand, unsigned lane,
                                   Type type) const {
    switch (operand.kind) {
      case OperandKind::kRegister: {
        const std::uint64_t bits =
            warp.registers[operand.id][lane] + static_cast<std::uint64_t>(operand.value);
        return operand.negated ? bits ^ 1U : bits;
      }
      case OperandKind::kSpecial:
        return special(warp, operand, lane);
      case OperandKind::kFloat32:
        return type == Type::kF64 ? std::bit_cast<std::uint64_t>(as_float(
                                        Type::kF32, static_cast<std::uint64_t>(operand.value)))
                                  : static_cast<std::uint64_t>(operand.value);
      case OperandKind::kFloat64:
        return type == Type::kF32 ? float_bits(Type::kF32, std::bit_cast<double>(operand.value),
                                               Rounding::kNearest, false)
                                  : static_cast<std::uint64_t>(operand.value);
      case OperandKind::kVariable:
        return in_.layout.address_of[operand.id] + static_cast<std::uint64_t>(operand.value);
      default:
        return static_cast<std::uint64_t>(operand.value);
    }
  }
  [[nodiscard]] std::uint64_t special(const Warp& warp, const Operand& operand,
                                      unsigned lane) const;
  [[nodiscard]] std::uint64_t scalar_special(std::string_view name, const Warp& warp,
                                             unsigned lane) const;
  static std::uint64_t part(std::uint64_t number, const Extent& whole, Component component);
  static std::uint64_t extent(const Extent& whole, Component component);
  void write(Warp& warp, const Operand& operand, unsigned lane, std::uint64_t bits) {
    if (operand.kind == OperandKind::kRegister) {
      const Register& reg = function_.registers[operand.id];
      warp.registers[operand.id][lane] = as_unsigned(reg.type, bits);
    }
  }
  /// A value loaded as `type` into a register that may be wider.
  void write_loaded(Warp& warp, const Operand& operand, unsigned lane, std::uint64_t bits,
                    Type type) {
    const bool extends = kind_of(type) == TypeKind::kSigned;
    write(warp, operand, lane, extends ? static_cast<std::uint64_t>(as_signed(type, bits)) : bits);
  }
  [[nodiscard]] std::span<const Operand> operands(const Step& step) const {
    return function_.operands_of(*step.instruction);
  }
  /// The single destination, or the first of a pair.
  [[nodiscard]] const Operand& destination(const Step& step) const {
    const Operand& first = operands(step)[0];
    return first.kind == OperandKind::kPair ? function_.children(first)[0] : first;
  }
  [[nodiscard]] const Operand* second_destination(const Step& step) const {
    const Operand& first = operands(step)[0];
    return first.kind == OperandKind::kPair ? &function_.children(first)[1] : nullptr;
  }
  /// The parts of `{a, b}`, or the one operand.
  [[nodiscard]] std::span<const Operand> parts(const Operand& operand) const {
    return operand.kind == OperandKind::kVector ? function_.children(operand)
                                                : std::span(&operand, 1);
  }
  template <typename Visit>
  static void each_lane(Mask mask, Visit&& visit) {
    for (; mask != 0; mask &= mask - 1) {
      visit(first_lane(mask));
    }
  }

  // block.cpp
  [[nodiscard]] Mask guarded(const Warp& warp, const Instruction& instruction, Mask mask) const;
  InstructionCounts& counts_of(const Step& step);
  bool step(Warp& warp);
  bool execute(Warp& warp, const Step& step, Mask mask);
  bool communicate(Warp& warp, const Step& step, Mask mask);
  [[nodiscard]] std::string_view text_of(const Step& step) const;
  bool branch(Warp& warp, const Step& step, Mask mask);
  [[nodiscard]] std::uint32_t target_of(const Warp& warp, const Step& step, unsigned lane,
                                        bool& in_range) const;

  // block_values.cpp
  bool compute(Warp& warp, const Step& step, Mask mask);
  bool move(Warp& warp, const Step& step, Mask mask);
  bool compare_lanes(Warp& warp, const Step& step, Mask mask);
  static std::uint64_t window_of(Space space);
  bool convert_address(Warp& warp, const Step& step, Mask mask);
  bool is_space(Warp& warp, const Step& step, Mask mask);

  // block_memory.cpp
  [[nodiscard]] Lanes addresses(const Warp& warp, const Operand& operand, Mask mask) const;
  /// The space that an access goes to: as the instruction says, of the variable it names, or by
  /// the window of a generic address, which is then taken off.
  [[nodiscard]] Space settle_space(const Step& step, const Operand& operand, Mask mask,
                                   Lanes& where) const;
  [[nodiscard]] std::byte* find(Warp& warp, Space space, std::uint64_t address, unsigned bytes,
                                unsigned lane);
  bool out_of_bounds(const Step& step, Space space, std::uint64_t address, unsigned bytes);
  /// Checks and counts an access; false if a lane is out of bounds.
  bool touch(Warp& warp, const Step& step, Space space, const Lanes& where, Mask mask,
             unsigned bytes);
  void count_access(const Step& step, Space space, const Lanes& where, Mask mask, unsigned bytes);
  [[nodiscard]] static bool writes_memory(const Step& step);
  AccessCounts* total_of(const Step& step, Space space);
  void note_footprint(const Step& step, const Lanes& where, Mask mask, unsigned bytes);
  static std::uint64_t load_bits(const std::byte* from, unsigned bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, std::min(bytes, 8U));
    return bits;
  }
  static void store_bits(std::byte* to, std::uint64_t bits, unsigned bytes) {
    std::memcpy(to, &bits, std::min(bytes, 8U));
  }
  bool load_or_store(Warp& warp, const Step& step, Mask mask);
  bool atomic(Warp& warp, const Step& step, Mask mask);
  /// cp.async, done at once: the program may not look before it has waited.
  bool copy(Warp& warp, const Step& step, Mask mask);

  // block_matrix.cpp
  /// ldmatrix and stmatrix of 8x8 matrices of 16 bits: lanes 8i to 8i+7 give the rows of matrix i.
  bool move_matrix(Warp& warp, const Step& step, Mask mask);
  void note_not_computed(const Step& step) { tally_.not_computed.emplace(text_of(step)); }
  [[nodiscard]] Fragment fragment(const Warp& warp, const Operand& operand) const;
  /// A matrix product. Where it is not computed the accumulators come out as they went in.
  bool multiply(Warp& warp, const Step& step, Mask mask);
  bool tile(Warp& warp, const Step& step, Mask mask);
  /// A tile of wmma: each of its rows (or columns) is one run of bytes.
  bool tile_access(Warp& warp, const Step& step, Mask mask);
  static void read_shape(const Form& form, unsigned& m, unsigned& n, unsigned& k);
  static unsigned number(std::string_view digits);

  // block_lanes.cpp: lanes that speak to each other
  bool shuffle(Warp& warp, const Step& step, Mask mask);
  bool vote(Warp& warp, const Step& step, Mask mask);
  bool match(Warp& warp, const Step& step, Mask mask);
  bool reduce(Warp& warp, const Step& step, Mask mask);
  bool elect(Warp& warp, const Step& step, Mask mask);
  struct Reduction {
    const Step* step = nullptr;
    std::uint64_t count = 0;
    bool all = true;
    bool any = false;
  };

  // block_barriers.cpp
  bool barrier(Warp& warp, const Step& step, Mask mask);
  void give_reduction(Warp& warp, const Reduction& reduction);
  /// An mbarrier in shared memory, in a form of our own: bits 0-19 arrivals still expected, 20-39
  /// arrivals of a phase, 63 the phase.
  bool memory_barrier(Warp& warp, const Step& step, Mask mask);
  static std::uint64_t update_barrier(const Form& form, std::byte* memory, std::uint64_t argument);
  const BlockInput& in_;
  const Function& function_;
  Tally& tally_;
  Stop& stop_;
  std::vector<Warp> warps_;
  std::vector<std::byte> shared_;
  std::vector<std::byte> parameters_ = in_.layout.parameters;
  std::array<Barrier, kBarriers> barriers_{};
  std::array<Reduction, kBarriers> reductions_{};
};

}  // namespace mansard::frontend::ptx
