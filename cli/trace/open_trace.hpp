#pragma once

#include <memory>
#include <string>

#include "support/result.hpp"
#include "traces/dataset/sqlite.hpp"

namespace mansard::cli {

/// A dataset that is open for reading. One made of a profiler's file vanishes with it.
class OpenTrace {
 public:
  OpenTrace(std::string path, bool temporary, std::unique_ptr<traces::Database> database);
  OpenTrace(OpenTrace&&) = default;
  OpenTrace& operator=(OpenTrace&&) = default;
  ~OpenTrace();

  [[nodiscard]] traces::Database& operator*() const { return *database_; }
  [[nodiscard]] traces::Database* operator->() const { return database_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_;
  std::unique_ptr<traces::Database> database_;
};

/// Opens a dataset, or a profiler's file as `mansard trace import` reads it. Errors: neither; a
/// file that breaks off.
[[nodiscard]] Result<OpenTrace> open_trace(const std::string& path);

}  // namespace mansard::cli
