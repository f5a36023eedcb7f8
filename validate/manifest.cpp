#include "validate/manifest.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "support/document.hpp"

namespace mansard::validate {
namespace {

constexpr std::string_view kOurs = "mansard-measure";
constexpr std::string_view kSchema = "mansard.manifest/1";

std::string beside(const std::string& path, std::string_view name) {
  const std::size_t slash = path.rfind('/');
  return (slash == std::string::npos ? std::string() : path.substr(0, slash + 1)) +
         std::string(name);
}

std::string_view text_of(const Node& document, std::string_view key) {
  const Node* const found = document.find(key);
  return found != nullptr && found->is_scalar() ? std::string_view(found->scalar)
                                                : std::string_view();
}

}  // namespace

Result<void> require_manifest(const std::vector<ir::Measurement>& rows) {
  const auto first = std::find_if(rows.begin(), rows.end(),
                                  [](const ir::Measurement& row) { return row.source == kOurs; });
  if (first == rows.end()) {
    return {};
  }
  const std::string path = beside(first->location.file->name, "manifest.json");
  const auto manifest = read_document(path);
  if (!manifest) {
    return failure("manifest",
                   fmt::format("{} took these rows, and their manifest is missing: {}", kOurs,
                               manifest.error().front().message),
                   first->location, "keep the files of one folder together");
  }
  if (text_of(*manifest, "schema") != kSchema || text_of(*manifest, "machine") != first->machine) {
    return failure("manifest",
                   fmt::format("'{}' is no manifest of measurements on {}", path, first->machine),
                   first->location);
  }
  return {};
}

}  // namespace mansard::validate
