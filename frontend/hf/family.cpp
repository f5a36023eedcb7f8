#include "frontend/hf/family.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/hf/families/families.hpp"
#include "support/suggest.hpp"

namespace mansard::frontend::hf {

namespace {

/// Multimodal classes that put one of our text models, unchanged, behind their encoders. Which one
/// is what the nested config says.
constexpr auto kWrappers = std::to_array<std::string_view>({
    "AriaForConditionalGeneration",
    "AyaVisionForConditionalGeneration",
    "Cohere2VisionForConditionalGeneration",
    "DeepseekVLForConditionalGeneration",
    "DeepseekVLHybridForConditionalGeneration",
    "DeepseekVLV2ForCausalLM",
    "Exaone4_5_ForConditionalGeneration",
    "FastVlmForConditionalGeneration",
    "GotOcr2ForConditionalGeneration",
    "Idefics2ForConditionalGeneration",
    "Idefics3ForConditionalGeneration",
    "InternVLChatModel",
    "InternVLForConditionalGeneration",
    "JanusForConditionalGeneration",
    "Lfm2VlForConditionalGeneration",
    "LightOnOcrForConditionalGeneration",
    "LlavaForConditionalGeneration",
    "LlavaNextForConditionalGeneration",
    "LlavaNextVideoForConditionalGeneration",
    "LlavaOnevisionForConditionalGeneration",
    "Mistral3ForConditionalGeneration",
    "MiniCPMV4_6ForConditionalGeneration",
    "Ovis2ForConditionalGeneration",
    "PaliGemmaForConditionalGeneration",
    "PixtralForConditionalGeneration",
    "QianfanOCRForConditionalGeneration",
    "Qwen2AudioForConditionalGeneration",
    "Qwen2OmniNaViTThinkerForConditionalGeneration",
    "Qwen2_5OmniForConditionalGeneration",
    "Qwen2_5OmniThinkerForConditionalGeneration",
    "Qwen3OmniMoeThinkerForConditionalGeneration",
    "Qwen2_5OmniModel",
    "SmolVLMForConditionalGeneration",
    "Step3p7ForConditionalGeneration",
    "VideoLlama3ForConditionalGeneration",
    "VideoLlavaForConditionalGeneration",
    "VipLlavaForConditionalGeneration",
    "VoxtralForConditionalGeneration",
});

/// Classes of models that have no decoder to step, by how their names begin.
struct Outside {
  std::string_view start;
  std::string_view what;
};
constexpr std::string_view kEncoder = "this is an encoder; only models that decode are read";
constexpr std::string_view kPair =
    "this is an encoder with a decoder; only decoders alone are read";
constexpr auto kOutside = std::to_array<Outside>({
    {"Albert", kEncoder},
    {"Bert", kEncoder},
    {"Camembert", kEncoder},
    {"Deberta", kEncoder},
    {"DistilBert", kEncoder},
    {"Electra", kEncoder},
    {"MPNet", kEncoder},
    {"ModernBertFor", kEncoder},
    {"ModernBertModel", kEncoder},
    {"NewModel", kEncoder},
    {"NomicBert", kEncoder},
    {"Roberta", kEncoder},
    {"XLMRoberta", kEncoder},
    {"CLIP", kEncoder},
    {"Siglip", kEncoder},
    {"ViT", kEncoder},
    {"Wav2Vec2", kEncoder},
    {"Hubert", kEncoder},
    {"Bart", kPair},
    {"Blenderbot", kPair},
    {"LongT5", kPair},
    {"M2M100", kPair},
    {"MBart", kPair},
    {"MT5", kPair},
    {"Marian", kPair},
    {"Pegasus", kPair},
    {"ProphetNet", kPair},
    {"Speech2Text", kPair},
    {"T5", kPair},
    {"UMT5", kPair},
    {"Whisper", kPair},
});

std::string_view outside(std::string_view architecture) {
  const auto* const found = std::ranges::find_if(
      kOutside, [&](const Outside& entry) { return architecture.starts_with(entry.start); });
  return found == kOutside.end() ? "" : found->what;
}

bool names(const std::vector<std::string_view>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

const Family* by_architecture(std::string_view name) {
  const auto found = std::ranges::find_if(
      families(), [&](const Family& family) { return names(family.architectures, name); });
  return found == families().end() ? nullptr : &*found;
}

const Family* by_model_type(std::string_view name) {
  const auto found = std::ranges::find_if(
      families(), [&](const Family& family) { return names(family.model_types, name); });
  return found == families().end() ? nullptr : &*found;
}

void refuse_unknown(Config& config, std::string_view what, std::string_view name) {
  std::vector<std::string> known;
  for (const Family& family : families()) {
    const auto& list = what == "architecture" ? family.architectures : family.model_types;
    known.insert(known.end(), list.begin(), list.end());
  }
  const Node* node = config.find(what == "architecture" ? "architectures" : "model_type");
  if (node != nullptr && node->is_sequence() && !node->items.empty()) {
    node = &node->items.front();
  }
  const std::string_view reason = what == "architecture" ? outside(name) : "";
  const auto meant = reason.empty() ? did_you_mean(name, known) : std::nullopt;
  config.refuse("config-architecture", fmt::format("{} '{}' is not known", what, name),
                node != nullptr ? node->location : config.location(),
                meant ? fmt::format("did you mean {}?", *meant) : std::string(reason));
}

/// The architecture decides; a model_type of another family is worth a sentence.
void note_disagreement(Config& config, const Family& family, std::string_view architecture) {
  const std::vector<std::string> types = config.model_types();
  const Family* by_type = types.empty() ? nullptr : by_model_type(types.front());
  if (by_type != nullptr && by_type != &family) {
    config.note(fmt::format("Architecture {} decides; model_type {} names another family.",
                            architecture, types.front()));
  }
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> list = {
#define HF_FAMILY(function) function(),
#include "frontend/hf/families.def"
#undef HF_FAMILY
  };
  return list;
}

const Family* find_family(Config& config) {
  const std::vector<std::string> types = config.model_types();
  const Family* family = nullptr;
  for (const std::string& name : config.architectures()) {
    const Family* known = by_architecture(name);
    if (known == nullptr && std::ranges::find(kWrappers, name) == kWrappers.end()) {
      refuse_unknown(config, "architecture", name);
      return nullptr;
    }
    if (family == nullptr && known != nullptr) {
      family = known;
      note_disagreement(config, *family, name);
    }
  }
  if (family == nullptr && !types.empty()) {
    family = by_model_type(types.front());
    if (family == nullptr) {
      refuse_unknown(config, "model_type", types.front());
    }
  } else if (family == nullptr) {
    config.refuse("config-architecture", "expected architectures or model_type, found neither",
                  config.location());
  }
  return family;
}

}  // namespace mansard::frontend::hf
