#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ptx/ast.hpp"
#include "frontend/ptx/interpreter/memory.hpp"
#include "support/result.hpp"

/// Runs blocks of a kernel and counts, exactly. It knows no machine: a warp is 32 lanes that run
/// together and come together again at the immediate post-dominator of a branch that parted them.
///
///     Memory memory;
///     Launch launch = {.grid = {1056}, .block = {256}, .blocks = {0, 7}};
///     launch.arguments = {{"saxpy_param_0", n}, {"saxpy_param_2", memory.allocate(4 * n)}, ...};
///     const Result<Counts> counts = interpret(module, kernel, launch, memory);
///     counts->instructions[12].warps     // how often the 13th instruction was executed
namespace mansard::frontend::ptx {

struct Extent {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// A parameter by its PTX name, and its bits (of a float those of the float); of a parameter that
/// is a struct, of the member at `offset`.
struct Argument {
  std::string name;
  std::uint64_t bits = 0;
  std::uint32_t offset = 0;  ///< Bytes.
};

struct Launch {
  Extent grid;
  Extent block;
  std::uint64_t dynamic_shared = 0;   ///< Bytes.
  std::vector<Argument> arguments;    ///< Those left out are 0.
  std::vector<std::uint64_t> blocks;  ///< Which to run, by linear number; empty: all.
};

struct InterpreterLimits {
  std::uint64_t warp_instructions = 100'000'000;
  std::uint64_t shared_bytes = std::uint64_t{1} << 20;
  std::uint64_t global_bytes = std::uint64_t{1} << 28;  ///< Of the module's variables.
  std::uint64_t local_bytes = std::uint64_t{1} << 20;   ///< Of a thread.
  std::uint64_t block_bytes = std::uint64_t{1} << 30;   ///< Registers and local memory of a block.
};

/// What one instruction of the kernel did, summed over the blocks that ran.
struct InstructionCounts {
  std::uint64_t warps = 0;    ///< Executions by a warp with at least one lane, guarded off or not.
  std::uint64_t threads = 0;  ///< Lanes whose guard held.
  std::uint64_t active_warps = 0;  ///< Executions in which the guard of some lane held.
  std::uint64_t requests = 0;  ///< Warp accesses to memory (active_warps of a memory instruction).
  std::uint64_t bytes = 0;     ///< Moved for the lanes, repeated addresses counted each time.
  std::uint64_t sectors =
      0;  ///< Of global and local memory: 32-byte sectors, distinct in a request.
  std::uint64_t wavefronts = 0;      ///< Of shared memory.
  std::uint64_t bank_conflicts = 0;  ///< Wavefronts beyond those without conflict.
  std::uint64_t divergent = 0;       ///< Branches that parted a warp.
  std::uint64_t taken = 0;           ///< Warps of which some lane took the branch.
  std::uint64_t passed = 0;          ///< Warps of which some lane did not take it.
};

/// Totals of one kind of access to memory.
struct AccessCounts {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sectors = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t bank_conflicts = 0;
};

/// FLOP by type; a multiply-add is two; `tensor` is of matrix instructions of every type.
struct FlopCounts {
  std::uint64_t fp16 = 0;
  std::uint64_t fp32 = 0;
  std::uint64_t fp64 = 0;
  std::uint64_t tensor = 0;
};

struct Counts {
  std::vector<InstructionCounts> instructions;  ///< Parallel to Function::instructions.
  std::uint64_t blocks = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  FlopCounts flops;
  AccessCounts global_load;  ///< Asynchronous copies included.
  AccessCounts global_store;
  AccessCounts global_atomic;
  AccessCounts shared_load;
  AccessCounts shared_store;
  AccessCounts local_load;
  AccessCounts local_store;
  std::uint64_t read_sectors = 0;     ///< Distinct 32-byte sectors of global memory that were read.
  std::uint64_t written_sectors = 0;  ///< The same, written.
  std::uint64_t divergent_branches = 0;
  std::uint64_t divergent_barriers = 0;  ///< Barriers that part of a warp's live lanes reached.
  /// Instructions that were counted while their result was not computed (matrix products); what
  /// follows from their values is not to be trusted.
  std::vector<std::string> not_computed;
};

/// Runs the kernel. Errors, with the place in the PTX: an instruction that is not supported (by
/// name), an access outside every buffer, a limit exceeded, a deadlock, an unknown argument.
[[nodiscard]] Result<Counts> interpret(const Module& module, const Function& kernel,
                                       const Launch& launch, Memory& memory,
                                       const InterpreterLimits& limits = {});

/// FLOP of one execution of an instruction: by a thread, or of a matrix instruction by a warp.
[[nodiscard]] FlopCounts flops_of(const Form& form);

}  // namespace mansard::frontend::ptx
