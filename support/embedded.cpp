#include "support/embedded.hpp"

#include <algorithm>

namespace mansard {

std::optional<std::string_view> find_embedded(std::string_view path) {
  const auto files = embedded_files();
  const auto found = std::ranges::lower_bound(files, path, {}, &EmbeddedFile::path);
  if (found == files.end() || found->path != path) {
    return std::nullopt;
  }
  return found->text;
}

}  // namespace mansard
