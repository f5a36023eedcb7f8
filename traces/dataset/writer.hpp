#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/trace.hpp"
#include "traces/dataset/sqlite.hpp"
#include "traces/read_report.hpp"

namespace mansard::traces {

/// Writes what readers hand on into a new dataset, one run after another.
///
///     auto writer = DatasetWriter::create("trace.db");
///     (*writer)->begin_run();
///     (*writer)->end_run(read_kineto(std::move(source), **writer));
///     auto written = (*writer)->finish();
class DatasetWriter : public ir::TraceSink {
 public:
  /// The dataset appears under its name only when `finish` succeeds. Errors: cannot be written; a
  /// file of that name is something else than a dataset.
  [[nodiscard]] static Result<std::unique_ptr<DatasetWriter>> create(const std::string& path);
  ~DatasetWriter() override;

  std::int64_t begin_run();
  void end_run(const ReadReport& report);
  /// Matches runs with each other, when all are written.
  void combine();
  /// Indexes and views. Errors of any write so far.
  [[nodiscard]] Result<void> finish();

  void device(const ir::TraceDevice& device) override;
  std::int64_t event(const ir::TraceEvent& event) override;
  void counter(std::int64_t kernel, const ir::TraceCounter& counter) override;
  void count(std::string_view what, std::int64_t events, bool kept) override;

  [[nodiscard]] Database& database() { return *database_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Ids = std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>>;
  struct Name {
    std::int64_t id = 0;
    bool shortened = false;  ///< Its short form is known: it is a kernel's.
  };
  using Names = std::unordered_map<std::string, Name, Hash, std::equal_to<>>;
  struct Statements;

  DatasetWriter(std::string path, std::unique_ptr<Database> database);
  std::int64_t name_id(std::string_view text, std::string_view short_name = {},
                       bool is_kernel = false);
  std::int64_t short_id(std::int64_t id, std::string_view text, std::string_view short_name);
  /// As a value to bind: null for "".
  std::optional<std::int64_t> optional_name(std::string_view text);
  std::int64_t metric_id(const ir::TraceCounter& counter);
  void kernel(const ir::TraceEvent& event);
  void transfer(const ir::TraceEvent& event, std::string_view kind);
  void host(const ir::TraceEvent& event);

  std::string path_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Statements> statements_;
  Names names_;
  std::size_t names_bytes_ = 0;
  std::int64_t next_name_ = 1;
  Ids metrics_;
  std::int64_t run_ = 0;
};

}  // namespace mansard::traces
