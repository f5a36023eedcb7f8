#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "traces/dataset/sqlite.hpp"

/// The dataset: one SQLite file that holds everything profilers saw of a workload. README.md
/// documents its tables and views.
namespace mansard::traces {

inline constexpr int kDatasetVersion = 2;

/// Tables without indexes, as loading wants them.
[[nodiscard]] std::string_view dataset_tables();
/// Indexes and the views that people query.
[[nodiscard]] std::string_view dataset_views();

/// Opens a dataset for reading. Errors: no dataset, or of another version.
[[nodiscard]] Result<std::unique_ptr<Database>> open_dataset(const std::string& path);
/// Whether a file is a dataset of any version.
[[nodiscard]] bool is_dataset(const std::string& path);

}  // namespace mansard::traces
