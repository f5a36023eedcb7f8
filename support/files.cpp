#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "support/document.hpp"

namespace mansard {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, FileCloser>;

tl::unexpected<Diagnostics> cannot_read(const std::string& path, std::error_code reason) {
  return failure("file-read", fmt::format("cannot read '{}': {}", path, reason.message()));
}

tl::unexpected<Diagnostics> too_large(const std::string& path, const DocumentLimits& limits) {
  return failure("file-size", fmt::format("'{}' is larger than {} bytes", path, limits.bytes));
}

/// Appends what there is to `text`; false if that is more than `limit` bytes. A pipe or a device
/// does not tell its size, so the limit is kept while reading.
bool read_all(std::FILE* input, std::size_t limit, std::string& text) {
  std::array<char, 65536> piece{};
  while (std::feof(input) == 0 && std::ferror(input) == 0) {
    text.append(piece.data(), std::fread(piece.data(), 1, piece.size(), input));
    if (text.size() > limit) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<const SourceFile>> read_file(const std::string& path,
                                                    const DocumentLimits& limits) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return failure("file-read", fmt::format("cannot read '{}': no such file", path));
  }
  if (std::filesystem::is_directory(status)) {
    return failure("file-read", fmt::format("cannot read '{}': it is a directory", path));
  }
  if (std::filesystem::is_regular_file(status) &&
      std::filesystem::file_size(path, error) > limits.bytes) {
    return too_large(path, limits);
  }
  const OpenFile input(std::fopen(path.c_str(), "rbe"));
  if (!input) {
    return cannot_read(path, std::error_code(errno, std::generic_category()));
  }
  auto file = std::make_shared<SourceFile>();
  file->name = path;
  const bool fits = read_all(input.get(), limits.bytes, file->text);
  if (std::ferror(input.get()) != 0) {
    return cannot_read(path, std::error_code(errno, std::generic_category()));
  }
  if (!fits) {
    return too_large(path, limits);
  }
  return file;
}

Result<Node> read_document(const std::string& path, const DocumentLimits& limits) {
  Result<std::shared_ptr<const SourceFile>> file = read_file(path, limits);
  if (!file) {
    return failure(std::move(file).error());
  }
  return path.ends_with(".json") ? parse_json(*std::move(file), limits)
                                 : parse_yaml(*std::move(file), limits);
}

}  // namespace mansard
