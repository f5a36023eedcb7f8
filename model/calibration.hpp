#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "ir/expr.hpp"
#include "ir/expr_eval.hpp"
#include "model/fitted_tier.hpp"
#include "support/document.hpp"
#include "support/result.hpp"

/// Utilisation parameters of the estimate: never datasheet facts, always of one machine and one
/// implementation.
namespace mansard::model {

/// A parameter: "matmul.bf16.start", 2.1 us.
struct Parameter {
  double value = 0;  ///< SI base units.
  Dimension dimension;
  std::string path;  ///< Where it was found: "matmul.start" also where "matmul.bf16.start" was
                     ///< asked for, so that ops which share a parameter share one symbol.
};

/// The parameters of a machine (hardware/calibrations/NAME.yaml), over the structural defaults that
/// every machine shares (hardware/calibrations/default.yaml).
///
///     machine: h200-sxm
///     usual: {matmul: cublaslt, attention: cudnn}
///     parameters: {launch.node: 0.94 us}
///     implementations:
///       cublaslt: {matmul.start: 2.0 us, matmul.fp8.efficiency: 0.71}
class Calibration {
 public:
  std::string name;  ///< "h200-sxm"; empty if only the defaults apply.
  std::vector<std::string> notes;

  /// The embedded calibration of a machine, or of the machine it extends when that is all there is
  /// (which `notes` then says), or only the defaults.
  [[nodiscard]] static Result<Calibration> of(const hardware::Machine& machine);
  /// Only the structural defaults.
  [[nodiscard]] static Result<Calibration> defaults();
  /// A user's file, over the defaults.
  [[nodiscard]] static Result<Calibration> read(const Node& document);

  /// A parameter of the implementation, else of the one that usually does that section's ops, else
  /// of the machine, else the default of the machine's family (`families` of default.yaml:
  /// "sm_80"), else the default. A variant is a path from general to special ("bf16.a4"):
  /// `section.bf16.a4.name` comes before `section.bf16.name` before `section.name`.
  [[nodiscard]] std::optional<Parameter> find(std::string_view implementation,
                                              std::string_view section, std::string_view variant,
                                              std::string_view parameter) const;
  /// What a machine without a calibration has at exactly this path: of its family, else the
  /// default.
  [[nodiscard]] std::optional<Parameter> structural(std::string_view path) const;
  [[nodiscard]] bool calibrated() const { return !name.empty(); }
  /// Reads which rows an embedded calibration was fitted on (hardware/calibrations/rows/NAME.yaml):
  /// apart from the parameters, since only a validation asks.
  [[nodiscard]] Result<void> add_recorded_rows();
  /// Whether the fit saw the measurement of that hash (validate::row_hash).
  [[nodiscard]] bool saw(std::uint64_t row) const { return fitted_rows_.contains(row); }
  [[nodiscard]] std::vector<std::string> implementations() const;
  /// Makes void what was fitted to tiers whose speed a change of the machine touched: structural
  /// defaults stand in, intervals are at least as wide as theirs, and `notes` says so.
  void void_changed_tiers(const hardware::Machine& machine);
  /// Chooses the family of a machine: the newest that is not newer than it, by compute capability.
  void set_family(const hardware::Machine& machine);

 private:
  using Parameters = std::map<std::string, Parameter, std::less<>>;
  Diagnostics add(const Node& document);
  void void_tier(const hardware::Machine& machine, const hardware::Tier& tier);
  /// Makes void what was fitted to tiers of `origin` that the machine has otherwise.
  Result<void> void_other_tiers(const hardware::Machine& machine, const std::string& origin);
  Diagnostics add_fitted_rows(const Node& fit);
  [[nodiscard]] std::optional<Parameter> find_fitted(std::string_view implementation,
                                                     std::string_view section,
                                                     std::span<const std::string> paths) const;
  [[nodiscard]] std::optional<Parameter> find_structural(std::span<const std::string> paths) const;
  std::map<std::string, Parameters, std::less<>> by_implementation_;  ///< "": of the machine.
  std::map<std::string, std::string, std::less<>> usual_;  ///< Section to implementation.
  Parameters defaults_;
  std::set<std::uint64_t> fitted_rows_;
  std::map<std::string, Parameters, std::less<>> families_;
  std::string family_;
  std::set<FittedTier> void_;  ///< Tiers that are not those the fit saw.
};

/// Hands parameters to estimators as symbols of a pool, named by where they were found
/// ("cal.matmul.start" for every type of operand that has no `start` of its own), and remembers
/// their values.
class Parameters {
 public:
  Parameters(const Calibration& calibration, std::string implementation, ir::ExprPool& pool)
      : calibration_(calibration), implementation_(std::move(implementation)), pool_(pool) {}

  [[nodiscard]] ir::Expr get(std::string_view section, std::string_view variant,
                             std::string_view parameter, const Dimension& dimension);
  /// Whether any calibration or default gives it.
  [[nodiscard]] bool has(std::string_view section, std::string_view variant,
                         std::string_view parameter) const {
    return calibration_.find(implementation_, section, variant, parameter).has_value();
  }
  [[nodiscard]] bool calibrated() const { return calibration_.calibrated(); }
  [[nodiscard]] const ir::Bindings& bindings() const { return bindings_; }
  [[nodiscard]] const Diagnostics& missing() const { return missing_; }

 private:
  const Calibration& calibration_;
  std::string implementation_;
  ir::ExprPool& pool_;
  ir::Bindings bindings_;
  Diagnostics missing_;
};

}  // namespace mansard::model
