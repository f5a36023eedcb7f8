#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/program/program.hpp"

namespace mansard::model {

/// Runs a program node by node. It computes what is fixed for compiled code, and everything where
/// there is none. Serves one thread; the program must outlive it.
class ProgramInterpreter {
 public:
  explicit ProgramInterpreter(const Program& program);

  /// Each takes the values of its level's symbols, in the program's order, and must be called after
  /// those of lower levels.
  void set_fixed(std::span<const double> values);
  void set_row(std::span<const double> values);
  /// Writes the value of each root.
  void evaluate(std::span<const double> values, std::span<double> out);

  /// What compiled code reads: the fixed slots, laid out.
  [[nodiscard]] std::vector<double> fixed_buffer() const;

 private:
  void run(Level level, std::span<const double> symbols);
  void compute(NodeId id);
  [[nodiscard]] double call(const ProgramNode& node) const;
  void run_loop(LoopId loop, Level level);
  void take_row(const ProgramLoop& loop, std::size_t row);
  void compute_members(LoopId loop, std::size_t row, Level level);
  void fill_arrays(Level level);
  [[nodiscard]] bool has_arrays(LoopId loop, Level level) const;

  const Program* program_;
  std::span<const double> symbols_;
  std::vector<double> values_;
  std::vector<double> least_payload_;         // Of each loop, while it runs.
  std::vector<std::vector<double>> arrays_;   // Of nodes in loops that cross levels.
  std::vector<std::vector<NodeId>> members_;  // Of each loop, not of those inside it.
  std::vector<NodeId> outside_;               // Nodes of no loop.
};

}  // namespace mansard::model
