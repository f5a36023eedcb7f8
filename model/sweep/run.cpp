#include <algorithm>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "model/sweep/row_evaluator.hpp"
#include "model/sweep/sweep.hpp"

namespace mansard::model {
namespace {

/// A part of the points, and what came out of it.
struct Piece {
  SweepBlock block;
  SweepCounts counts;
  std::unique_ptr<SweepSink::Digest> digest;
};
using PiecePointer = std::shared_ptr<Piece>;

class Runner {
 public:
  Runner(const SweepSpace& space, const VariantSource& source, SweepSink& sink,
         const SweepOptions& options)
      : space_(space),
        source_(source),
        sink_(sink),
        options_(options),
        next_(options.begin),
        end_(std::min<std::uint64_t>(options.end, space.variants() * space.per_variant())),
        block_size_(sweep_block_size(space)),
        evaluators_([&space] { return RowEvaluator(space); }) {}

  SweepCounts run() {
    const unsigned threads = options_.threads > 0
                                 ? options_.threads
                                 : static_cast<unsigned>(tbb::this_task_arena::max_concurrency());
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::parallel_pipeline(std::size_t{4} * threads,
                           tbb::make_filter<void, PiecePointer>(
                               tbb::filter_mode::serial_in_order,
                               [this](tbb::flow_control& flow) { return next(flow); }) &
                               tbb::make_filter<PiecePointer, PiecePointer>(
                                   tbb::filter_mode::parallel,
                                   [this](const PiecePointer& piece) { return work(piece); }) &
                               tbb::make_filter<PiecePointer, void>(
                                   tbb::filter_mode::serial_in_order,
                                   [this](const PiecePointer& piece) { take(*piece); }));
    return std::move(counts_);
  }

 private:
  PiecePointer next(tbb::flow_control& flow) {
    const bool stopped = options_.stop != nullptr && options_.stop->load();
    if (next_ >= end_ || stopped) {
      flow.stop();
      return {};
    }
    const std::uint64_t index = next_ / space_.per_variant();
    if (!variant_ || variant_->index != index) {
      auto made = source_(SweepSpace::places(space_.structural, index));
      made.index = index;
      variant_ = std::make_shared<const SweepVariant>(std::move(made));
    }
    auto piece = std::make_shared<Piece>();
    const std::uint64_t first = next_ % space_.per_variant();
    const std::uint64_t left = std::min(space_.per_variant() - first, end_ - next_);
    // Blocks begin at multiples of their size, so that shards have the blocks of the whole.
    const std::uint64_t to_boundary = block_size_ - first % block_size_;
    const std::uint64_t count = variant_->function ? std::min(left, to_boundary) : left;
    piece->block = {.space = &space_, .variant = variant_, .first = first, .count = count};
    next_ += count;
    return piece;
  }

  PiecePointer work(const PiecePointer& piece) {
    if (!piece->block.variant->function) {
      piece->counts.infeasible[piece->block.variant->infeasible] = piece->block.count;
      return piece;
    }
    evaluators_.local().evaluate(piece->block, piece->counts);
    piece->digest = sink_.digest(piece->block);
    return piece;
  }

  void take(Piece& piece) {
    counts_.add(piece.counts);
    if (piece.digest) {
      sink_.take(*piece.digest);
    }
    if (options_.progress) {
      options_.progress(counts_.total());
    }
  }

  const SweepSpace& space_;
  const VariantSource& source_;
  SweepSink& sink_;
  const SweepOptions& options_;
  std::uint64_t next_;
  std::uint64_t end_;
  std::size_t block_size_;
  std::shared_ptr<const SweepVariant> variant_;
  tbb::enumerable_thread_specific<RowEvaluator> evaluators_;
  SweepCounts counts_;
};

}  // namespace

std::size_t sweep_block_size(const SweepSpace& space) {
  constexpr std::uint64_t kBlocks = 64;
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(space.per_variant() / kBlocks, 512, 16384));
}

SweepCounts run_sweep(const SweepSpace& space, const VariantSource& source, SweepSink& sink,
                      const SweepOptions& options) {
  return Runner(space, source, sink, options).run();
}

}  // namespace mansard::model
