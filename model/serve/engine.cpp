#include "model/serve/engine.hpp"

#include <algorithm>
#include <cassert>

namespace mansard::model::serve {

Engine::Engine(const EngineSettings& settings, std::uint64_t blocks, std::uint64_t host_blocks,
               std::uint64_t seed, EngineObserver& observer)
    : settings_(settings),
      pool_(blocks),
      host_blocks_(host_blocks),
      seed_(seed),
      observer_(observer),
      waiting_(settings.order) {}

std::string_view Engine::refusal(const ir::Request& request) const {
  const std::uint64_t tokens = std::uint64_t{request.input_tokens} + request.output_tokens;
  if (request.input_tokens == 0) {
    return "no input tokens";
  }
  if (request.output_tokens == 0) {
    return "no output tokens";
  }
  if (settings_.max_model_len > 0 && tokens > settings_.max_model_len) {
    return "longer than max_model_len";
  }
  if (!settings_.enable_chunked_prefill && tokens - 1 > settings_.max_num_batched_tokens) {
    return "longer than an iteration";  // a preempted one is computed again as a whole
  }
  // The last output is never attended to, and drafted tokens need room beside it.
  const std::uint64_t most =
      (prefill_only_ ? request.input_tokens : tokens - 1) + settings_.draft_tokens;
  if ((most + settings_.block_size - 1) / settings_.block_size +
          static_cast<std::uint64_t>(settings_.watermark * static_cast<double>(pool_.size())) >
      pool_.size()) {
    return "longer than the KV cache";
  }
  return {};
}

WaitingQueue::Rank Engine::rank(const Sequence& s) const {
  return {s.request.priority, s.request.input_tokens, s.request.user, s.turn};
}

void Engine::add(Sequence sequence) {
  Slot slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<Slot>(sequences_.size());
    sequences_.push_back(std::make_unique<Sequence>());
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  ++slots_used_;
  Sequence& s = of(slot) = std::move(sequence);
  s.scheduled = s.generated;
  pending_tokens_ += s.request.input_tokens;
  waiting_.push(slot, rank(s));
}

void Engine::free_slot(Slot slot) {
  Sequence& s = of(slot);
  if (s.running) {
    running_.erase(std::ranges::find(running_, slot));
  } else if (!s.handed_over) {
    waiting_.erase(slot, rank(s));  // its last token was computed before it was preempted
    host_blocks_ += s.swapped;
  }
  pending_tokens_ -= s.request.input_tokens - std::min(s.computed, s.request.input_tokens);
  pool_.release_all(s.blocks);
  std::vector<BlockPool::Block> blocks = std::move(s.blocks);
  blocks.clear();
  s = Sequence{};
  s.blocks = std::move(blocks);
  free_slots_.push_back(slot);
  --slots_used_;
}

void Engine::release(std::uint32_t slot) {
  free_slot(slot);
}

Sequence Engine::take_stuck() {
  const Slot slot = waiting_.front();
  Sequence taken = of(slot);
  waiting_.pop();
  of(slot).handed_over = true;  // it no longer waits
  free_slot(slot);
  return taken;
}

std::vector<Sequence> Engine::fail() {
  std::vector<Sequence> lost;
  while (!waiting_.empty()) {
    lost.push_back(std::move(of(waiting_.front())));
    of(waiting_.front()) = Sequence{};
    free_slots_.push_back(waiting_.front());
    waiting_.pop();
  }
  for (Slot slot = 0; slot < sequences_.size(); ++slot) {
    if (of(slot).running || of(slot).handed_over) {
      pool_.release_all(of(slot).blocks);
      lost.push_back(std::move(of(slot)));
      free_slots_.push_back(slot);
      of(slot) = Sequence{};
    }
  }
  running_.clear();
  slots_used_ = 0;
  pending_tokens_ = 0;
  pool_.clear();
  for (Sequence& s : lost) {
    host_blocks_ += s.swapped;
    s.blocks.clear();
    s.computed = s.remote = s.swapped = s.named = s.in_flight = 0;
    s.scheduled = s.generated;
    s.running = s.handed_over = false;
  }
  std::ranges::sort(lost, {}, &Sequence::turn);
  return lost;
}

}  // namespace mansard::model::serve
