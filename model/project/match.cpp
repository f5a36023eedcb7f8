#include "model/project/match.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>

namespace mansard::model {
namespace {

/// A hostile count of layers is not unrolled further.
constexpr std::size_t kMostExecutions = 1'000'000;
/// States of one alignment; longer traces are aligned piece by piece.
constexpr std::size_t kMostStates = 40'000'000;
constexpr std::size_t kLeastPiece = 64;

/// What an alignment costs: a contraction is seldom left out or fused away, the rest often.
constexpr int kSkipOp = 2;
constexpr int kSkipHeavyOp = 10;
constexpr int kLeaveKernel = 3;
constexpr int kLeaveHeavyKernel = 10;
constexpr int kSecondKernel = 1;       ///< Of one op, of a kind that often has two.
constexpr int kSecondHeavyKernel = 6;  ///< Of one contraction.
constexpr int kLessLikely = 1;         ///< For each kind that the name fits better.
constexpr int kLateStart = 1;          ///< The trace begins within a step.

/// Every execution of every op in order: a block's ops repeat together.
std::vector<std::size_t> executions(const ir::Graph& graph) {
  std::vector<std::size_t> result;
  const auto& ops = graph.ops();
  for (std::size_t begin = 0; begin < ops.size();) {
    std::size_t end = begin;
    while (end < ops.size() && ops[end].block == ops[begin].block) {
      ++end;
    }
    const std::int64_t count = graph.block(ops[begin].block).count;
    for (std::int64_t i = 0; i < count && result.size() < kMostExecutions; ++i) {
      for (std::size_t op = begin; op < end; ++op) {
        result.push_back(op);
      }
    }
    begin = end;
  }
  return result;
}

bool is_heavy(std::string_view kind) {
  constexpr std::array<std::string_view, 5> kHeavy{"matmul", "attention", "mla_attention",
                                                   "convolution", "grouped_matmul"};
  return std::find(kHeavy.begin(), kHeavy.end(), kind) != kHeavy.end();
}

/// Kinds as bits, so that thousands of kernels against hundreds of ops compare quickly.
class Kinds {
 public:
  std::uint64_t bit(std::string_view kind) {
    const auto [found, fresh] = bits_.try_emplace(std::string(kind), bits_.size() % 64);
    return std::uint64_t{1} << found->second;
  }

 private:
  std::map<std::string, std::size_t, std::less<>> bits_;
};

struct Place {
  std::uint64_t kind = 0;
  int skip = 0;
  bool heavy = false;
};

struct Kernel {
  std::vector<std::uint64_t> kinds;  ///< The likeliest first.
  bool continues = false;
  int leave = 0;

  /// What taking it for an op of that kind costs; nullopt: it is none.
  [[nodiscard]] std::optional<int> fits(std::uint64_t kind) const {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] == kind) {
        return static_cast<int>(i) * kLessLikely;
      }
    }
    return std::nullopt;
  }
};

/// Aligns a piece of the kernels with the ops, which follow each other in a circle: the cheapest
/// way to go through both, by dynamic programming. A state is the last op that was taken.
class Alignment {
 public:
  Alignment(const std::vector<Place>& places, const std::vector<Kernel>& kernels)
      : places_(places), kernels_(kernels), cost_(places.size()) {}

  /// Of kernels [first, last), after the op at `from` (nullopt: anywhere, best before the first).
  /// Writes to `matches` the place of each kernel, and whether it is the first there. Returns the
  /// place where the piece ends.
  std::size_t run(std::size_t first, std::size_t last, std::optional<std::size_t> from,
                  std::vector<std::optional<KernelOp>>& matches) {
    const std::size_t n = places_.size();
    start(from);
    steps_.assign((last - first) * n, {});
    for (std::size_t i = first; i < last; ++i) {
      take(kernels_[i], &steps_[(i - first) * n]);
    }
    const auto best = std::min_element(cost_.begin(), cost_.end());
    const auto end = static_cast<std::size_t>(best - cost_.begin());
    trace_back(first, last, end, matches);
    return end;
  }

 private:
  static constexpr int kNever = std::numeric_limits<int>::max() / 2;
  /// How a state was reached.
  struct Step {
    std::uint16_t skipped = 0;  ///< Ops left out before the kernel.
    enum class What : std::uint8_t { kLeft, kFirst, kNext } what = What::kLeft;
  };

  void start(std::optional<std::size_t> from) {
    const std::size_t n = places_.size();
    std::fill(cost_.begin(), cost_.end(), from ? kNever : kLateStart);
    cost_[from.value_or(n - 1)] = 0;
  }

  /// Cost of every state after skipping ops, and how many were skipped.
  void skip() {
    const std::size_t n = places_.size();
    reached_.assign(n, {});
    after_skips_ = cost_;
    constexpr std::uint16_t kMost = std::numeric_limits<std::uint16_t>::max() - 1;
    for (std::size_t round = 0; round < 2 * n; ++round) {
      const std::size_t p = round % n;
      const std::size_t before = p == 0 ? n - 1 : p - 1;
      const int cost = after_skips_[before] + places_[p].skip;
      if (cost < after_skips_[p] && reached_[before] < kMost) {
        after_skips_[p] = cost;
        reached_[p] = static_cast<std::uint16_t>(reached_[before] + 1);
      }
    }
  }

  void take(const Kernel& kernel, Step* steps) {
    const std::size_t n = places_.size();
    skip();
    for (std::size_t p = 0; p < n; ++p) {
      int best = cost_[p] + kernel.leave;
      Step step{0, Step::What::kLeft};
      if (const auto fit = kernel.fits(places_[p].kind)) {
        const int next =
            kernel.continues ? 0 : (places_[p].heavy ? kSecondHeavyKernel : kSecondKernel);
        if (cost_[p] + *fit + next < best) {
          best = cost_[p] + *fit + next;
          step = {0, Step::What::kNext};
        }
        const std::size_t before = p == 0 ? n - 1 : p - 1;
        if (!kernel.continues && after_skips_[before] + *fit < best) {
          best = after_skips_[before] + *fit;
          step = {reached_[before], Step::What::kFirst};
        }
      }
      taken_.resize(n);
      taken_[p] = best;
      steps[p] = step;
    }
    std::swap(cost_, taken_);
  }

  void trace_back(std::size_t first, std::size_t last, std::size_t place,
                  std::vector<std::optional<KernelOp>>& matches) const {
    const std::size_t n = places_.size();
    for (std::size_t i = last; i-- > first;) {
      const Step step = steps_[(i - first) * n + place];
      if (step.what != Step::What::kLeft) {
        matches[i] = KernelOp{place, step.what == Step::What::kFirst};
      }
      if (step.what == Step::What::kFirst) {
        place = (place + 2 * n - 1 - step.skipped % n) % n;
      }
    }
  }

  const std::vector<Place>& places_;
  const std::vector<Kernel>& kernels_;
  std::vector<int> cost_;
  std::vector<int> after_skips_;
  std::vector<int> taken_;
  std::vector<std::uint16_t> reached_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<std::optional<KernelOp>> match_kernels(const ir::Graph& graph,
                                                   const std::vector<ir::KernelClass>& kernels) {
  const std::vector<std::size_t> order = executions(graph);
  std::vector<std::optional<KernelOp>> result(kernels.size());
  if (order.empty()) {
    return result;
  }
  Kinds kinds;
  std::vector<Place> places;
  for (const std::size_t op : order) {
    const std::string_view kind = graph.ops()[op].def->name;
    const bool heavy = is_heavy(kind);
    places.push_back({kinds.bit(kind), heavy ? kSkipHeavyOp : kSkipOp, heavy});
  }
  std::vector<Kernel> kernel_bits;
  for (const ir::KernelClass& kernel : kernels) {
    Kernel bits{.continues = kernel.continues};
    for (const std::string& kind : kernel.kinds) {
      bits.kinds.push_back(kinds.bit(kind));
    }
    const bool heavy = is_heavy(kernel.kind()) && !kernel.continues;
    bits.leave = kernel.kinds.empty() ? 0 : (heavy ? kLeaveHeavyKernel : kLeaveKernel);
    kernel_bits.push_back(std::move(bits));
  }
  Alignment alignment(places, kernel_bits);
  const std::size_t piece = std::max(kLeastPiece, kMostStates / places.size());
  std::optional<std::size_t> at;
  for (std::size_t first = 0; first < kernels.size(); first += piece) {
    at = alignment.run(first, std::min(first + piece, kernels.size()), at, result);
  }
  for (auto& match : result) {
    if (match) {
      match->op = order[match->op];
    }
  }
  return result;
}

}  // namespace mansard::model
