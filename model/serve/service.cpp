#include "model/serve/service.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <queue>

#include "model/serve/hash.hpp"
#include "support/random.hpp"

namespace mansard::model::serve {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

enum class Due : std::uint8_t {
  kIterationDone,
  kTransferDone,
  kFailure,
  kRecovery,
  kStarted,
  kAutoscaling
};

/// Something that will happen to a replica; void if the replica failed meanwhile (`life`).
struct Appointment {
  double time = 0;
  std::uint64_t order = 0;  ///< Of making; breaks ties.
  Due due = Due::kIterationDone;
  std::uint32_t replica = 0;
  std::uint32_t life = 0;
  std::uint32_t slot = 0;  ///< kTransferDone.
  double downtime = 0;     ///< kFailure.

  friend bool operator>(const Appointment& a, const Appointment& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
};

class Simulation;

/// A replica of a pool, and the one that hears its engine.
class Replica final : public EngineObserver {
 public:
  enum class State : std::uint8_t { kOff, kStarting, kOn, kDraining, kFailed };

  Replica(Simulation& simulation, const Pool& pool, const EngineSettings& settings,
          std::uint32_t index, std::uint64_t seed)
      : pool(pool),
        settings(settings),
        engine(settings, pool.blocks, pool.host_blocks, seed, *this),
        index(index),
        simulation_(simulation) {
    engine.set_prefill_only(pool.role == Role::kPrefill);
  }

  void admitted(const Sequence& sequence, double now) override;
  void preempted(const Sequence& sequence, double now) override;
  void first_token(const Sequence& sequence, double now) override;
  void gap(double gap, std::uint64_t count) override;
  void finished(const Sequence& sequence, double now) override;
  void handed_over(std::uint32_t slot, double now) override;

  [[nodiscard]] bool takes_requests() const { return state == State::kOn; }
  [[nodiscard]] std::size_t depth() const {
    return pool.stages > 1 ? static_cast<std::size_t>(pool.stages)
                           : (settings.async_scheduling ? 2 : 1);
  }

  const Pool& pool;
  EngineSettings settings;
  Engine engine;
  std::uint32_t index = 0;
  State state = State::kOff;
  std::uint32_t life = 0;
  std::deque<Iteration> in_flight;
  std::vector<Iteration> spare;
  double free_at = 0;  ///< When the first stage is done with what it has.
  double link_free_at = 0;
  double changed_at = 0;  ///< The present numbers hold since.
  double on_since = 0;
  double on_seconds = 0;
  double busy_seconds = 0;

 private:
  Simulation& simulation_;
};

/// The settings of a pool's engines: what a pipeline or drafting rules out is off.
EngineSettings engine_settings(const Pool& pool) {
  EngineSettings settings = pool.settings;
  settings.async_scheduling =
      settings.async_scheduling && pool.stages <= 1 && settings.draft_tokens == 0;
  return settings;
}

/// Ids of a prompt's blocks turned into names of all that is up to their ends.
std::shared_ptr<const ir::PromptBlocks> chained(const ir::PromptBlocks& prompt) {
  auto result = std::make_shared<ir::PromptBlocks>(prompt);
  std::uint64_t before = 0;
  for (std::uint64_t& id : result->ids) {
    id = before = mixed(before, id);
  }
  return result;
}

class Simulation {
 public:
  Simulation(const Service& service, ir::RequestSource& source, const Listeners& listeners)
      : service_(service), source_(source), listeners_(listeners), random_(service.seed) {
    for (const Pool& pool : service.pools) {
      places_.emplace_back();
      for (const std::string& resource : pool.timer->resources()) {
        const auto found = std::ranges::find(report_.resources, resource);
        places_.back().push_back(static_cast<std::size_t>(found - report_.resources.begin()));
        if (found == report_.resources.end()) {
          report_.resources.push_back(resource);
        }
      }
    }
    report_.timeline = Timeline(report_.resources.size());
    add_replicas();
    for (const Failure& failure : service.failures) {
      make({.time = failure.time,
            .due = Due::kFailure,
            .replica = failure.replica,
            .downtime = failure.downtime});
    }
    if (scales()) {
      make({.time = service.autoscaling.interval, .due = Due::kAutoscaling});
    }
  }

  ServiceReport run() {
    pending_ = source_.next();
    for (;;) {
      const double arrival = next_arrival();
      const double due = due_.empty() ? kNever : due_.top().time;
      if (arrival == kNever && due == kNever) {
        break;
      }
      if (arrival <= due) {
        arrive();
      } else {
        const Appointment appointment = due_.top();
        due_.pop();
        keep(appointment);
      }
    }
    refuse_backlog();
    finish();
    return std::move(report_);
  }

  void admitted(Replica& replica, const Sequence& s, double now) {
    if (s.generated == 0) {
      report_.queueing.add(now - s.request.arrival);
      report_.cached_tokens += s.cached;
    }
    tell(replica, EventKind::kAdmitted, s.request.id, now);
  }
  void preempted(Replica& replica, const Sequence& s, double now) {
    report_.timeline.at(now).preemptions += 1;
    tell(replica, EventKind::kPreempted, s.request.id, now);
  }
  void first_token(Replica& replica, const Sequence& s, double now) {
    tell(replica, EventKind::kFirstToken, s.request.id, now);
  }
  void gap(double gap, std::uint64_t count) { report_.itl.add(gap, count); }

  void finished(Replica& replica, const Sequence& s, double now) {
    const Served served{.request = &s.request,
                        .admitted = s.admitted,
                        .first_token = s.first_token,
                        .finished = now,
                        .cached_tokens = s.cached,
                        .preemptions = s.preemptions,
                        .replica = replica.index};
    ++report_.completed;
    --alive_;
    report_.input_tokens += s.request.input_tokens;
    report_.output_tokens += s.generated;
    report_.ttft.add(served.ttft());
    report_.latency.add(served.latency());
    const auto tpot = served.tpot();
    if (tpot) {
      report_.tpot.add(*tpot);
    }
    const Objectives& o = service_.objectives;
    const bool good = (!o.ttft || served.ttft() <= *o.ttft) &&
                      (!o.tpot || !tpot || *tpot <= *o.tpot) &&
                      (!o.latency || served.latency() <= *o.latency);
    report_.good += good ? 1 : 0;
    last_answer_ = std::max(last_answer_, now);
    if (listeners_.served) {
      listeners_.served(served);
    }
    tell(replica, EventKind::kFinished, s.request.id, now);
    follow_up(s.request, now);
  }

  void handed_over(Replica& replica, std::uint32_t slot, double now) {
    const Sequence& s = replica.engine.sequence(slot);
    const double bytes = static_cast<double>(s.blocks.size()) * replica.pool.block_bytes;
    const double start = std::max(now, replica.link_free_at);
    replica.link_free_at = start + bytes / service_.link.bytes_per_second;
    tell(replica, EventKind::kHandedOver, s.request.id, now);
    make({.time = replica.link_free_at + service_.link.latency,
          .due = Due::kTransferDone,
          .replica = replica.index,
          .life = replica.life,
          .slot = slot});
  }

 private:
  struct Later {
    bool operator()(const ir::Request& a, const ir::Request& b) const {
      return a.arrival != b.arrival ? a.arrival > b.arrival : a.id > b.id;
    }
  };

  [[nodiscard]] bool scales() const {
    return service_.autoscaling.most > service_.autoscaling.least;
  }

  void add_replicas() {
    for (const Pool& pool : service_.pools) {
      const bool scaled = scales() && &pool == &service_.pools.front();
      const std::uint32_t most =
          scaled ? std::max(service_.autoscaling.most, pool.replicas) : pool.replicas;
      for (std::uint32_t i = 0; i < most; ++i) {
        const auto index = static_cast<std::uint32_t>(replicas_.size());
        Replica& replica =
            replicas_.emplace_back(*this, pool, engine_settings(pool), index, service_.seed);
        if (i < pool.replicas) {
          replica.state = Replica::State::kOn;
          report_.gpus += pool.gpus;
        }
        plan_failure(replica, 0);
      }
      disaggregated_ = disaggregated_ || pool.role == Role::kPrefill;
    }
  }

  void plan_failure(const Replica& replica, double now) {
    if (service_.mean_time_between_failures) {
      make({.time = now + *service_.mean_time_between_failures * random_.exponential(),
            .due = Due::kFailure,
            .replica = replica.index,
            .downtime = service_.downtime});
    }
  }

  void make(Appointment appointment) {
    appointment.order = orders_++;
    due_.push(appointment);
  }

  /// The time of the next arrival: the source's, or one that follows an answer.
  [[nodiscard]] double next_arrival() const {
    const double of_source = pending_ ? pending_->arrival : kNever;
    return follow_ups_.empty() ? of_source : std::min(of_source, follow_ups_.top().arrival);
  }

  [[nodiscard]] ir::Request take_arrival() {
    if (pending_ && (follow_ups_.empty() || pending_->arrival <= follow_ups_.top().arrival)) {
      ir::Request request = std::move(*pending_);
      pending_ = source_.next();
      return request;
    }
    ir::Request request = follow_ups_.top();
    follow_ups_.pop();
    return request;
  }

  [[nodiscard]] bool work_left() const { return next_arrival() < kNever || alive_ > 0; }

  /// All that arrive at one time are routed before any of them is scheduled.
  void arrive() {
    const double now = next_arrival();
    while (next_arrival() <= now) {
      accept(take_arrival(), now);
    }
    pump_dirty(now);
  }

  void accept(ir::Request request, double now) {
    first_arrival_ = report_.requests == 0 ? now : first_arrival_;
    ++report_.requests;
    if (listeners_.event) {
      listeners_.event({.kind = EventKind::kArrival, .time = now, .request = request.id});
    }
    if (request.prompt != nullptr) {
      request.prompt = chained(*request.prompt);
    }
    Sequence sequence;
    sequence.request = std::move(request);
    sequence.turn = turns_++;
    ++alive_;
    route(std::move(sequence), now);
  }

  void route(Sequence sequence, double now) {
    const bool decode = disaggregated_ && sequence.remote > 0;
    std::string_view refusal = refusal_by_all(sequence.request, decode);
    if (refusal.empty() && disaggregated_ && sequence.request.output_tokens > 1) {
      refusal = refusal_by_all(sequence.request, !decode);
    }
    if (!refusal.empty()) {
      return reject(sequence.request, refusal, now);
    }
    Replica* chosen = choose(sequence.request, decode);
    if (chosen == nullptr) {
      backlog_.push_back(std::move(sequence));
      return;
    }
    hold(*chosen, now);
    chosen->engine.add(std::move(sequence));
    mark(*chosen);
  }

  [[nodiscard]] bool serves(const Replica& replica, bool decode) const {
    if (!disaggregated_) {
      return true;
    }
    return decode ? replica.pool.role != Role::kPrefill : replica.pool.role != Role::kDecode;
  }

  /// Why no replica, on or not, could serve a request; "" if one could.
  [[nodiscard]] std::string_view refusal_by_all(const ir::Request& request, bool decode) const {
    std::string_view why = "no replica";
    for (const Pool& pool : service_.pools) {
      const auto found = std::ranges::find_if(
          replicas_, [&](const Replica& replica) { return &replica.pool == &pool; });
      if (found == replicas_.end() || !serves(*found, decode)) {
        continue;
      }
      why = found->engine.refusal(request);
      if (why.empty()) {
        return why;
      }
    }
    return why;
  }

  [[nodiscard]] Replica* choose(const ir::Request& request, bool decode) {
    candidates_.clear();
    for (Replica& replica : replicas_) {
      if (replica.takes_requests() && serves(replica, decode) &&
          replica.engine.refusal(request).empty()) {
        candidates_.push_back(&replica);
      }
    }
    if (candidates_.empty()) {
      return nullptr;
    }
    switch (service_.router) {
      case Router::kRoundRobin:
        return candidates_[turns_of_[decode ? 1 : 0]++ % candidates_.size()];
      case Router::kUser:
        return candidates_[mixed(request.user, 0) % candidates_.size()];
      case Router::kLeastLoaded:
        return least([](const Replica& r) { return r.engine.sequences(); });
      case Router::kKvAware:
        break;
    }
    return least([&](const Replica& r) {
      const std::uint64_t missing =
          request.input_tokens - std::min(r.engine.cached_tokens(request), request.input_tokens);
      return std::pair(r.engine.pending_tokens() + missing, r.engine.sequences());
    });
  }

  template <typename Load>
  [[nodiscard]] Replica* least(Load load) const {
    return *std::ranges::min_element(candidates_, {}, [&](const Replica* r) { return load(*r); });
  }

  void reject(const ir::Request& request, std::string_view reason, double now) {
    ++report_.rejected[std::string(reason)];
    --alive_;
    report_.rejected_input_tokens += request.input_tokens;
    report_.rejected_output_tokens += request.output_tokens;
    if (listeners_.rejected) {
      listeners_.rejected(request, reason);
    }
    if (listeners_.event) {
      listeners_.event(
          {.kind = EventKind::kRejected, .time = now, .request = request.id, .reason = reason});
    }
    follow_up(request, now);
  }

  void follow_up(const ir::Request& request, double now) {
    if (auto next = source_.after(request, now)) {
      follow_ups_.push(std::move(*next));
    }
  }

  void mark(Replica& replica) {
    if (std::ranges::find(dirty_, &replica) == dirty_.end()) {
      dirty_.push_back(&replica);
    }
  }

  /// Replicas that wait for nothing schedule at once what they were given.
  void pump_dirty(double now) {
    while (!dirty_.empty()) {
      Replica& replica = *dirty_.back();
      dirty_.pop_back();
      if (replica.in_flight.empty()) {
        pump(replica, now);
      }
    }
  }

  void pump(Replica& replica, double now) {
    if (replica.state != Replica::State::kOn && replica.state != Replica::State::kDraining) {
      return;
    }
    hold(replica, now);
    while (replica.in_flight.size() < replica.depth()) {
      Iteration iteration;
      if (!replica.spare.empty()) {
        iteration = std::move(replica.spare.back());
        replica.spare.pop_back();
      }
      const bool any = replica.engine.schedule(now, iteration);
      if (any) {
        run(replica, std::move(iteration), now);
        continue;
      }
      replica.spare.push_back(std::move(iteration));
      if (!replica.in_flight.empty() || replica.engine.waiting() == 0 ||
          replica.engine.running() > 0 || replica.engine.sequences() > replica.engine.waiting()) {
        return;
      }
      reject(replica.engine.take_stuck().request, "cannot be admitted", now);
    }
  }

  void run(Replica& replica, Iteration iteration, double now) {
    const Pool& pool = replica.pool;
    const Batch& batch = iteration.batch;
    const double host =
        replica.settings.host_seconds +
        replica.settings.host_seconds_per_sequence * static_cast<double>(iteration.entries.size());
    const double start = std::max(now + host, replica.free_at);
    Timeline::Interval& interval = report_.timeline.at(start);
    const std::vector<std::size_t>& places =
        places_[static_cast<std::size_t>(&pool - service_.pools.data())];
    busy_.assign(places.size(), 0);
    StepCost cost = pool.timer->cost(batch, busy_);
    for (std::size_t i = 0; i < places.size(); ++i) {
      interval.busy[places[i]] += busy_[i];
    }
    double seconds = cost.seconds + static_cast<double>(iteration.swapped_blocks) *
                                        pool.block_bytes /
                                        std::max(pool.swap_bytes_per_second, 1.0);
    seconds += draft_seconds(pool, batch, cost);
    report_.prompt_seconds += cost.prompt_seconds;
    report_.joules += cost.joules;
    report_.has_energy = report_.has_energy || cost.joules > 0;
    iteration.start = start;
    iteration.end = start + pool.stages * seconds;
    if (!replica.in_flight.empty()) {
      iteration.end = std::max(iteration.end, replica.in_flight.back().end);
    }
    replica.free_at = start + seconds;
    replica.busy_seconds += seconds;
    interval.iterations += 1;
    interval.sequences += static_cast<double>(iteration.entries.size());
    interval.tokens += static_cast<double>(batch.tokens());
    make({.time = iteration.end,
          .due = Due::kIterationDone,
          .replica = replica.index,
          .life = replica.life});
    if (listeners_.event) {
      tell_iteration(replica, iteration);
    }
    replica.in_flight.push_back(std::move(iteration));
  }

  /// The drafting model's steps: the first also reads the prompts that the model reads, each drafts
  /// a token of every sequence.
  double draft_seconds(const Pool& pool, const Batch& batch, StepCost& cost) {
    if (pool.draft == nullptr || batch.decode_tokens < 2) {
      return 0;
    }
    drafting_.decodes = batch.decodes;
    drafting_.chunks = batch.chunks;
    const StepCost first = pool.draft->cost(drafting_, {});
    cost.joules += first.joules;
    if (batch.decodes.empty()) {
      return first.seconds;
    }
    drafting_.chunks.clear();
    const StepCost step = pool.draft->cost(drafting_, {});
    const double more = batch.decode_tokens - 2;
    cost.joules += more * step.joules;
    return first.seconds + more * step.seconds;
  }

  void keep(const Appointment& a) {
    if (a.due == Due::kAutoscaling) {
      return autoscale(a.time);
    }
    if (a.replica >= replicas_.size()) {
      return;
    }
    Replica& replica = replicas_[a.replica];
    switch (a.due) {
      case Due::kIterationDone:
        if (a.life == replica.life) {
          iteration_done(replica, a.time);
        }
        return;
      case Due::kTransferDone:
        if (a.life == replica.life) {
          transfer_done(replica, a.slot, a.time);
        }
        return;
      case Due::kFailure:
        return fail(replica, a);
      case Due::kRecovery:
        return recover(replica, a.time);
      case Due::kStarted:
        return started(replica, a.time);
      case Due::kAutoscaling:
        return;
    }
  }

  void iteration_done(Replica& replica, double now) {
    hold(replica, now);
    Iteration iteration = std::move(replica.in_flight.front());
    replica.in_flight.pop_front();
    report_.timeline.at(now).output_tokens += outputs(iteration);
    replica.engine.complete(iteration, now);
    replica.spare.push_back(std::move(iteration));
    pump(replica, now);
    pump_dirty(now);
    stop_if_drained(replica, now);
  }

  static double outputs(const Iteration& iteration) {
    return static_cast<double>(
        std::ranges::count_if(iteration.entries, &Iteration::Entry::samples));
  }

  void transfer_done(Replica& replica, std::uint32_t slot, double now) {
    hold(replica, now);
    Sequence moved = replica.engine.sequence(slot);
    replica.engine.release(slot);
    moved.blocks.clear();
    moved.remote = moved.request.input_tokens + moved.generated - 1;
    moved.computed = moved.in_flight = moved.named = 0;
    moved.scheduled_in = 0;
    moved.running = moved.handed_over = false;
    ++report_.transfers;
    tell(replica, EventKind::kTransferred, moved.request.id, now);
    route(std::move(moved), now);
    mark(replica);
    pump_dirty(now);
    stop_if_drained(replica, now);
  }

  void fail(Replica& replica, const Appointment& a) {
    if (!work_left() || replica.state == Replica::State::kFailed ||
        replica.state == Replica::State::kOff || replica.state == Replica::State::kStarting) {
      return;
    }
    hold(replica, a.time);
    ++report_.failures;
    ++replica.life;
    replica.state = Replica::State::kFailed;
    replica.in_flight.clear();
    replica.free_at = replica.link_free_at = a.time;
    tell(replica, EventKind::kFailure, 0, a.time);
    make({.time = a.time + a.downtime, .due = Due::kRecovery, .replica = replica.index});
    for (Sequence& lost : replica.engine.fail()) {
      route(std::move(lost), a.time);
    }
    pump_dirty(a.time);
  }

  void recover(Replica& replica, double now) {
    hold(replica, now);
    replica.state = Replica::State::kOn;
    tell(replica, EventKind::kRecovery, 0, now);
    if (work_left()) {
      plan_failure(replica, now);
    }
    route_backlog(now);
  }

  void route_backlog(double now) {
    std::deque<Sequence> waiting = std::move(backlog_);
    backlog_.clear();
    for (Sequence& sequence : waiting) {
      route(std::move(sequence), now);
    }
    pump_dirty(now);
  }

  void started(Replica& replica, double now) {
    replica.state = Replica::State::kOn;
    tell(replica, EventKind::kStarted, 0, now);
    route_backlog(now);
  }

  void autoscale(double now) {
    if (!work_left()) {
      return;
    }
    make({.time = now + service_.autoscaling.interval, .due = Due::kAutoscaling});
    const Pool& pool = service_.pools.front();
    std::uint32_t on = 0;
    std::uint32_t coming = 0;
    double load = static_cast<double>(backlog_.size());
    Replica* off = nullptr;
    Replica* last = nullptr;
    for (Replica& replica : replicas_) {
      if (&replica.pool != &pool) {
        continue;
      }
      load += static_cast<double>(replica.engine.sequences());
      coming += replica.state == Replica::State::kStarting ? 1 : 0;
      if (replica.state == Replica::State::kOn) {
        ++on;
        last = &replica;
      }
      off = replica.state == Replica::State::kOff && off == nullptr ? &replica : off;
    }
    const double each = load / std::max<double>(on + coming, 1);
    if (each > service_.autoscaling.above && off != nullptr &&
        on + coming < service_.autoscaling.most) {
      start(*off, now);
    } else if (each < service_.autoscaling.below && on > service_.autoscaling.least &&
               last != nullptr) {
      last->state = Replica::State::kDraining;
      stop_if_drained(*last, now);
    }
  }

  void start(Replica& replica, double now) {
    replica.state = Replica::State::kStarting;
    replica.on_since = now;
    replica.changed_at = now;
    make({.time = now + service_.autoscaling.start_up,
          .due = Due::kStarted,
          .replica = replica.index});
  }

  void stop_if_drained(Replica& replica, double now) {
    if (replica.state == Replica::State::kDraining && replica.engine.idle()) {
      hold(replica, now);
      replica.state = Replica::State::kOff;
      replica.on_seconds += now - replica.on_since;
      tell(replica, EventKind::kStopped, 0, now);
    }
  }

  /// Closes the span of time in which a replica's numbers were what they are still.
  void hold(Replica& replica, double now) {
    if (replica.state == Replica::State::kOff || now <= replica.changed_at) {
      return;
    }
    const BlockPool& blocks = replica.engine.blocks();
    report_.timeline.hold(
        replica.changed_at, now,
        {.running = static_cast<double>(replica.engine.running()),
         .waiting = static_cast<double>(replica.engine.waiting()),
         .kv_used = static_cast<double>(blocks.used()) /
                    static_cast<double>(std::max<std::uint64_t>(blocks.size(), 1))});
    replica.changed_at = now;
  }

  void refuse_backlog() {
    for (const Sequence& sequence : backlog_) {
      reject(sequence.request, "no replica", last_answer_);
    }
    backlog_.clear();
  }

  void finish() {
    report_.makespan = std::max(0.0, last_answer_ - first_arrival_);
    report_.most_replicas = 0;
    bool priced = true;
    double usd = 0;
    for (Replica& replica : replicas_) {
      const bool on = replica.state != Replica::State::kOff;
      if (on) {
        replica.on_seconds += std::max(0.0, last_answer_ - replica.on_since);
      }
      report_.most_replicas += replica.on_seconds > 0 || on ? 1 : 0;
      report_.on_seconds += replica.on_seconds;
      report_.gpu_seconds += replica.on_seconds * replica.pool.gpus;
      report_.busy_seconds += replica.busy_seconds;
      report_.evictions += replica.engine.blocks().evictions();
      report_.leaked_blocks += replica.engine.blocks().used();
      add_counts(replica.engine.counts());
      priced = priced && replica.pool.usd_per_second.has_value();
      usd += replica.pool.usd_per_second.value_or(0) * replica.on_seconds;
      if (report_.has_energy && replica.pool.idle_watts) {
        report_.joules +=
            *replica.pool.idle_watts * std::max(0.0, replica.on_seconds - replica.busy_seconds);
      }
    }
    if (priced) {
      report_.usd = usd;
    }
  }

  void add_counts(const EngineCounts& c) {
    EngineCounts& sum = report_.counts;
    sum.iterations += c.iterations;
    sum.prompt_tokens += c.prompt_tokens;
    sum.recomputed_tokens += c.recomputed_tokens;
    sum.decode_tokens += c.decode_tokens;
    sum.drafted += c.drafted;
    sum.accepted += c.accepted;
    sum.preemptions += c.preemptions;
    sum.swapped_blocks += c.swapped_blocks;
  }

  void tell(const Replica& replica, EventKind kind, std::uint64_t request, double now) {
    if (listeners_.event) {
      listeners_.event({.kind = kind, .time = now, .replica = replica.index, .request = request});
    }
  }

  void tell_iteration(const Replica& replica, const Iteration& iteration) {
    const BlockPool& blocks = replica.engine.blocks();
    listeners_.event({.kind = EventKind::kIteration,
                      .time = iteration.start,
                      .end = iteration.end,
                      .replica = replica.index,
                      .decodes = static_cast<std::uint32_t>(iteration.batch.decodes.size()),
                      .chunks = static_cast<std::uint32_t>(iteration.batch.chunks.size()),
                      .tokens = iteration.batch.tokens(),
                      .kv_used = static_cast<double>(blocks.used()) /
                                 static_cast<double>(std::max<std::uint64_t>(blocks.size(), 1))});
  }

  const Service& service_;
  ir::RequestSource& source_;
  const Listeners& listeners_;
  Random random_;
  ServiceReport report_;
  std::deque<Replica> replicas_;
  std::optional<ir::Request> pending_;  ///< The next of the source.
  std::priority_queue<ir::Request, std::vector<ir::Request>, Later> follow_ups_;
  std::priority_queue<Appointment, std::vector<Appointment>, std::greater<>> due_;
  std::vector<Replica*> candidates_;
  std::vector<Replica*> dirty_;
  std::deque<Sequence> backlog_;                  ///< No replica that could serve them is on.
  std::vector<std::vector<std::size_t>> places_;  ///< Of each pool's resources in the report's.
  std::vector<double> busy_;
  Batch drafting_;
  bool disaggregated_ = false;
  std::uint64_t orders_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t turns_of_[2] = {0, 0};
  std::uint64_t alive_ = 0;
  double first_arrival_ = 0;
  double last_answer_ = 0;
};

void Replica::admitted(const Sequence& sequence, double now) {
  simulation_.admitted(*this, sequence, now);
}
void Replica::preempted(const Sequence& sequence, double now) {
  simulation_.preempted(*this, sequence, now);
}
void Replica::first_token(const Sequence& sequence, double now) {
  simulation_.first_token(*this, sequence, now);
}
void Replica::gap(double gap, std::uint64_t count) {
  simulation_.gap(gap, count);
}
void Replica::finished(const Sequence& sequence, double now) {
  simulation_.finished(*this, sequence, now);
}
void Replica::handed_over(std::uint32_t slot, double now) {
  simulation_.handed_over(*this, slot, now);
}

}  // namespace

std::optional<double> Served::tpot() const {
  if (request->output_tokens < 2) {
    return std::nullopt;
  }
  return (finished - first_token) / static_cast<double>(request->output_tokens - 1);
}

std::uint64_t ServiceReport::rejections() const {
  return std::accumulate(rejected.begin(), rejected.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

double ServiceReport::output_tokens_per_second() const {
  return makespan > 0 ? static_cast<double>(output_tokens) / makespan : 0;
}

ServiceReport simulate(const Service& service, ir::RequestSource& source,
                       const Listeners& listeners) {
  return Simulation(service, source, listeners).run();
}

}  // namespace mansard::model::serve
