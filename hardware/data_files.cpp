#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "hardware/catalog.hpp"
#include "support/embedded.hpp"

namespace mansard::hardware {
namespace {

namespace fs = std::filesystem;

/// The folder whose files stand before the embedded ones, or "".
std::string override_folder() {
  const char* folder = std::getenv("MANSARD_DATA");
  return folder == nullptr ? "" : folder;
}

void add_overrides(const std::string& root, std::string_view folder, std::set<std::string>& paths) {
  std::error_code error;
  for (fs::directory_iterator entry(fs::path(root) / folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".yaml") {
      paths.insert(std::string(folder) + entry->path().filename().string());
    }
  }
}

}  // namespace

std::shared_ptr<const SourceFile> data_file(std::string_view path) {
  const std::string root = override_folder();
  if (!root.empty()) {
    if (auto file = read_file((fs::path(root) / path).string())) {
      return *file;
    }
  }
  const auto text = find_embedded(path);
  return text ? std::make_shared<const SourceFile>(std::string(path), std::string(*text)) : nullptr;
}

std::vector<std::string> data_files(std::string_view folder) {
  std::set<std::string> paths;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.path.starts_with(folder)) {
      paths.emplace(file.path);
    }
  }
  const std::string root = override_folder();
  if (!root.empty()) {
    add_overrides(root, folder, paths);
  }
  return {paths.begin(), paths.end()};
}

}  // namespace mansard::hardware
