#include "model/serve/block_pool.hpp"

#include <cassert>
#include <ranges>

namespace mansard::model::serve {

BlockPool::BlockPool(std::uint64_t blocks)
    : references_(blocks), names_(blocks), next_(blocks), previous_(blocks) {
  for (std::uint64_t block = 0; block < blocks; ++block) {
    append(static_cast<Block>(block));
  }
}

BlockPool::Block BlockPool::take() {
  assert(first_ != kEnd && "a block is free");
  const Block block = first_;
  unlink(block);
  if (names_[block] != 0) {
    by_name_.erase(names_[block]);
    names_[block] = 0;
    ++evictions_;
  }
  references_[block] = 1;
  return block;
}

void BlockPool::release(Block block) {
  assert(references_[block] > 0 && "a block that is released is in use");
  if (--references_[block] == 0) {
    append(block);
  }
}

void BlockPool::release_all(std::span<const Block> blocks) {
  for (const Block block : std::views::reverse(blocks)) {
    release(block);
  }
}

const BlockPool::Block* BlockPool::find(Name name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

void BlockPool::share(Block block) {
  if (references_[block]++ == 0) {
    unlink(block);
  }
}

void BlockPool::name(Block block, Name name) {
  if (names_[block] == 0 && by_name_.emplace(name, block).second) {
    names_[block] = name;
  }
}

void BlockPool::clear() {
  for (const auto& [name, block] : by_name_) {
    names_[block] = 0;
  }
  by_name_.clear();
}

void BlockPool::unlink(Block block) {
  const std::uint32_t before = previous_[block];
  const std::uint32_t after = next_[block];
  (before == kEnd ? first_ : next_[before]) = after;
  (after == kEnd ? last_ : previous_[after]) = before;
  --available_;
}

void BlockPool::append(Block block) {
  previous_[block] = last_;
  next_[block] = kEnd;
  (last_ == kEnd ? first_ : next_[last_]) = block;
  last_ = block;
  ++available_;
}

}  // namespace mansard::model::serve
