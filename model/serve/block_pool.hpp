#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace mansard::model::serve {

/// The KV blocks of a replica. A block whose content has a name (a hash of all tokens up to its
/// end) keeps it when freed, and may be taken up again until it is given away: the block freed
/// longest ago goes first.
class BlockPool {
 public:
  using Block = std::uint32_t;
  using Name = std::uint64_t;  ///< 0: none.

  explicit BlockPool(std::uint64_t blocks);

  [[nodiscard]] std::uint64_t size() const { return references_.size(); }
  [[nodiscard]] std::uint64_t available() const { return available_; }
  [[nodiscard]] std::uint64_t used() const { return size() - available_; }
  [[nodiscard]] std::uint64_t evictions() const { return evictions_; }

  /// Takes a block that nobody uses; there must be one (asserted).
  [[nodiscard]] Block take();
  /// One user fewer.
  void release(Block block);
  /// Releases in such an order that the last is given away first.
  void release_all(std::span<const Block> blocks);

  /// The block that holds what has that name, or none.
  [[nodiscard]] const Block* find(Name name) const;
  [[nodiscard]] bool is_free(Block block) const { return references_[block] == 0; }
  /// One user more of a block found.
  void share(Block block);
  /// Names the content of a block in use, if no other block has it.
  void name(Block block, Name name);
  /// Forgets all content: of a replica that failed.
  void clear();

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;

  void unlink(Block block);
  void append(Block block);

  std::vector<std::uint32_t> references_;
  std::vector<Name> names_;
  std::vector<std::uint32_t> next_, previous_;  ///< Of free blocks, longest free first.
  std::uint32_t first_ = kEnd;
  std::uint32_t last_ = kEnd;
  std::uint64_t available_ = 0;
  std::uint64_t evictions_ = 0;
  std::unordered_map<Name, Block> by_name_;
};

}  // namespace mansard::model::serve
