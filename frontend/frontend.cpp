#include "frontend/frontend.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "frontend/builtin.hpp"
#include "frontend/hf/hf.hpp"
#include "frontend/ir_yaml/ir_yaml.hpp"
#include "frontend/onnx/onnx.hpp"
#include "ir/passes/passes.hpp"
#include "support/suggest.hpp"

namespace mansard::frontend {

namespace {

using Importer = Result<ir::Graph> (*)(const std::string& path, Phase phase);

/// The name of a model for a person: of `config.json`, that of its folder.
std::string model_name(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string stem = file.stem().string();
  const std::string folder = file.parent_path().filename().string();
  return stem == "config" && !folder.empty() ? folder : stem;
}

Result<ir::Graph> import_hf(const std::string& path, Phase phase) {
  const Result<Node> document = read_document(path);
  if (!document) {
    return failure(document.error());
  }
  return hf::import_config(*document, model_name(path), phase);
}

Result<ir::Graph> import_ir_yaml(const std::string& path, Phase /*phase*/) {
  return ir_yaml::import_file(path);
}

Result<ir::Graph> import_onnx(const std::string& path, Phase /*phase*/) {
  return onnx::import_file(path, model_name(path));
}

/// A file name ending, and what reads it; without an importer, what it is called.
struct Format {
  std::string_view ending;
  Importer importer = nullptr;
  std::string_view unread;
};

constexpr auto kFormats = std::to_array<Format>({
#define FORMAT(ending, importer) {ending, importer, {}},
#define UNREAD_FORMAT(ending, called) {ending, nullptr, called},
#include "frontend/formats.def"
#undef FORMAT
#undef UNREAD_FORMAT
});

constexpr std::string_view kFp8Suffix = "-fp8";

Result<ir::Graph> import_as_fp8(const std::string& name, Phase phase) {
  Result<ir::Graph> graph = import_builtin(name.substr(0, name.size() - kFp8Suffix.size()), phase);
  if (!graph) {
    return graph;
  }
  const ir::Dtype* fp8 = ir::find_dtype("fp8");
  graph = ir::set_formats(std::move(*graph), {.weights = fp8, .activations = fp8});
  if (graph) {
    graph->facts.name = name;
  }
  return graph;
}

bool is_fp8_builtin(std::string_view name) {
  return name.ends_with(kFp8Suffix) &&
         builtin_text(name.substr(0, name.size() - kFp8Suffix.size()));
}

Result<ir::Graph> refuse_name(const std::string& name) {
  const std::vector<std::string> known = builtin_models();
  const auto meant = did_you_mean(name, known);
  return failure(
      "model-unknown", fmt::format("'{}' is no built-in model and no file", name), {},
      meant ? fmt::format("did you mean {}?", *meant) : "`mansard models` lists the built-in ones");
}

}  // namespace

Result<ir::Graph> import_model(const std::string& name_or_path, Phase phase) {
  if (builtin_text(name_or_path)) {
    return import_builtin(name_or_path, phase);
  }
  if (is_fp8_builtin(name_or_path)) {
    return import_as_fp8(name_or_path, phase);
  }
  const auto* const format = std::ranges::find_if(
      kFormats, [&](const Format& candidate) { return name_or_path.ends_with(candidate.ending); });
  if (format == kFormats.end()) {
    return refuse_name(name_or_path);
  }
  if (format->importer == nullptr) {
    return failure("format-unread",
                   fmt::format("{}: {} are not read yet", name_or_path, format->unread), {},
                   "a model is a built-in name, a config.json, an .onnx or an .ir.yaml");
  }
  return format->importer(name_or_path, phase);
}

}  // namespace mansard::frontend
