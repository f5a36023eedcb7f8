#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/kernel.hpp"
#include "ir/kernel_flow.hpp"
#include "model/kernel/pattern.hpp"
#include "model/kernel/value.hpp"

/// A warp of a kernel, run over a box of blocks at once (see value.hpp).
namespace mansard::model::kernel {

/// Iterations of a loop whose count is data, each time that a warp enters it, and the share of its
/// lanes that are active in them on average: a warp goes on as long as its last lane.
struct Trips {
  double count = 1;
  double active = 1;
};

struct Launch {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t dynamic_shared = 0;  ///< Bytes.
  std::vector<std::optional<std::int64_t>>
      arguments;                         ///< By parameter of the kernel; pointers may stay unbound.
  std::map<std::uint32_t, Trips> trips;  ///< Of loops whose count is data.

  [[nodiscard]] std::int64_t threads() const { return block[0] * block[1] * block[2]; }
  [[nodiscard]] std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
};

/// A step of an address along a loop.
struct Stride {
  std::int64_t bytes = 0;
  std::int64_t count = 1;
};

/// A block of code, or an instruction under a predicate, run `weight` times by a warp with `lanes`
/// lanes active.
struct RunEvent {
  std::uint32_t id = 0;
  bool guarded = false;  ///< `id` is an instruction; else a block.
  std::uint8_t lanes = 0;
  double weight = 1;
  double active = 1;  ///< Share of the lanes, on average.
};

struct AccessEvent {
  std::uint32_t access = 0;
  std::uint32_t pattern = 0;
  ir::MemorySpace space = ir::MemorySpace::kGlobal;
  std::int64_t address = 0;                ///< Of the first active lane.
  std::array<std::int64_t, kDims> coef{};  ///< Along blocks and loops not yet closed.
  std::vector<Stride> strides;             ///< Along loops that are closed.
  double weight = 1;
  double active = 1;  ///< Of what strides do not say: loops of unknown count, periods.
  double bulk_bytes = 0;
};

struct Log {
  std::vector<RunEvent> runs;
  std::vector<AccessEvent> accesses;
};

/// What a walk could not know, or found out.
struct Findings {
  std::set<std::uint32_t> unknown_loops;
  std::set<std::uint32_t> unbound;             ///< Parameters that a count needed.
  std::set<std::uint32_t> data_branches;       ///< Blocks whose branch depends on data.
  std::set<std::uint32_t> divergent_barriers;  ///< Instructions.
  std::map<std::uint32_t, double> divergent;   ///< Blocks whose branch divided a warp; how often.
  std::set<std::uint32_t> unknown_addresses;   ///< Accesses.
  bool endless = false;                        ///< A loop never ends.
  bool exhausted = false;                      ///< The budget of steps ran out.
};

class Walk {
 public:
  Walk(const ir::Kernel& kernel, const ir::KernelFlow& flow, const Launch& launch,
       PatternTable& patterns, Findings& findings);

  /// Runs warp `warp` of the block at `origin`; `domain` says how many blocks on share its path,
  /// and is shrunk to those that do.
  void run(std::array<std::int64_t, 3> origin, unsigned warp, Domain& domain, Log& log);
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  void allow(std::int64_t steps) { budget_ = steps; }

 private:
  using Parked = std::map<std::uint32_t, Mask>;
  struct Marks {
    std::size_t runs;
    std::size_t accesses;
  };

  using State = std::vector<Value>;

  void go(std::uint32_t block, Mask mask, std::uint32_t loop, std::uint32_t stop, Parked& parked);
  void go_loop(std::uint32_t loop, Mask mask, Parked& after);
  bool iterate(std::uint32_t loop, Mask& live, Parked& after);
  std::int64_t try_leaps(std::uint32_t loop, Mask live, const std::vector<State>& history,
                         bool eager);
  std::int64_t leap(std::uint32_t loop, Mask live, const std::vector<std::int64_t>& delta,
                    unsigned period);
  bool repeats(std::uint32_t loop, Mask live, unsigned period);
  bool induction_holds(std::uint32_t loop, Mask live, const State& start,
                       const std::vector<std::int64_t>& delta, unsigned dim) const;
  void land(std::uint32_t loop, Mask live, const State& saved, const State& start,
            const std::vector<std::int64_t>& delta, std::int64_t count, unsigned dim);
  std::optional<std::vector<std::int64_t>> difference(const State& from, const State& to,
                                                      Mask live) const;
  [[nodiscard]] Marks marks() const { return {log_->runs.size(), log_->accesses.size()}; }
  void truncate(const Marks& marks);
  void close(const Marks& marks, unsigned dim, std::int64_t count);
  void scale(const Marks& marks, double factor, double active = 1);
  [[nodiscard]] State save(const std::vector<std::uint32_t>& registers) const;
  void restore(const std::vector<std::uint32_t>& registers, const State& values);
  void merge(Value& into, const Value& value, Mask mask);

  void execute(std::uint32_t block, Mask mask);
  void step(std::uint32_t instruction, Mask mask);
  void touch(const ir::KernelInstruction& each, Mask mask);
  void touch_lanes(const ir::KernelAccess& access, std::uint32_t id, const Value& address,
                   Mask mask, std::uint32_t bytes);
  void touch_fragment(const ir::KernelAccess& access, std::uint32_t id, const Value& address,
                      Mask mask);
  void log_access(const LanePattern& pattern, std::uint32_t id, ir::MemorySpace space,
                  const Value& address);
  void log_unknown(const ir::KernelAccess& access, std::uint32_t id, Mask mask,
                   std::uint32_t bytes);
  void branch(std::uint32_t& block, Mask& mask, std::uint32_t loop, Parked& parked);
  void both_ways(std::uint32_t& block, Mask& mask, std::uint32_t loop, Parked& parked,
                 const std::vector<std::uint32_t>& ways);
  bool data_exit(std::uint32_t& block, const std::vector<std::uint32_t>& ways);

  [[nodiscard]] Value read(const ir::KernelOperand& operand) const;
  [[nodiscard]] Value special(ir::SpecialValue value) const;
  [[nodiscard]] Value parameter(std::uint32_t id) const;
  void write(std::uint32_t reg, Value value, Mask mask);
  Value evaluate(const ir::KernelInstruction& each, Mask mask);
  Value compare(const ir::KernelInstruction& each);
  Value shuffle(const ir::KernelInstruction& each, const Value& a, const Value& b);
  Value loaded(const ir::KernelInstruction& each, std::uint32_t instruction, Mask mask);
  void blame(Causes causes, std::uint32_t block);
  [[nodiscard]] Value& reg(std::uint32_t id) { return registers_[slots_[id]]; }
  [[nodiscard]] const Value& reg(std::uint32_t id) const { return registers_[slots_[id]]; }

  const ir::Kernel& kernel_;
  const ir::KernelFlow& flow_;
  const Launch& launch_;
  PatternTable& patterns_;
  Findings& findings_;
  std::vector<std::uint32_t> slots_;  ///< Of tracked registers.
  std::vector<Value> registers_;
  std::array<Value, 3> tid_;
  std::array<std::int64_t, 3> origin_{};
  unsigned warp_ = 0;
  Mask warp_mask_ = 0;  ///< Lanes that exist.
  Mask concern_ = 0;  ///< Lanes whose values must be right: during a leap, those still in the loop.
  Mask exited_ = 0;
  Domain domain_;
  Alu alu_{domain_};
  Log* log_ = nullptr;
  std::array<bool, kDims> dim_used_{};
  std::array<std::uint32_t, kOpaqueDims> opaque_of_{};
  std::map<std::uint32_t, std::uint32_t>
      data_exit_;  ///< Loops that ended by data in this iteration, and where to.
  std::int64_t steps_ = 0;
  std::int64_t budget_ = 0;
};

}  // namespace mansard::model::kernel
