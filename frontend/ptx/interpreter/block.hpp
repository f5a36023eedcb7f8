#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "frontend/ptx/interpreter/access.hpp"
#include "frontend/ptx/interpreter/interpreter.hpp"
#include "frontend/ptx/interpreter/memory.hpp"
#include "frontend/ptx/interpreter/program.hpp"

/// The state of a running block. Addresses of shared, local and parameter memory are offsets;
/// as generic addresses they lie in windows of their own.
namespace mansard::frontend::ptx {

inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 48;
inline constexpr std::uint64_t kParamWindow = std::uint64_t{3} << 48;
inline constexpr std::uint64_t kWindowMask = ~((std::uint64_t{1} << 48) - 1);

/// Where the variables of a kernel live: an offset, or an address of global memory.
struct Layout {
  std::vector<std::uint64_t> address_of;  ///< By VariableId.
  std::vector<std::byte> parameters;
  std::uint64_t shared_bytes = 0;
  std::uint64_t local_bytes = 0;
};

/// What stopped a block.
struct Stop {
  std::string id;
  std::string message;
  const Instruction* instruction = nullptr;
};

/// A path of a warp: lanes that run together from `pc` until they reach `until`.
struct Path {
  Mask mask = 0;
  std::uint32_t pc = 0;
  std::uint32_t until = 0;
};

struct Warp {
  unsigned number = 0;
  Mask lanes = 0;  ///< That exist.
  Mask live = 0;   ///< That have not left.
  std::vector<Path> paths;
  std::vector<Lanes> registers;
  Mask carry = 0;
  std::vector<std::byte> local;
  int waiting = -1;  ///< Number of the barrier, or -1.
};

/// Distinct sectors of global memory, over all blocks.
struct Footprint {
  std::unordered_set<std::uint64_t> read;
  std::unordered_set<std::uint64_t> written;
};

struct BlockInput {
  const Module& module;
  const Program& program;
  const Launch& launch;
  const Layout& layout;
  Memory& memory;
  std::uint64_t number = 0;
};

/// What the blocks of a launch share.
struct Tally {
  Counts& counts;
  Footprint& footprint;
  std::set<std::string>& not_computed;
  std::uint64_t budget = 0;  ///< Warp instructions that may still be executed.
};

/// Runs one block to its end; false if it stopped, for the reason in `stop`.
[[nodiscard]] bool run_block(const BlockInput& input, Tally& tally, Stop& stop);

}  // namespace mansard::frontend::ptx
