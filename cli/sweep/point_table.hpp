#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/views/sweep.hpp"
#include "model/sweep/sweep.hpp"
#include "support/result.hpp"

namespace mansard::cli {

/// The points of a sweep as the table `points` of an SQLite database, a typed column for each axis
/// and output; the table `counts` says what became of all points. Rows are committed many at a
/// time, so the file is valid whenever it ends.
class PointTable {
 public:
  /// Replaces any file of that name. Errors: it cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<PointTable>> create(
      const std::string& path, const std::vector<SweepColumn>& columns);
  ~PointTable();
  PointTable(const PointTable&) = delete;
  PointTable& operator=(const PointTable&) = delete;

  /// A row: the texts of words and axes' values, then the outputs.
  void add(const SweepReport::Row& row);
  /// Ends the last transaction. Errors: any that came before.
  [[nodiscard]] Result<void> finish(const model::SweepCounts& counts);

 private:
  struct State;
  explicit PointTable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Writes points into such a table as they come.
class TableSink : public model::SweepSink {
 public:
  /// `table` may be null in a process that does not write.
  explicit TableSink(PointTable* table) : table_(table) {}
  [[nodiscard]] std::unique_ptr<Digest> digest(const model::SweepBlock& block) const override;
  void take(Digest& digest) override;
  void pack(const Digest& digest, model::Packer& packer) const override;
  [[nodiscard]] std::unique_ptr<Digest> unpack(model::Unpacker& unpacker) const override;

 private:
  PointTable* table_;
};

}  // namespace mansard::cli
