#include <algorithm>

#include "model/serve/engine.hpp"
#include "model/serve/hash.hpp"

namespace mansard::model::serve {

void Engine::complete(const Iteration& iteration, double now) {
  for (const Iteration::Entry& entry : iteration.entries) {
    Sequence& s = of(entry.slot);
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
    emit(entry.slot, s, tokens, now);
  }
  flush_gap();
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

void Engine::emit(Slot slot, Sequence& s, std::uint32_t tokens, double now) {
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

}  // namespace mansard::model::serve
