#include "cli/files.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace mansard::cli {
namespace {

auto cannot_write(const std::string& option, const std::string& path, int reason) {
  return failure("output-file", fmt::format("{}: cannot write '{}': {}", option, path,
                                            std::generic_category().message(reason)));
}

}  // namespace

Result<void> write_file(const std::string& option, const std::string& path, std::string_view text) {
  errno = 0;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return cannot_write(option, path, errno);
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int reason = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) {
    return cannot_write(option, path, written ? errno : reason);
  }
  return {};
}

}  // namespace mansard::cli
