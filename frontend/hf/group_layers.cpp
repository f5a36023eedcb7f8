#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "frontend/hf/describe.hpp"

namespace mansard::frontend::hf {

namespace {

struct MixerName {
  std::string operator()(const std::monostate&) const { return "no-mixer"; }
  std::string operator()(const Attention& attention) const {
    if (attention.span == Span::kWindow) {
      return "sliding";
    }
    return attention.span == Span::kChunk ? "chunked" : "full";
  }
  std::string operator()(const Mla& mla) const {
    if (!mla.index) {
      return "latent";
    }
    return mla.index->shared ? "sparse-shared" : "sparse";
  }
  std::string operator()(const LinearAttention&) const { return "linear"; }
  std::string operator()(const Mamba1&) const { return "mamba"; }
  std::string operator()(const Mamba2&) const { return "mamba"; }
  std::string operator()(const ShortConvolution&) const { return "convolution"; }
  std::string operator()(const GatedRecurrence&) const { return "recurrent"; }
  std::string operator()(const LinearMap&) const { return "linear-map"; }
};

std::string mixer_name(const Layer& layer) {
  return std::visit(MixerName{}, layer.mixer);
}

std::string feed_forward_name(const Layer& layer) {
  if (layer.moe) {
    return "moe";
  }
  return layer.dense ? "dense" : "no-mlp";
}

/// What tells the groups apart: the mixer where it differs, the feed-forward where it differs.
void name_groups(std::vector<LayerGroup>& groups) {
  std::set<std::string> mixers;
  std::set<std::string> feed_forwards;
  for (const LayerGroup& group : groups) {
    mixers.insert(mixer_name(group.layer));
    feed_forwards.insert(feed_forward_name(group.layer));
  }
  std::set<std::string> taken;
  for (LayerGroup& group : groups) {
    const Layer& layer = group.layer;
    const bool has_mixer = !std::holds_alternative<std::monostate>(layer.mixer);
    const bool has_feed_forward = layer.dense || layer.moe;
    std::string name = mixers.size() > 1 && has_mixer ? mixer_name(layer) : "";
    if (feed_forwards.size() > 1 && has_feed_forward) {
      name += (name.empty() ? "" : "-") + feed_forward_name(layer);
    }
    name = name.empty() ? "layer" : name;
    group.name = name;
    for (int copy = 2; !taken.insert(group.name).second; ++copy) {
      group.name = fmt::format("{}-{}", name, copy);
    }
  }
}

}  // namespace

std::vector<LayerGroup> group_layers(const std::vector<Layer>& layers) {
  std::vector<LayerGroup> groups;
  for (const Layer& layer : layers) {
    const auto known = std::ranges::find(groups, layer, &LayerGroup::layer);
    if (known != groups.end()) {
      ++known->count;
    } else {
      groups.push_back({.name = {}, .count = 1, .layer = layer});
    }
  }
  name_groups(groups);
  return groups;
}

}  // namespace mansard::frontend::hf
