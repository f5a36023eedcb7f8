#include "frontend/hf/hf.hpp"

#include "frontend/hf/build.hpp"
#include "frontend/hf/config.hpp"
#include "frontend/hf/describe.hpp"
#include "frontend/hf/family.hpp"

namespace mansard::frontend::hf {

namespace {

/// More parameters than any model: keeps every count of the graph inside 64 bits.
constexpr double kMostParameters = 1e17;

double stored_weights(const ir::Graph& graph) {
  double sum = 0;
  for (const ir::Tensor& tensor : graph.tensors()) {
    if (tensor.role != ir::Role::kWeight) {
      continue;
    }
    double elements = static_cast<double>(graph.block(tensor.block).count);
    for (const ir::Expr extent : tensor.shape) {
      elements *= extent.constant();
    }
    sum += elements;
  }
  return sum;
}

void note_other_modalities(Config& config) {
  for (const std::string_view key : {"vision_config", "audio_config", "visual", "speech_config"}) {
    if (config.anywhere(key)) {
      config.note("Only the text model is counted; vision and audio towers are left out.");
      return;
    }
  }
}

}  // namespace

Result<ir::Graph> import_config(const Node& document, const std::string& name, Phase phase) {
  if (!document.is_mapping()) {
    return failure("config-type", "expected an object", document.location);
  }
  Config config(document);
  const Family* family = find_family(config);
  if (family == nullptr) {
    return failure(std::move(config.diagnostics()));
  }
  Architecture architecture = describe(*family, config);
  config.finish(family->name);
  note_other_modalities(config);
  if (!config.diagnostics().empty()) {
    return failure(std::move(config.diagnostics()));
  }
  architecture.notes = config.notes();
  ir::Graph graph = build_graph(architecture, phase);
  if (stored_weights(graph) > kMostParameters) {
    return failure("config-size", "more than 1e17 parameters", document.location);
  }
  graph.facts.name = name;
  return graph;
}

}  // namespace mansard::frontend::hf
