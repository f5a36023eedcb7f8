#include "cli/trace/open_trace.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "traces/dataset/schema.hpp"
#include "traces/import.hpp"

namespace mansard::cli {
namespace {

/// A name of our own in the folder for such files; two processes never share one.
std::string temporary_path() {
  static int made = 0;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return folder / ("mansard-" + std::to_string(::getpid()) + "-" + std::to_string(++made) + ".db");
}

Result<OpenTrace> open_imported(const std::string& path) {
  const std::string made = temporary_path();
  const std::array files{path};
  auto report = traces::import_files(files, made);
  if (!report) {
    return failure(std::move(report.error()));
  }
  auto database = traces::open_dataset(made);
  if (!database) {
    return failure(std::move(database.error()));
  }
  OpenTrace trace(made, true, std::move(*database));
  if (!report->errors.empty()) {
    report->errors.push_back(
        {.id = "trace-broken",
         .message = "what comes before the break can be had with mansard trace import",
         .severity = Severity::kNote});
    return failure(std::move(report->errors));
  }
  return trace;
}

}  // namespace

OpenTrace::OpenTrace(std::string path, bool temporary, std::unique_ptr<traces::Database> database)
    : path_(std::move(path)), temporary_(temporary), database_(std::move(database)) {}

OpenTrace::~OpenTrace() {
  if (temporary_ && database_) {
    database_.reset();
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
}

Result<OpenTrace> open_trace(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || traces::is_dataset(path)) {
    auto database = traces::open_dataset(path);
    if (!database) {
      return failure(std::move(database.error()));
    }
    return OpenTrace(path, false, std::move(*database));
  }
  return open_imported(path);
}

}  // namespace mansard::cli
