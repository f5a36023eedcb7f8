#include <algorithm>
#include <cassert>

#include "model/serve/engine.hpp"
#include "model/serve/hash.hpp"

namespace mansard::model::serve {

void Engine::schedule_waiting(double now, Iteration& iteration) {
  while (!preempted_now_ && budget_ > 0 && !waiting_.empty() &&
         running_.size() < settings_.max_num_seqs) {
    if (!admit(waiting_.front(), now, iteration)) {
      return;
    }
  }
}

bool Engine::admit(Slot slot, double now, Iteration& iteration) {
  Sequence& s = of(slot);
  if (s.in_flight > 0) {
    return false;  // preempted while its last token is being computed
  }
  const auto reserve =
      static_cast<std::uint64_t>(settings_.watermark * static_cast<double>(pool_.size()));
  const std::uint64_t free = pool_.available() - std::min(pool_.available(), reserve);
  found_.clear();
  std::uint32_t computed = s.computed;
  std::uint64_t taken = s.swapped;  // blocks that hold what is computed
  if (s.remote > 0) {
    computed = std::min(s.remote, s.known() - 1);
    taken = blocks_for(computed);
  } else if (s.swapped == 0) {
    find_cached(s, found_);
    computed = static_cast<std::uint32_t>(found_.size()) * settings_.block_size;
    for (const BlockPool::Block block : found_) {
      taken += pool_.is_free(block) ? 1 : 0;
    }
  }
  std::uint32_t tokens = s.known() - computed;
  const std::uint32_t most = settings_.long_prefill_token_threshold;
  tokens = most > 0 ? std::min(tokens, most) : tokens;
  if (tokens > budget_ && !settings_.enable_chunked_prefill) {
    return false;
  }
  tokens = std::min(tokens, budget_);
  const std::uint64_t holds = found_.empty() ? taken : found_.size();
  const std::uint64_t until = settings_.reserve_full_sequence ? s.known() : computed + tokens;
  const std::uint64_t more = blocks_for(until) - std::min<std::uint64_t>(holds, blocks_for(until));
  if (taken + more > free) {
    return false;
  }
  waiting_.pop();
  running_.push_back(slot);
  s.running = true;
  for (const BlockPool::Block block : found_) {
    pool_.share(block);
  }
  s.blocks = found_;
  s.named = static_cast<std::uint32_t>(found_.size());
  while (s.blocks.size() < holds) {
    s.blocks.push_back(pool_.take());
  }
  if (s.swapped > 0) {
    iteration.swapped_blocks += s.swapped;
    host_blocks_ += s.swapped;
    s.swapped = 0;
  }
  set_computed(s, computed);
  s.remote = 0;
  if (s.admitted < 0) {
    s.admitted = now;
    s.cached = static_cast<std::uint32_t>(found_.size()) * settings_.block_size;
    observer_.admitted(s, now);
  }
  const bool grown = grow(s, tokens);
  assert(grown && "admission counted the blocks");
  static_cast<void>(grown);
  add_entry(slot, s, tokens, iteration);
  return true;
}

std::uint32_t Engine::shared_blocks(const ir::Request& request) const {
  if (request.prompt == nullptr) {
    return 0;
  }
  const std::uint64_t known = std::uint64_t{request.prompt->tokens} * request.prompt->ids.size();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(known, request.input_tokens) /
                                    settings_.block_size);
}

/// Names the first `most` of the blocks that are full, so that whoever has the same tokens finds
/// them.
void Engine::name_blocks(Sequence& s, std::uint32_t most) {
  if (!settings_.enable_prefix_caching || settings_.draft_tokens > 0) {
    return;
  }
  const std::uint32_t full = std::min(s.computed / settings_.block_size, most);
  for (; s.named < full; ++s.named) {
    pool_.name(s.blocks[s.named], name_of(s.request, s.named));
  }
}

BlockPool::Name Engine::name_of(const ir::Request& request, std::uint32_t block) const {
  const std::uint64_t end = std::uint64_t{block + 1} * settings_.block_size;
  const ir::PromptBlocks* prompt = request.prompt.get();
  if (prompt != nullptr && end <= request.input_tokens) {
    const std::size_t place = (end - 1) / prompt->tokens;
    if (place < prompt->ids.size()) {
      return mixed(prompt->ids[place], end) | 1U;
    }
  }
  return mixed(~request.id, end) | 1U;
}

void Engine::find_cached(const Sequence& s, std::vector<BlockPool::Block>& found) const {
  if (!settings_.enable_prefix_caching || s.request.input_tokens == 0) {
    return;
  }
  const std::uint32_t most = (s.known() - 1) / settings_.block_size;
  for (std::uint32_t i = 0; i < most; ++i) {
    const BlockPool::Block* block = pool_.find(name_of(s.request, i));
    if (block == nullptr) {
      return;
    }
    found.push_back(*block);
  }
}

std::uint32_t Engine::cached_tokens(const ir::Request& request) const {
  if (request.prompt == nullptr) {
    return 0;
  }
  Sequence s;
  s.request = request;
  std::vector<BlockPool::Block> found;
  find_cached(s, found);
  return static_cast<std::uint32_t>(found.size()) * settings_.block_size;
}

}  // namespace mansard::model::serve
