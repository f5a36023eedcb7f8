#pragma once

#include <cstdint>
#include <vector>

#include "frontend/ptx/ast.hpp"
#include "frontend/ptx/interpreter/arithmetic.hpp"
#include "support/result.hpp"

namespace mansard::frontend::ptx {

/// What the interpreter does for an instruction.
enum class Action : std::uint8_t {
  kCompute,  ///< Registers of a lane to a register of that lane, by `evaluate`.
  kMove,
  kCompare,  ///< setp
  kConvertAddress,
  kIsSpace,
  kLoad,
  kStore,
  kAtomic,
  kCopy,  ///< cp.async
  kMatrixLoad,
  kMatrixStore,
  kMatrixProduct,
  kTile,  ///< wmma: loads, stores and products of whole tiles; counted, not computed.
  kShuffle,
  kVote,
  kMatch,
  kReduce,
  kActiveMask,
  kElect,
  kBarrier,
  kMemoryBarrier,  ///< An mbarrier.
  kBranch,
  kIndexedBranch,
  kExit,
  kNothing,  ///< Fences, prefetches, commits: no effect on values here.
  kUnsupported,
};

/// An instruction, ready to be run.
struct Step {
  const Instruction* instruction = nullptr;
  Action action = Action::kUnsupported;
  Evaluate evaluate = nullptr;
  Alu alu;
  /// Where lanes that a branch parts come together; one past the last if only at the exit.
  std::uint32_t reconvergence = 0;
};

/// A kernel, ready to be run.
struct Program {
  const Function* function = nullptr;
  std::vector<Step> steps;
};

[[nodiscard]] Program prepare(const Function& kernel);

}  // namespace mansard::frontend::ptx
