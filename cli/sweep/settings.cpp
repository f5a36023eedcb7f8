#include "cli/sweep/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace mansard::cli {
namespace {

template <typename T>
bool read(const std::string& text, T& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

template <std::int64_t ModelOptions::* field>
bool set_count(Question& question, const std::string& text) {
  return read(text, question.model.*field) && question.model.*field >= 0;
}
template <std::string ModelOptions::* field>
bool set_word(Question& question, const std::string& text) {
  question.model.*field = text;
  return true;
}
template <std::string MachineOptions::* field>
bool set_machine_word(Question& question, const std::string& text) {
  question.machine.*field = text;
  return true;
}

bool one_of(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

constexpr std::array kSettings{
    Setting{"batch", true, set_count<&ModelOptions::batch>},
    Setting{"context", true, set_count<&ModelOptions::context>},
    Setting{"tp", true, set_count<&ModelOptions::tp>},
    Setting{"pp", true, set_count<&ModelOptions::pp>},
    Setting{"microbatches", true, set_count<&ModelOptions::microbatches>},
    Setting{"ep", true, set_count<&ModelOptions::ep>},
    Setting{"dp", true, set_count<&ModelOptions::dp>},
    Setting{"cp", true, set_count<&ModelOptions::cp>},
    Setting{"kv-page", true, set_count<&ModelOptions::page>},
    Setting{"kv-window", true, set_count<&ModelOptions::window>},
    Setting{"kv-prefix", true, set_count<&ModelOptions::prefix>},
    Setting{"draft", true, set_count<&ModelOptions::draft>},
    Setting{"experts-touched", true,
            [](Question& question, const std::string& text) {
              std::int64_t count = 0;
              const bool good = read(text, count) && count > 0;
              question.model.experts_touched = count;
              return good;
            }},
    Setting{"acceptance", false,
            [](Question& question, const std::string& text) {
              double& chance = question.model.acceptance;
              return read(text, chance) && chance >= 0 && chance <= 1;
            }},
    Setting{"memory-utilization", false,
            [](Question& question, const std::string& text) {
              double& share = question.model.memory_utilization;
              return read(text, share) && share >= 0 && share <= 1;
            }},
    Setting{"model", false, set_word<&ModelOptions::model>},
    Setting{"phase", false,
            [](Question& question, const std::string& text) {
              question.model.phase = text;
              return one_of(text, {"decode", "prefill"});
            }},
    Setting{"weights", false, set_word<&ModelOptions::weights>},
    Setting{"kv", false, set_word<&ModelOptions::kv>},
    Setting{"activations", false, set_word<&ModelOptions::activations>},
    Setting{"attention", false,
            [](Question& question, const std::string& text) {
              question.model.attention = text;
              return one_of(text, {"fused", "unfused"});
            }},
    Setting{"machine", false,
            [](Question& question, const std::string& text) {
              question.machine.machines = {text};
              return true;
            }},
    Setting{"overlay", false,
            [](Question& question, const std::string& text) {
              if (text != "none") {
                question.machine.overlays.push_back(text);
              }
              return true;
            }},
    Setting{"implementation", false, set_machine_word<&MachineOptions::implementation>},
    Setting{"mode", false,
            [](Question& question, const std::string& text) {
              question.machine.mode = text;
              return one_of(text, {"graph", "stream", "eager"});
            }},
    Setting{"regime", false, [](Question& question, const std::string& text) {
              question.machine.regime = text;
              return one_of(text, {"sustained", "burst"});
            }}};

}  // namespace

std::span<const Setting> settings() {
  return kSettings;
}

const Setting* find_setting(std::string_view name) {
  const auto* const found = std::ranges::find(kSettings, name, &Setting::name);
  return found == kSettings.end() ? nullptr : found;
}

}  // namespace mansard::cli
