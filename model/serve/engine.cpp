#include "model/serve/engine.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "model/serve/hash.hpp"

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
    sequences_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  ++slots_used_;
  Sequence& s = sequences_[slot] = std::move(sequence);
  s.scheduled = s.generated;
  pending_tokens_ += s.request.input_tokens;
  waiting_.push(slot, rank(s));
}

void Engine::set_computed(Sequence& s, std::uint32_t computed) {
  pending_tokens_ += std::min(s.computed, s.request.input_tokens);
  pending_tokens_ -= std::min(computed, s.request.input_tokens);
  s.computed = computed;
}

bool Engine::is_decoding(const Sequence& s) const {
  return s.scheduled > 0 && s.computed + 1 >= s.known();
}

std::uint32_t Engine::blocks_for(std::uint64_t tokens) const {
  return static_cast<std::uint32_t>((tokens + settings_.block_size - 1) / settings_.block_size);
}

/// New tokens that a sequence wants of an iteration; 0 if it must wait for its outputs.
std::uint32_t Engine::wanted_tokens(const Sequence& s) const {
  if (s.scheduled >= s.request.output_tokens || (prefill_only_ && s.scheduled > s.generated)) {
    return 0;
  }
  const bool waits_for_output = s.in_flight > 0 && s.scheduled > s.generated;
  if (waits_for_output && !settings_.async_scheduling) {
    return 0;
  }
  if (settings_.draft_tokens > 0 && s.in_flight > 0) {
    return 0;
  }
  const std::uint32_t left = s.known() - s.computed;
  if (is_decoding(s)) {
    return left + settings_.draft_tokens;
  }
  const std::uint32_t most = settings_.long_prefill_token_threshold;
  return most > 0 ? std::min(left, most) : left;
}

bool Engine::schedule(double now, Iteration& iteration) {
  iteration.batch.clear();
  iteration.entries.clear();
  iteration.swapped_blocks = 0;
  iteration.batch.decode_tokens = 1 + settings_.draft_tokens;
  budget_ = settings_.max_num_batched_tokens;
  preempted_now_ = false;
  ++counts_.schedules;
  if (settings_.precedence == Precedence::kDecodeFirst) {
    schedule_running(now, iteration, true, true);
    schedule_waiting(now, iteration);
  } else {
    schedule_running(now, iteration, true, false);
    schedule_waiting(now, iteration);
    if (settings_.enable_chunked_prefill || iteration.entries.empty()) {
      schedule_running(now, iteration, false, true);
    }
  }
  for (const Iteration::Entry& entry : iteration.entries) {
    const Sequence& s = sequences_[entry.slot];
    if (entry.decodes) {
      iteration.batch.decodes.push_back(s.computed);
    } else {
      iteration.batch.chunks.push_back({entry.tokens, s.computed});
    }
  }
  counts_.iterations += iteration.entries.empty() ? 0 : 1;
  return !iteration.entries.empty();
}

void Engine::schedule_running(double now, Iteration& iteration, bool prompts, bool decodes) {
  for (std::size_t at = 0; at < running_.size() && budget_ > 0; ++at) {
    const Slot slot = running_[at];
    Sequence& s = sequences_[slot];
    const bool decoding = is_decoding(s);
    if (!(decoding ? decodes : prompts) || s.scheduled_in == counts_.schedules) {
      continue;
    }
    const std::uint32_t wanted = wanted_tokens(s);
    const std::uint32_t tokens = std::min(wanted, budget_);
    if (tokens == 0 || (decoding && tokens < wanted)) {
      continue;
    }
    if (!grow(s, tokens) && !make_room(at, tokens, now, iteration)) {
      break;
    }
    add_entry(slot, tokens, iteration);
  }
}

/// Takes the blocks that `tokens` more tokens need; false if there are too few.
bool Engine::grow(Sequence& s, std::uint32_t tokens) {
  const std::uint32_t needed = blocks_for(std::uint64_t{s.computed} + tokens);
  if (needed <= s.blocks.size()) {
    return true;
  }
  if (needed - s.blocks.size() > pool_.available()) {
    return false;
  }
  while (s.blocks.size() < needed) {
    s.blocks.push_back(pool_.take());
  }
  return true;
}

/// Preempts until the sequence at place `at` can grow; false if it was preempted itself. `at`
/// follows it.
bool Engine::make_room(std::size_t& at, std::uint32_t tokens, double now, Iteration& iteration) {
  const Slot slot = running_[at];
  Sequence& s = sequences_[slot];
  while (!grow(s, tokens)) {
    auto victim = running_.end() - 1;
    if (settings_.order == QueueOrder::kPriority) {
      victim = std::ranges::max_element(running_, {}, [&](Slot candidate) {
        return std::pair(sequences_[candidate].request.priority, sequences_[candidate].turn);
      });
    }
    const Slot preempted = *victim;
    const auto place = static_cast<std::size_t>(victim - running_.begin());
    running_.erase(victim);
    at -= place < at ? 1 : 0;
    preempt(preempted, now, iteration);
    if (preempted == slot) {
      return false;
    }
  }
  return true;
}

void Engine::preempt(Slot victim, double now, Iteration& iteration) {
  Sequence& s = sequences_[victim];
  take_back(victim, iteration);
  s.running = false;
  const auto blocks = static_cast<std::uint64_t>(s.blocks.size());
  // Nobody else looks for what it shares with nobody; itself may find it again.
  name_blocks(s, static_cast<std::uint32_t>(blocks));
  pool_.release_all(s.blocks);
  s.blocks.clear();
  s.named = 0;
  if (settings_.preemption == Preemption::kSwap && blocks <= host_blocks_ && s.computed > 0) {
    host_blocks_ -= blocks;
    s.swapped = static_cast<std::uint32_t>(blocks);
    iteration.swapped_blocks += blocks;
    counts_.swapped_blocks += blocks;
  } else {
    set_computed(s, 0);
    s.remote = 0;
  }
  ++s.preemptions;
  ++counts_.preemptions;
  preempted_now_ = true;
  waiting_.push_front(victim, rank(s));
  observer_.preempted(s, now);
}

/// Undoes what this iteration had scheduled of a sequence.
void Engine::take_back(Slot slot, Iteration& iteration) {
  const auto found = std::ranges::find(iteration.entries, slot, &Iteration::Entry::slot);
  if (found == iteration.entries.end()) {
    return;
  }
  Sequence& s = sequences_[slot];
  budget_ += found->tokens;
  set_computed(s, s.computed - found->tokens);
  s.scheduled_in = 0;
  s.scheduled -= found->samples && settings_.draft_tokens == 0 ? 1 : 0;
  --s.in_flight;
  iteration.entries.erase(found);
}

void Engine::schedule_waiting(double now, Iteration& iteration) {
  while (!preempted_now_ && budget_ > 0 && !waiting_.empty() &&
         running_.size() < settings_.max_num_seqs) {
    if (!admit(waiting_.front(), now, iteration)) {
      return;
    }
  }
}

bool Engine::admit(Slot slot, double now, Iteration& iteration) {
  Sequence& s = sequences_[slot];
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
  add_entry(slot, tokens, iteration);
  return true;
}

void Engine::add_entry(Slot slot, std::uint32_t tokens, Iteration& iteration) {
  Sequence& s = sequences_[slot];
  Iteration::Entry entry{.slot = slot, .tokens = tokens};
  const bool decoding = is_decoding(s);
  entry.decodes = tokens == 1 + settings_.draft_tokens && (decoding || tokens == 1);
  const std::uint32_t known = s.known();
  (decoding ? counts_.decode_tokens : counts_.prompt_tokens) += decoding ? 1 : tokens;
  if (!decoding && (s.preemptions > 0 || s.generated > 0)) {
    counts_.recomputed_tokens += tokens;
  }
  set_computed(s, s.computed + tokens);
  s.scheduled_in = counts_.schedules;
  entry.samples = s.computed >= known;
  if (entry.samples && settings_.draft_tokens == 0) {
    ++s.scheduled;
  }
  ++s.in_flight;
  budget_ -= tokens;
  waiting_.charge(s.request.user, tokens);
  name_blocks(s, shared_blocks(s.request));
  iteration.entries.push_back(entry);
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

/// Drafted tokens that are accepted, one after another, each with the settings' chance; drawn from
/// the seed, the request and its place, so that a run is the same however it is scheduled.
std::uint32_t Engine::accepted(const Sequence& s) const {
  std::uint32_t count = 0;
  while (count < settings_.draft_tokens) {
    const std::uint64_t drawn = mixed(mixed(seed_, s.request.id), s.generated * 64U + count);
    if (static_cast<double>(drawn >> 11U) * 0x1p-53 >= settings_.acceptance) {
      break;
    }
    ++count;
  }
  return count;
}

void Engine::complete(const Iteration& iteration, double now) {
  for (const Iteration::Entry& entry : iteration.entries) {
    Sequence& s = sequences_[entry.slot];
    --s.in_flight;
    if (!entry.samples) {
      continue;
    }
    std::uint32_t tokens = 1;
    if (settings_.draft_tokens > 0) {
      if (entry.decodes) {
        const std::uint32_t right = accepted(s);
        counts_.drafted += settings_.draft_tokens;
        counts_.accepted += right;
        tokens = std::min(1 + right, s.request.output_tokens - s.generated);
        if (s.running) {
          set_computed(s, s.computed - (entry.tokens - tokens));
        }
      }
      s.scheduled += tokens;
    }
    emit(entry.slot, tokens, now);
  }
  flush_gap();
}

void Engine::emit(Slot slot, std::uint32_t tokens, double now) {
  Sequence& s = sequences_[slot];
  if (s.generated == 0) {
    s.first_token = now;
    observer_.first_token(s, now);
    if (tokens > 1) {
      observer_.gap(0, tokens - 1);
    }
  } else {
    const double gap = now - s.last_token;
    if (gap != gap_) {
      flush_gap();
      gap_ = gap;
    }
    ++gap_count_;
    if (tokens > 1) {
      observer_.gap(0, tokens - 1);
    }
  }
  s.generated += tokens;
  s.last_token = now;
  if (s.finished()) {
    observer_.finished(s, now);
    free_slot(slot);
  } else if (prefill_only_ && s.running) {
    std::erase(running_, slot);
    s.running = false;
    s.handed_over = true;
    observer_.handed_over(slot, now);
  }
}

void Engine::flush_gap() {
  if (gap_count_ > 0) {
    observer_.gap(gap_, gap_count_);
  }
  gap_count_ = 0;
  gap_ = -1;
}

void Engine::free_slot(Slot slot) {
  Sequence& s = sequences_[slot];
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
  Sequence taken = sequences_[slot];
  waiting_.pop();
  sequences_[slot].handed_over = true;  // it no longer waits
  free_slot(slot);
  return taken;
}

std::vector<Sequence> Engine::fail() {
  std::vector<Sequence> lost;
  while (!waiting_.empty()) {
    lost.push_back(std::move(sequences_[waiting_.front()]));
    sequences_[waiting_.front()] = Sequence{};
    free_slots_.push_back(waiting_.front());
    waiting_.pop();
  }
  for (Slot slot = 0; slot < sequences_.size(); ++slot) {
    if (sequences_[slot].running || sequences_[slot].handed_over) {
      pool_.release_all(sequences_[slot].blocks);
      lost.push_back(std::move(sequences_[slot]));
      free_slots_.push_back(slot);
      sequences_[slot] = Sequence{};
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
