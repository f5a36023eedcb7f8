#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/program/batch.hpp"
#include "model/sweep/axis.hpp"
#include "support/result.hpp"

/// A model evaluated at every point of a product of axes.
///
/// Axes are of two kinds. *Structural* ones (tensor parallelism, formats, machines, models) change
/// the expression: every combination is a variant with code of its own. *Symbolic* ones (batch,
/// bandwidth) are symbols of that expression. Points come in the order of the axes as given,
/// structural ones first, the last axis changing fastest.
namespace mansard::model {

/// Axes that advance together, all of one length.
using AxisGroup = std::vector<Axis>;

/// The points of a sweep.
class SweepSpace {
 public:
  SweepSpace() = default;
  SweepSpace(std::vector<AxisGroup> structural, std::vector<AxisGroup> symbolic);

  std::vector<AxisGroup> structural;
  std::vector<AxisGroup> symbolic;

  /// The number of points; more than 2^64 count as that.
  [[nodiscard]] double points() const;
  [[nodiscard]] std::uint64_t variants() const { return product(structural, 0); }
  /// Points of one variant.
  [[nodiscard]] std::uint64_t per_variant() const { return product(symbolic, 0); }
  /// The symbolic groups from here on are a row's points.
  [[nodiscard]] std::size_t first_point_group() const;
  [[nodiscard]] std::uint64_t row_length() const { return product(symbolic, first_point_group()); }
  /// The symbols of a program of this space.
  [[nodiscard]] Program::Symbols symbols() const;
  /// The place of a variant, or of a point within one, on each group of axes.
  [[nodiscard]] static std::vector<std::uint64_t> places(std::span<const AxisGroup> groups,
                                                         std::uint64_t index);

 private:
  [[nodiscard]] static std::uint64_t product(std::span<const AxisGroup> groups, std::size_t from);
};

/// One choice on all structural axes. Its function's roots are: 1 where the point can run, 1 where
/// it is wanted, then the outputs.
struct SweepVariant {
  std::uint64_t index = 0;
  std::vector<std::string> labels;  ///< The words chosen, axis by axis.
  std::optional<BatchFunction> function;
  std::string infeasible;  ///< Why no point of it can run; empty if the function is there.
};
inline constexpr std::size_t kFirstOutput = 2;

/// Consecutive points of one variant, evaluated.
struct SweepBlock {
  const SweepSpace* space = nullptr;
  std::shared_ptr<const SweepVariant> variant;
  std::uint64_t first = 0;  ///< Of the variant's points.
  std::size_t count = 0;
  std::vector<const double*> outputs;  ///< Each of `count` values.
  const std::uint8_t* kept = nullptr;  ///< Whether a point can run and is wanted; null: all are.
};

class Packer;
class Unpacker;

/// What became of the points.
struct SweepCounts {
  std::uint64_t evaluated = 0;                      ///< Points that can run.
  std::uint64_t unwanted = 0;                       ///< Of these, the ones that `--where` left out.
  std::map<std::string, std::uint64_t> infeasible;  ///< By reason.

  void add(const SweepCounts& other);
  [[nodiscard]] std::uint64_t total() const;
};

/// What is made of the points. `digest` runs in many threads at once, `take` in the order of the
/// points.
class SweepSink {
 public:
  struct Digest {
    virtual ~Digest() = default;
  };
  virtual ~SweepSink() = default;
  [[nodiscard]] virtual std::unique_ptr<Digest> digest(const SweepBlock& block) const = 0;
  virtual void take(Digest& digest) = 0;
  /// A digest as bytes and back, for a sink like this one in another process.
  virtual void pack(const Digest& digest, Packer& packer) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Digest> unpack(Unpacker& unpacker) const = 0;
};

struct SweepOptions {
  std::uint64_t begin = 0;  ///< Points [begin, end) of all.
  std::uint64_t end = ~std::uint64_t{0};
  unsigned threads = 0;                         ///< 0: as many as there are processors.
  const std::atomic<bool>* stop = nullptr;      ///< Set to end early.
  std::function<void(std::uint64_t)> progress;  ///< Points done so far, from one thread at a time.
};

/// Gives the variant at a place on the structural groups.
using VariantSource = std::function<SweepVariant(std::span<const std::uint64_t> places)>;

/// Points of a block at most: enough to hide what a block costs, few enough to stay in a cache and
/// to give every thread work. Depends on the sweep only, so that sums do not depend on the threads.
[[nodiscard]] std::size_t sweep_block_size(const SweepSpace& space);

/// Evaluates every point and hands it to `sink`.
[[nodiscard]] SweepCounts run_sweep(const SweepSpace& space, const VariantSource& source,
                                    SweepSink& sink, const SweepOptions& options);

}  // namespace mansard::model
