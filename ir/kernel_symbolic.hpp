#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/expr.hpp"
#include "ir/kernel.hpp"
#include "ir/kernel_definitions.hpp"
#include "ir/kernel_flow.hpp"

/// Values of registers, and trip counts of loops, as formulas in what a launch gives.
namespace mansard::ir {

/// `rest` + the sum of coefficients times variables. A variable is the iteration of a loop, counted
/// from 0, or a register of a header that is being solved for.
struct Linear {
  Expr rest;
  std::map<std::uint32_t, Expr> terms;

  friend bool operator==(const Linear&, const Linear&) = default;
};

/// Symbols are tid.x, ctaid.x, ntid.x, nctaid.x and so on, parameters by name, iteration_L1 for the
/// iterations of a loop and trip_L1 for trip counts that depend on data. Integers are taken not to
/// overflow; what is assumed beyond that is in `assumptions`.
class Symbolic {
 public:
  Symbolic(const Kernel& kernel, const KernelFlow& flow);

  [[nodiscard]] const std::shared_ptr<ExprPool>& pool() const { return pool_; }
  [[nodiscard]] const std::set<std::string>& assumptions() const { return assumptions_; }
  /// How often the header of `loop` runs each time that is entered; absent if that depends on data.
  [[nodiscard]] Expr trips(std::uint32_t loop);

 private:
  using Maybe = std::optional<Linear>;
  /// start << (shift * iteration + extra) if `up`, else >>.
  struct Geometric {
    std::uint32_t loop = 0;
    Expr start;
    std::uint32_t shift = 1;
    std::uint32_t extra = 0;
    bool up = false;
  };
  /// A value, and the probes (by bit of their depth) that it was found under.
  struct Known {
    Maybe value;
    std::uint64_t probes = 0;
  };
  /// What a register holds when control arrives at a join; `dead` if it does not on these ways.
  struct Arrival {
    bool dead = false;
    Maybe value;
  };
  /// The ways to the start of a block, for one register.
  struct Join {
    std::uint32_t block = 0;
    std::uint32_t reg = 0;
    std::uint32_t within = kNothing;  ///< Only ways inside this loop.
    std::map<std::uint32_t, Arrival> arrivals;
  };

  // kernel_symbolic.cpp: registers, loops that step them, joins
  Maybe reg(std::uint32_t id, std::uint32_t at);
  Maybe seen_from(const Definition& given, std::uint32_t block);
  Maybe left(const Linear& value, std::uint32_t loop);
  Maybe evaluate(const Definition& definition);
  Maybe compute(const Definition& definition);
  Maybe recurrence(const Definition& phi, std::uint32_t loop);
  Maybe stepped(std::uint32_t loop, const Linear& start, const Linear& next, std::uint32_t probe);
  Maybe geometric(const Geometric& moving);
  Maybe entered_with(std::uint32_t loop, std::uint32_t id);
  Maybe after_iteration(std::uint32_t loop, std::uint32_t id);
  Maybe merged(std::uint32_t block, std::uint32_t id);
  Arrival arrive(Join& join, std::uint32_t from, std::uint32_t to);
  Arrival ways_from(Join& join, std::uint32_t block);
  Arrival branch(Join& join, std::uint32_t block);
  Arrival past_loop(Join& join, std::uint32_t loop);
  [[nodiscard]] std::uint32_t headed_by(std::uint32_t block) const;

  // kernel_symbolic_arithmetic.cpp
  Maybe operand(const KernelOperand& operand, std::uint32_t at);
  Maybe special(SpecialValue value);
  Maybe instruction(const Definition& definition);
  Maybe arithmetic(const KernelInstruction& each, std::uint32_t index);
  Maybe logic(const KernelInstruction& each, std::uint32_t index);
  Maybe compared(const KernelInstruction& each, std::uint32_t index);
  Maybe shifted_right(const Maybe& a, std::int64_t by, unsigned bits);
  Maybe shifted_left(const Maybe& a, std::int64_t by);
  Maybe masked(const Maybe& a, std::int64_t mask, unsigned bits);
  Expr holds(Comparison comparison, Expr a, Expr b);
  unsigned zero_bits(const KernelOperand& operand, std::uint32_t at, int depth);
  unsigned width(const KernelOperand& operand, std::uint32_t at, int depth);
  Maybe choose(const Maybe& condition, const Maybe& x, const Maybe& y);
  Maybe sum(const Maybe& a, const Maybe& b, double sign);
  Maybe product(const Maybe& a, const Maybe& b);
  template <typename Operation>
  Maybe plain(const Maybe& a, const Maybe& b, Operation operation);
  Maybe constant(double value) { return Linear{.rest = pool_->constant(value), .terms = {}}; }
  Expr folded(const Linear& value);
  Expr variable(std::uint32_t key);
  bool depends(Expr expression, std::uint32_t key);
  bool depends(const Linear& value, std::uint32_t key);

  // kernel_trips.cpp
  Expr count_trips(std::uint32_t loop);
  Expr condition_passes(std::uint32_t loop, const Definition& condition, bool goes_on_if,
                        int depth);
  Expr both(std::uint32_t loop, std::uint32_t at, const KernelOperand& a, const KernelOperand& b,
            bool goes_on_if, bool all, int depth);
  Expr compare_passes(std::uint32_t loop, std::uint32_t index, bool goes_on_if);
  Expr linear_passes(std::uint32_t loop, Expr first, Expr change, Comparison comparison);
  Expr geometric_passes(std::uint32_t loop, const Linear& a, const Linear& b,
                        Comparison comparison);
  void assume(const std::string& what) { assumptions_.insert(what); }

  const Kernel& kernel_;
  const KernelFlow& flow_;
  std::shared_ptr<ExprPool> pool_;
  Definitions definitions_;
  std::set<std::string> assumptions_;
  std::map<Definition, Known> known_;
  std::vector<Definition> probes_;                    ///< Phis of headers that are being solved.
  std::vector<std::vector<Definition>> found_under_;  ///< By probe: what to forget after it.
  std::uint64_t touched_ = 0;  ///< Probes that the value being found depends on.
  std::set<Definition> active_;
  std::map<std::uint32_t, Expr> trips_;
  std::set<std::uint32_t> counting_;
  std::unordered_map<const ExprNode*, Geometric> geometrics_;
  std::map<std::pair<const ExprNode*, std::uint32_t>, bool> depends_;
  std::int64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace mansard::ir
