#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr.hpp"
#include "ir/expr_eval.hpp"
#include "support/dimension.hpp"
#include "support/result.hpp"

/// Machines: what a chip offers, as fields that each have a unit, a source and a kind.
///
///     auto machine = load_machine("h200-sxm");                       // hardware/catalog.hpp
///     double bandwidth = *machine->value("hbm.bandwidth");           // 4.8e12, byte per second
///     // sm_count * 4096 [FLOP/clk] * clock.tensor:
///     ir::Expr rate = *machine->expr("matrix.bf16", graph.pool());
namespace mansard::hardware {

/// Where a figure comes from: printed, measured by somebody, computed here, or taken on trust.
enum class FigureKind { kDatasheet, kMeasured, kDerived, kAssumed };

/// What the files call it: "datasheet", "measured", "derived", "assumed".
[[nodiscard]] std::string_view name_of(FigureKind kind);

/// One figure of a machine. `path` is how the command line names it: "hbm.bandwidth", "matrix.fp8",
/// "sm_count".
struct Field {
  std::string path;
  Dimension dimension;
  std::optional<double> value;  ///< SI base units; nullopt: unknown (null) or given by the formula.
  ir::Expr formula;  ///< Of a derived figure, over other paths; in the machine's own pool.
  FigureKind kind = FigureKind::kAssumed;
  std::string source;      ///< Id of a source of the file: "datasheet".
  std::string definition;  ///< How the file gives a formula: "fma: 2048, clock: tensor", "29 clk".
  std::string note;
  Location location;
  bool changed = false;  ///< By an overlay or `--set`.
};

enum class TierScope { kSm, kDevice, kNode, kCluster };

/// A level of the memory hierarchy, inner to outer. Its figures are the fields `<name>.capacity`
/// (of one instance: of one SM's shared memory if the scope is an SM), `<name>.bandwidth` (of the
/// whole device; links: each direction), `<name>.latency` (second) and others (hardware/README.md).
struct Tier {
  std::string name;  ///< "register", "shared", "l2", "hbm", "gddr6", "host", "nvlink", "network".
  TierScope scope = TierScope::kDevice;
  std::string technology;  ///< "hbm3e", "" if it is not a packaged memory.
  std::string topology;    ///< Of a link: "switch", "mesh", "torus", "pair"; "" if not stated.
  bool main = false;       ///< The device memory: also reachable as `main.`.
  bool link = false;  ///< Joins devices (nvlink, network); `<name>.devices` says how many it joins.
  bool reduces = false;  ///< The switch of a link can reduce, so an all-reduce may send data once.
};

/// Where a figure of a machine was published.
struct Source {
  std::string id;
  std::string title;
  FigureKind kind = FigureKind::kDatasheet;
  std::string date;
};

class Machine {
 public:
  std::string name;
  std::string title;  ///< "NVIDIA H200 SXM 141GB".
  std::string vendor;
  std::string architecture;
  std::string compute_capability;      ///< "9.0"; "" for other vendors' chips.
  std::string released;                ///< Year-month, or "announced".
  std::vector<std::string> ancestors;  ///< What it `extends`, nearest first.
  std::vector<Tier> tiers;
  std::vector<Source> sources;
  std::vector<std::string> notes;    ///< Contradictions and doubts that the file states.
  std::vector<std::string> changes;  ///< What overlays and `--set` did, each a sentence.

  Machine();

  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
  /// The field at `path`; `main.` stands for the device memory's name. nullptr if the machine has
  /// no such field.
  [[nodiscard]] const Field* find(std::string_view path) const;
  [[nodiscard]] Field* find(std::string_view path);
  void add(Field field);                 ///< Replaces one of the same path.
  void remove(std::string_view prefix);  ///< The field of that path and all below it.
  /// `path` with `main.` replaced by the device memory's name.
  [[nodiscard]] std::string resolve(std::string_view path) const;

  /// The value, formulas evaluated. Errors: no such field (with did-you-mean), unknown (null),
  /// naming the field and machine.
  [[nodiscard]] Result<double> value(std::string_view path) const;
  /// The value if it is known.
  [[nodiscard]] std::optional<double> known(std::string_view path) const;

  /// The field as an expression of `pool`: a symbol named by its path, or its formula over such
  /// symbols, all the way down. Errors as `value`.
  [[nodiscard]] Result<ir::Expr> expr(std::string_view path, ir::ExprPool& pool) const;

  /// A derived rate at the greatest clock of the file (`clock.max`) instead of the clock it is
  /// quoted at: what a bound may use. The same as `expr` for a rate that is given, or that was
  /// replaced by `--set`.
  [[nodiscard]] Result<ir::Expr> peak(std::string_view path, ir::ExprPool& pool) const;

  /// Values of all symbols that `expr` and `peak` can give.
  [[nodiscard]] ir::Bindings bindings() const;

  [[nodiscard]] const Tier* tier(std::string_view name) const;
  [[nodiscard]] const Tier& main() const;  ///< Every machine has one (checked by the loader).
  /// The outermost memory on the device inside the device memory (L2, a memory-side cache, a TPU's
  /// vmem); nullptr if the machine has none.
  [[nodiscard]] const Tier* last_level() const;
  /// Dtypes with a rate on an engine ("matrix" or "vector"), in the order of the file.
  [[nodiscard]] std::vector<std::string> rates(std::string_view engine) const;
  /// True if an overlay or `--set` changed any field of that tier or engine ("hbm", "matrix").
  [[nodiscard]] bool changed(std::string_view prefix) const;

  [[nodiscard]] ir::ExprPool& pool() const { return *pool_; }

 private:
  std::shared_ptr<ir::ExprPool> pool_;
  std::vector<Field> fields_;
  std::map<std::string, std::size_t, std::less<>> by_path_;
};

}  // namespace mansard::hardware
