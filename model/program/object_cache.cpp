#include "model/program/object_cache.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "support/version.hpp"

namespace mansard::model {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFolder = std::uintmax_t{64} << 20U;

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

fs::path folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  if (const fs::path own = variable("MANSARD_CACHE"); !own.empty()) {
    return own;
  }
  if (const fs::path cache = variable("XDG_CACHE_HOME"); !cache.empty()) {
    return cache / "mansard";
  }
  const fs::path home = variable("HOME");
  return home.empty() ? home : home / ".cache" / "mansard";
}

/// Removes the files written longest ago until the rest is small enough.
void prune(const fs::path& folder) {
  struct File {
    fs::file_time_type time;
    fs::path path;
    std::uintmax_t size;
  };
  std::vector<File> files;
  std::uintmax_t total = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::uintmax_t size = entry.file_size(ignored);
    if (!ignored) {
      files.push_back({entry.last_write_time(ignored), entry.path(), size});
      total += size;
    }
  }
  std::ranges::sort(files, {}, &File::time);
  for (auto file = files.begin(); file != files.end() && total > kLargestFolder; ++file) {
    fs::remove(file->path, ignored);
    total -= file->size;
  }
}

}  // namespace

ObjectCache::ObjectCache(const std::string& host, const std::string& fingerprint)
    : text_(fmt::format("mansard {} {}\n{}", kVersion, host, fingerprint)) {
  const fs::path where = folder();
  path_ = where.empty() ? "" : (where / fmt::format("{:016x}.o", hash_of(text_))).string();
}

std::optional<std::string> ObjectCache::find() const {
  std::ifstream file(path_, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string head = fmt::format("{}\n", text_.size());
  if (!content.starts_with(head) || content.compare(head.size(), text_.size(), text_) != 0) {
    return std::nullopt;
  }
  return content.substr(head.size() + text_.size());
}

void ObjectCache::keep(const std::string& object) const {
  if (path_.empty()) {
    return;
  }
  const fs::path path(path_);
  const fs::path temporary = fmt::format("{}.{}", path_, getpid());
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream file(temporary, std::ios::binary);
  file << fmt::format("{}\n", text_.size()) << text_ << object;
  file.close();
  if (file) {
    fs::rename(temporary, path, ignored);
  }
  fs::remove(temporary, ignored);
  prune(path.parent_path());
}

}  // namespace mansard::model
