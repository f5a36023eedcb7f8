#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "model/serve/block_pool.hpp"
#include "model/serve/engine_settings.hpp"
#include "model/serve/sequence.hpp"
#include "model/serve/step_time.hpp"
#include "model/serve/waiting_queue.hpp"

/// The scheduler of one replica: continuous batching over a paged KV cache, as vLLM V1 does it.
///
/// Each iteration has a budget of tokens. Sequences that run come first, in order of admission,
/// each with its next token or the next chunk of its prompt; what is left admits from the queue. A
/// sequence takes blocks as it grows. Where none is free, the one admitted last is preempted: its
/// blocks are freed and it waits in front of the queue, to be computed again (or to be copied back
/// from the host), and nobody is admitted in that iteration.
///
/// With asynchronous scheduling the next iteration is scheduled while one is computed; so what
/// arrives or ends during an iteration changes the next but one.
namespace mansard::model::serve {

/// What an engine reports as it goes.
class EngineObserver {
 public:
  EngineObserver() = default;
  virtual ~EngineObserver() = default;
  EngineObserver(const EngineObserver&) = delete;
  EngineObserver& operator=(const EngineObserver&) = delete;

  virtual void admitted(const Sequence& sequence, double now) = 0;
  virtual void preempted(const Sequence& sequence, double now) = 0;
  virtual void first_token(const Sequence& sequence, double now) = 0;
  /// `count` tokens came `gap` seconds after the ones before them.
  virtual void gap(double gap, std::uint64_t count) = 0;
  virtual void finished(const Sequence& sequence, double now) = 0;
  /// Its prompt is computed and another replica generates: blocks stay until `release`.
  virtual void handed_over(std::uint32_t slot, double now) = 0;
};

/// One iteration, scheduled.
struct Iteration {
  struct Entry {
    std::uint32_t slot = 0;
    std::uint32_t tokens = 0;   ///< New.
    std::uint32_t context = 0;  ///< Attended by the last of them, itself included.
    bool samples = false;       ///< A token comes out at its end.
    bool decodes = false;
  };
  Batch batch;
  std::vector<Entry> entries;
  std::uint64_t swapped_blocks = 0;  ///< Copied to or from the host before it.
  double start = 0;
  double end = 0;
};

/// Sums over what an engine did.
struct EngineCounts {
  std::uint64_t iterations = 0;
  std::uint64_t schedules = 0;          ///< Attempts, empty ones included.
  std::uint64_t prompt_tokens = 0;      ///< Computed as prompts, recomputed ones included.
  std::uint64_t recomputed_tokens = 0;  ///< Of them, after a preemption or failure.
  std::uint64_t decode_tokens = 0;
  std::uint64_t drafted = 0;
  std::uint64_t accepted = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t swapped_blocks = 0;
};

class Engine {
 public:
  Engine(const EngineSettings& settings, std::uint64_t blocks, std::uint64_t host_blocks,
         std::uint64_t seed, EngineObserver& observer);

  /// Why a request can never be served here; "" if it can.
  [[nodiscard]] std::string_view refusal(const ir::Request& request) const;
  void add(Sequence sequence);
  /// With whatever it says is known from elsewhere, generation ends after the first token.
  void set_prefill_only(bool only) { prefill_only_ = only; }

  /// Fills `iteration` with what runs next; false if nothing can.
  [[nodiscard]] bool schedule(double now, Iteration& iteration);
  /// The outputs of an iteration that ended at `now`.
  void complete(const Iteration& iteration, double now);
  /// Frees what `handed_over` held.
  void release(std::uint32_t slot);
  /// Takes the sequence out that waits first, because nothing runs and it cannot be admitted.
  [[nodiscard]] Sequence take_stuck();
  /// A failure: all content is lost; every sequence goes back to whoever routes, in order of
  /// arrival.
  [[nodiscard]] std::vector<Sequence> fail();

  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] bool idle() const { return slots_used_ == 0; }
  [[nodiscard]] std::size_t sequences() const { return slots_used_; }
  /// Prompt tokens that are not computed yet, of all its sequences.
  [[nodiscard]] std::uint64_t pending_tokens() const { return pending_tokens_; }
  [[nodiscard]] const BlockPool& blocks() const { return pool_; }
  [[nodiscard]] const EngineCounts& counts() const { return counts_; }
  [[nodiscard]] const Sequence& sequence(std::uint32_t slot) const { return *sequences_[slot]; }
  /// Prompt tokens that the prefix cache would spare.
  [[nodiscard]] std::uint32_t cached_tokens(const ir::Request& request) const;

 private:
  using Slot = std::uint32_t;

  [[nodiscard]] WaitingQueue::Rank rank(const Sequence& s) const;
  void schedule_running(double now, Iteration& iteration, bool prompts, bool decodes);
  void schedule_waiting(double now, Iteration& iteration);
  [[nodiscard]] bool admit(Slot slot, double now, Iteration& iteration);
  void set_computed(Sequence& s, std::uint32_t computed) {
    pending_tokens_ += std::min(s.computed, s.request.input_tokens);
    pending_tokens_ -= std::min(computed, s.request.input_tokens);
    s.computed = computed;
  }
  [[nodiscard]] std::uint32_t wanted_tokens(const Sequence& s) const;
  [[nodiscard]] std::uint32_t blocks_for(std::uint64_t tokens) const {
    return static_cast<std::uint32_t>((tokens + settings_.block_size - 1) / settings_.block_size);
  }
  [[nodiscard]] Sequence& of(Slot slot) { return *sequences_[slot]; }
  [[nodiscard]] static bool is_decoding(const Sequence& s) {
    return s.scheduled > 0 && s.computed + 1 >= s.known();
  }
  /// Takes the blocks that `tokens` more tokens need; false if there are too few.
  [[nodiscard]] bool grow(Sequence& s, std::uint32_t tokens) {
    const std::uint64_t needed = std::uint64_t{s.computed} + tokens;
    return needed <= s.blocks.size() * std::uint64_t{settings_.block_size} ||
           take_blocks(s, blocks_for(needed));
  }
  [[nodiscard]] bool take_blocks(Sequence& s, std::uint32_t needed);
  [[nodiscard]] bool make_room(std::size_t& at, std::uint32_t tokens, double now,
                               Iteration& iteration);
  void preempt(Slot victim, double now, Iteration& iteration);
  void add_entry(Slot slot, Sequence& s, std::uint32_t tokens, Iteration& iteration);
  void take_back(Slot slot, Iteration& iteration);
  /// Blocks of a prompt that other prompts may hold too.
  [[nodiscard]] std::uint32_t shared_blocks(const ir::Request& request) const;
  void name_blocks(Sequence& s, std::uint32_t most);
  [[nodiscard]] BlockPool::Name name_of(const ir::Request& request, std::uint32_t block) const;
  /// The blocks that hold the beginning of a sequence of `known` tokens, the last of which must be
  /// computed in any case.
  void find_cached(const Sequence& s, std::vector<BlockPool::Block>& found) const;
  [[nodiscard]] std::uint32_t accepted(const Sequence& s) const;
  void emit(Slot slot, Sequence& s, std::uint32_t tokens, double now);
  void flush_gap();
  void free_slot(Slot slot);

  const EngineSettings settings_;
  BlockPool pool_;
  std::uint64_t host_blocks_;
  std::uint64_t seed_;
  EngineObserver& observer_;
  bool prefill_only_ = false;
  std::vector<std::unique_ptr<Sequence>> sequences_;
  std::vector<Slot> free_slots_;
  std::size_t slots_used_ = 0;
  std::vector<Slot> running_;  ///< In order of admission.
  WaitingQueue waiting_;
  std::uint32_t budget_ = 0;
  bool preempted_now_ = false;
  std::uint64_t pending_tokens_ = 0;
  double gap_ = -1;
  std::uint64_t gap_count_ = 0;
  std::vector<BlockPool::Block> found_;
  EngineCounts counts_;
};

}  // namespace mansard::model::serve
