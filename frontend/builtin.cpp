#include "frontend/builtin.hpp"

#include <cassert>
#include <memory>

#include <fmt/format.h>

#include "frontend/hf/hf.hpp"
#include "support/embedded.hpp"

namespace mansard::frontend {

namespace {

constexpr std::string_view kFolder = "frontend/hf/models/";
constexpr std::string_view kEnding = ".yaml";

}  // namespace

std::optional<std::string_view> builtin_text(std::string_view name) {
  return find_embedded(fmt::format("{}{}{}", kFolder, name, kEnding));
}

std::vector<std::string> builtin_models() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.path.starts_with(kFolder) && file.path.ends_with(kEnding)) {
      const std::string_view name = file.path.substr(kFolder.size());
      names.emplace_back(name.substr(0, name.size() - kEnding.size()));
    }
  }
  return names;
}

Result<ir::Graph> import_builtin(const std::string& name, Phase phase) {
  const auto text = builtin_text(name);
  assert(text);
  auto file = std::make_shared<SourceFile>(SourceFile{
      .name = fmt::format("{}{}{}", kFolder, name, kEnding), .text = std::string(*text)});
  const Result<Node> document = parse_yaml(std::move(file));
  if (!document) {
    return failure(document.error());
  }
  return hf::import_config(*document, name, phase);
}

}  // namespace mansard::frontend
