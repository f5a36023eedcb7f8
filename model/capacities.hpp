#pragma once

#include <optional>
#include <string>

#include "hardware/machine.hpp"
#include "ir/graph.hpp"
#include "ir/typed.hpp"
#include "support/result.hpp"

/// What a machine offers an op, as expressions: rates by engine and dtype, bandwidths by tier.
namespace mansard::model {

/// A rate of work with the field it comes from.
struct Rate {
  std::string field;                 ///< "matrix.bf16".
  ir::Typed<FlopsPerSecond> quoted;  ///< At the clock it is quoted at.
  ir::Typed<FlopsPerSecond> peak;    ///< At the greatest clock of the file.
};

class Capacities {
 public:
  Capacities(const hardware::Machine& machine, ir::ExprPool& pool)
      : machine_(machine), pool_(pool) {}

  [[nodiscard]] const hardware::Machine& machine() const { return machine_; }
  [[nodiscard]] ir::ExprPool& pool() const { return pool_; }

  /// The rate at which `engine` contracts operands of these types. A type that the machine cannot
  /// compute in, or that is storage only, is dequantised to the other operand's or to `fallback`;
  /// `substituted` then says so. Errors: no engine of the machine computes any of them.
  [[nodiscard]] Result<Rate> contraction(ir::Engine engine, const ir::Dtype& a, const ir::Dtype& b,
                                         const ir::Dtype* fallback, std::string* substituted) const;
  /// The fastest rate for elementwise arithmetic on `dtype`.
  [[nodiscard]] Result<Rate> elementwise(const ir::Dtype& dtype) const;

  [[nodiscard]] Result<ir::Typed<BytesPerSecond>> main_bandwidth() const;
  /// The cache of the whole device that is nearest to its processors (L2, a TPU's vmem), which all
  /// operands pass; nullptr if the machine file has none.
  [[nodiscard]] const hardware::Tier* cache() const;
  /// A figure of `cache()` where it is known: "bandwidth", "measured_bandwidth".
  [[nodiscard]] ir::Expr cache_figure(std::string_view name) const;
  /// Bandwidth of `cache()` where the machine file states an upper limit.
  [[nodiscard]] std::optional<ir::Typed<BytesPerSecond>> cache_bandwidth() const;
  /// Capacity of the last-level cache (of an MI300X the one beside the memory), if it is known.
  [[nodiscard]] ir::Expr known_cache_capacity() const;
  /// Capacity of the last-level cache; 0 where there is none.
  [[nodiscard]] ir::Expr cache_capacity() const;
  [[nodiscard]] Result<ir::Typed<BytesPerSecond>> link_bandwidth(const std::string& tier) const;
  /// The field if the machine has it and knows it.
  [[nodiscard]] ir::Expr known(std::string_view path) const;

 private:
  [[nodiscard]] Result<Rate> rate(const std::string& field) const;

  const hardware::Machine& machine_;
  ir::ExprPool& pool_;
};

}  // namespace mansard::model
