#include <algorithm>
#include <utility>

#include "model/serve/engine.hpp"

namespace mansard::model::serve {

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
    if (entry.decodes) {
      iteration.batch.decodes.push_back(entry.context);
    } else {
      iteration.batch.chunks.push_back({entry.tokens, entry.context});
    }
  }
  counts_.iterations += iteration.entries.empty() ? 0 : 1;
  return !iteration.entries.empty();
}

void Engine::schedule_running(double now, Iteration& iteration, bool prompts, bool decodes) {
  for (std::size_t at = 0; at < running_.size() && budget_ > 0; ++at) {
    const Slot slot = running_[at];
    Sequence& s = of(slot);
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
    add_entry(slot, s, tokens, iteration);
  }
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

bool Engine::take_blocks(Sequence& s, std::uint32_t needed) {
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
  Sequence& s = of(slot);
  while (!grow(s, tokens)) {
    auto victim = running_.end() - 1;
    if (settings_.order == QueueOrder::kPriority) {
      victim = std::ranges::max_element(running_, {}, [&](Slot candidate) {
        return std::pair(of(candidate).request.priority, of(candidate).turn);
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
  Sequence& s = of(victim);
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
  Sequence& s = of(slot);
  budget_ += found->tokens;
  set_computed(s, s.computed - found->tokens);
  s.scheduled_in = 0;
  s.scheduled -= found->samples && settings_.draft_tokens == 0 ? 1 : 0;
  --s.in_flight;
  iteration.entries.erase(found);
}

void Engine::add_entry(Slot slot, Sequence& s, std::uint32_t tokens, Iteration& iteration) {
  const bool decoding = is_decoding(s);
  const std::uint32_t known = s.known();
  if (decoding) {
    ++counts_.decode_tokens;
  } else {
    counts_.prompt_tokens += tokens;
    counts_.recomputed_tokens += s.preemptions > 0 || s.generated > 0 ? tokens : 0;
  }
  set_computed(s, s.computed + tokens);
  s.scheduled_in = counts_.schedules;
  const bool samples = s.computed >= known;
  if (samples && settings_.draft_tokens == 0) {
    ++s.scheduled;
  }
  ++s.in_flight;
  budget_ -= tokens;
  if (settings_.order == QueueOrder::kFair) {
    waiting_.charge(s.request.user, tokens);
  }
  if (s.request.prompt != nullptr) {
    name_blocks(s, shared_blocks(s.request));
  }
  iteration.entries.push_back(
      {.slot = slot,
       .tokens = tokens,
       .context = s.computed,
       .samples = samples,
       .decodes = tokens == 1 + settings_.draft_tokens && (decoding || tokens == 1)});
}

}  // namespace mansard::model::serve
