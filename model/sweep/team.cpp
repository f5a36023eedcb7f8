#include "model/sweep/team.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>

#include "model/sweep/packing.hpp"

namespace mansard::model {
namespace {

/// Points of a chunk: enough to hide a message, few enough to share a sweep evenly.
constexpr std::uint64_t kChunk = std::uint64_t{1} << 18U;
/// Chunks of each process that may wait for one before them.
constexpr std::size_t kAhead = 4;
constexpr std::chrono::microseconds kPause(200);

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Cuts the points into chunks that begin where blocks do.
class Chunks {
 public:
  Chunks(const SweepSpace& space, const SweepOptions& options)
      : variant_(space.per_variant()),
        next_(options.begin),
        end_(std::min<std::uint64_t>(options.end, space.variants() * space.per_variant())) {
    const std::uint64_t block = sweep_block_size(space);
    within_ = std::max<std::uint64_t>(kChunk / block, 1) * block;
  }

  std::optional<Range> next() {
    if (next_ >= end_) {
      return std::nullopt;
    }
    const std::uint64_t place = next_ % variant_;
    const std::uint64_t whole_variants = std::max<std::uint64_t>(kChunk / variant_, 1);
    const std::uint64_t count = variant_ <= kChunk
                                    ? whole_variants * variant_ - place
                                    : std::min(variant_ - place, within_ - place % within_);
    const Range range{next_, next_ + std::min(count, end_ - next_)};
    next_ = range.end;
    return range;
  }

 private:
  std::uint64_t variant_;
  std::uint64_t within_ = 0;
  std::uint64_t next_;
  std::uint64_t end_;
};

/// Keeps digests as bytes, in order.
class Recorder : public SweepSink {
 public:
  explicit Recorder(const SweepSink& sink) : sink_(&sink) {}
  [[nodiscard]] std::unique_ptr<Digest> digest(const SweepBlock& block) const override {
    return sink_->digest(block);
  }
  void take(Digest& digest) override { sink_->pack(digest, packer_); }
  void pack(const Digest& digest, Packer& packer) const override { sink_->pack(digest, packer); }
  [[nodiscard]] std::unique_ptr<Digest> unpack(Unpacker& unpacker) const override {
    return sink_->unpack(unpacker);
  }
  [[nodiscard]] const std::string& bytes() const { return packer_.bytes(); }

 private:
  const SweepSink* sink_;
  Packer packer_;
};

void pack_counts(const SweepCounts& counts, Packer& packer) {
  packer.put(counts.evaluated);
  packer.put(counts.unwanted);
  packer.put(counts.infeasible.size());
  for (const auto& [reason, count] : counts.infeasible) {
    packer.put_text(reason);
    packer.put(count);
  }
}

SweepCounts unpack_counts(Unpacker& unpacker) {
  SweepCounts counts;
  counts.evaluated = unpacker.get<std::uint64_t>();
  counts.unwanted = unpacker.get<std::uint64_t>();
  for (auto left = unpacker.get<std::size_t>(); left > 0; --left) {
    const std::string reason(unpacker.text());
    counts.infeasible[reason] = unpacker.get<std::uint64_t>();
  }
  return counts;
}

/// Evaluates chunks. The variant of the last one is kept, which the next one most often needs.
class Worker {
 public:
  Worker(const SweepSpace& space, const VariantSource& source, const SweepSink& sink,
         const SweepOptions& options, const TeamNotes& notes)
      : space_(space), source_(source), sink_(sink), notes_(notes), options_(options) {
    options_.progress = nullptr;
    options_.stop = nullptr;  // Chunks are whole, so that what was taken has no gaps.
  }

  /// The results of a chunk: counts, note, digests.
  std::string evaluate(const Range& range) {
    Recorder recorder(sink_);
    options_.begin = range.begin;
    options_.end = range.end;
    const SweepCounts counts = run_sweep(
        space_, [this](std::span<const std::uint64_t> places) { return variant(places); }, recorder,
        options_);
    Packer packer;
    packer.put(range.begin);
    pack_counts(counts, packer);
    packer.put_text(notes_.write());
    packer.put_text(recorder.bytes());
    return packer.bytes();
  }

 private:
  SweepVariant variant(std::span<const std::uint64_t> places) {
    if (!kept_ || !std::ranges::equal(places, places_)) {
      kept_ = source_(places);
      places_.assign(places.begin(), places.end());
    }
    return *kept_;
  }

  const SweepSpace& space_;
  const VariantSource& source_;
  const SweepSink& sink_;
  const TeamNotes& notes_;
  SweepOptions options_;
  std::vector<std::uint64_t> places_;
  std::optional<SweepVariant> kept_;
};

/// The first process's own worker, in a thread: it asks and answers as the others do.
class LocalWorker {
 public:
  explicit LocalWorker(Worker worker) : worker_(std::move(worker)) {
    thread_ = std::thread([this] { run(); });
  }
  ~LocalWorker() { thread_.join(); }
  LocalWorker(const LocalWorker&) = delete;
  LocalWorker& operator=(const LocalWorker&) = delete;

  /// What it has to say: results, empty before the first chunk.
  std::optional<std::string> poll() {
    const std::lock_guard lock(mutex_);
    return std::exchange(answer_, std::nullopt);
  }
  void give(std::optional<Range> range) {
    const std::lock_guard lock(mutex_);
    order_.push(range);
    changed_.notify_one();
  }

 private:
  void run() {
    answer({});
    while (const auto range = next()) {
      answer(worker_.evaluate(*range));
    }
  }
  std::optional<Range> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !order_.empty(); });
    const auto range = order_.front();
    order_.pop();
    return range;
  }
  void answer(std::string text) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(text);
  }

  Worker worker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<std::optional<Range>> order_;
  std::optional<std::string> answer_;
  std::thread thread_;
};

std::string order_bytes(const std::optional<Range>& range) {
  Packer packer;
  packer.put(range.value_or(Range{}));
  return packer.bytes();
}

/// Hands out chunks and takes results in order, in the first process.
class Coordinator {
 public:
  Coordinator(const SweepSpace& space, SweepSink& sink, const SweepOptions& options,
              const Team& team, const TeamNotes& notes)
      : chunks_(space, options), sink_(sink), options_(options), team_(team), notes_(notes) {}

  SweepCounts run(LocalWorker& local) {
    for (int at_work = team_.size(); at_work > 0;) {
      bool heard = false;
      while (auto message = team_.poll()) {
        heard = true;
        hear(message->from, message->bytes);
      }
      if (auto answer = local.poll()) {
        heard = true;
        hear(0, *answer);
      }
      at_work -= hand_out(local);
      if (!heard) {
        std::this_thread::sleep_for(kPause);
      }
    }
    return std::move(counts_);
  }

 private:
  void hear(int from, const std::string& bytes) {
    idle_.push_back(from);
    if (bytes.empty()) {
      return;
    }
    const auto begin = Unpacker(bytes).get<std::uint64_t>();
    results_.emplace(begin, bytes);
    while (!open_.empty() && results_.contains(open_.front())) {
      take(results_.extract(open_.front()).mapped());
      open_.pop();
    }
  }

  void take(const std::string& bytes) {
    Unpacker unpacker(bytes);
    (void)unpacker.get<std::uint64_t>();
    counts_.add(unpack_counts(unpacker));
    ended_ = !notes_.read(unpacker.text()) || ended_;
    Unpacker digests(unpacker.text());
    while (!digests.empty()) {
      sink_.take(*sink_.unpack(digests));
    }
    if (options_.progress) {
      options_.progress(counts_.total());
    }
  }

  /// The number of processes that were sent home.
  int hand_out(LocalWorker& local) {
    int sent_home = 0;
    ended_ = ended_ || (options_.stop != nullptr && options_.stop->load());
    const std::size_t limit = kAhead * static_cast<std::size_t>(team_.size());
    while (!idle_.empty() && (ended_ || open_.size() < limit)) {
      const auto range = ended_ ? std::nullopt : chunks_.next();
      if (range) {
        open_.push(range->begin);
      } else {
        ++sent_home;
      }
      const int to = idle_.back();
      idle_.pop_back();
      if (to == 0) {
        local.give(range);
      } else {
        team_.send(to, order_bytes(range));
      }
    }
    return sent_home;
  }

  Chunks chunks_;
  SweepSink& sink_;
  const SweepOptions& options_;
  const Team& team_;
  const TeamNotes& notes_;
  std::vector<int> idle_;
  std::queue<std::uint64_t> open_;                // Chunks handed out and not taken, in order.
  std::map<std::uint64_t, std::string> results_;  // That wait for one before them.
  bool ended_ = false;
  SweepCounts counts_;
};

void follow(Worker worker, const Team& team) {
  team.send(0, "");
  while (true) {
    const auto range = Unpacker(team.receive().bytes).get<Range>();
    if (range.begin == range.end) {
      return;
    }
    team.send(0, worker.evaluate(range));
  }
}

}  // namespace

SweepCounts run_sweep_as_team(const SweepSpace& space, const VariantSource& source, SweepSink& sink,
                              const SweepOptions& options, const Team& team,
                              const TeamNotes& notes) {
  Worker worker(space, source, sink, options, notes);
  if (team.rank() != 0) {
    follow(std::move(worker), team);
    return {};
  }
  LocalWorker local(std::move(worker));
  return Coordinator(space, sink, options, team, notes).run(local);
}

}  // namespace mansard::model
