#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ir/kernel.hpp"
#include "ir/kernel_flow.hpp"

/// Which write of a register a read sees: static single assignment, found on demand.
namespace mansard::ir {

/// What a register holds at a place: the result of an instruction; where ways meet that bring
/// different ones, a phi of that register at the start of a block; or nothing that was written.
struct Definition {
  enum class Kind : std::uint8_t { kUndefined, kInstruction, kPhi };
  Kind kind = Kind::kUndefined;
  std::uint32_t at = 0;  ///< Instruction or block.
  std::uint32_t reg = 0;

  friend auto operator<=>(const Definition&, const Definition&) = default;
};

/// On-demand construction after Braun et al., Simple and Efficient Construction of Static Single
/// Assignment Form (2013).
class Definitions {
 public:
  Definitions(const Kernel& kernel, const KernelFlow& flow);

  /// What instruction `at` sees in a register.
  [[nodiscard]] Definition before(std::uint32_t reg, std::uint32_t instruction);
  /// What a register holds at the end of a block.
  [[nodiscard]] Definition after(std::uint32_t reg, std::uint32_t block);
  /// A phi may turn out to bring one definition only, after others were told of it: that one.
  [[nodiscard]] Definition settled(const Definition& definition);
  /// The block that an instruction is in.
  [[nodiscard]] std::uint32_t block_of(std::uint32_t instruction) const {
    return block_of_[instruction];
  }
  /// The block that a definition is in; the entry for none.
  [[nodiscard]] std::uint32_t block_of(const Definition& definition) const;
  [[nodiscard]] const std::vector<std::uint32_t>& predecessors(std::uint32_t block) const {
    return predecessors_[block];
  }

 private:
  Definition at_start(std::uint32_t reg, std::uint32_t block);
  Definition phi(std::uint32_t reg, std::uint32_t block);

  const Kernel& kernel_;
  std::vector<std::vector<std::uint32_t>> writers_;  ///< By register, in order.
  std::vector<std::uint32_t> block_of_;
  std::vector<std::vector<std::uint32_t>> predecessors_;  ///< Those that the entry reaches.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Definition> starts_;  ///< Block, register.
  int depth_ = 0;
};

}  // namespace mansard::ir
