#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/serve/search.hpp"
#include "support/suggest.hpp"

namespace mansard::cli {
namespace {

/// Sets an option from text; false if it does not take it.
using Setter = std::function<bool(ServeOptions&, const std::string&)>;

template <typename T>
bool parse(const std::string& text, T& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

Setter count(std::int64_t ModelOptions::* field) {
  return [field](ServeOptions& o, const std::string& text) {
    return parse(text, o.model.*field) && o.model.*field >= 1;
  };
}
Setter count(std::int64_t ServeOptions::* field) {
  return [field](ServeOptions& o, const std::string& text) {
    return parse(text, o.*field) && o.*field >= 1;
  };
}
Setter engine_count(std::optional<std::int64_t> EngineOptions::* field) {
  return [field](ServeOptions& o, const std::string& text) {
    return parse(text, (o.engine.*field).emplace()) && *(o.engine.*field) >= 0;
  };
}
Setter engine_word(std::string EngineOptions::* field, std::vector<std::string> words) {
  return [field, words = std::move(words)](ServeOptions& o, const std::string& text) {
    o.engine.*field = text;
    return std::ranges::find(words, text) != words.end();
  };
}
Setter dtype(std::string ModelOptions::* field) {
  return [field](ServeOptions& o, const std::string& text) {
    o.model.*field = text;
    return !text.empty();
  };
}

const std::vector<std::pair<std::string, Setter>>& setters() {
  static const std::vector<std::pair<std::string, Setter>> list{
      {"machine",
       [](ServeOptions& o, const std::string& text) {
         o.machine.machines = {text};
         return !text.empty();
       }},
      {"model",
       [](ServeOptions& o, const std::string& text) {
         o.model.model = text;
         return !text.empty();
       }},
      {"rate",
       [](ServeOptions& o, const std::string& text) {
         return parse(text, o.rate.emplace()) && *o.rate > 0;
       }},
      {"scale-rate", [](ServeOptions& o,
                        const std::string& text) { return parse(text, o.scale) && o.scale > 0; }},
      {"users", count(&ServeOptions::users)},
      {"replicas", count(&ServeOptions::replicas)},
      {"prefill-replicas", count(&ServeOptions::prefill_replicas)},
      {"tp", count(&ModelOptions::tp)},
      {"pp", count(&ModelOptions::pp)},
      {"ep", count(&ModelOptions::ep)},
      {"dp", count(&ModelOptions::dp)},
      {"weights", dtype(&ModelOptions::weights)},
      {"kv", dtype(&ModelOptions::kv)},
      {"activations", dtype(&ModelOptions::activations)},
      {"router",
       [](ServeOptions& o, const std::string& text) {
         o.router = text;
         constexpr std::array<std::string_view, 4> kWords{"least-loaded", "round-robin", "kv-aware",
                                                          "user"};
         return std::ranges::find(kWords, text) != kWords.end();
       }},
      {"max-num-seqs", engine_count(&EngineOptions::max_num_seqs)},
      {"max-num-batched-tokens", engine_count(&EngineOptions::max_num_batched_tokens)},
      {"block-size", engine_count(&EngineOptions::block_size)},
      {"num-blocks", engine_count(&EngineOptions::num_blocks)},
      {"draft-tokens", engine_count(&EngineOptions::draft_tokens)},
      {"chunked-prefill", engine_word(&EngineOptions::chunked_prefill, {"on", "off"})},
      {"prefix-caching", engine_word(&EngineOptions::prefix_caching, {"on", "off"})},
      {"async-scheduling", engine_word(&EngineOptions::async_scheduling, {"on", "off"})},
      {"order", engine_word(&EngineOptions::order, {"fcfs", "priority", "shortest", "fair"})},
      {"precedence", engine_word(&EngineOptions::precedence, {"decode", "prefill"})},
      {"preemption", engine_word(&EngineOptions::preemption, {"recompute", "swap"})},
  };
  return list;
}

tl::unexpected<Diagnostics> unknown_axis(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, setter] : setters()) {
    names.push_back(known);
  }
  const auto meant = did_you_mean(name, names);
  return failure("vary", fmt::format("--vary: '{}' cannot be varied", name), {},
                 meant ? fmt::format("did you mean '{}'?", *meant)
                       : fmt::format("one of {}", fmt::join(names, ", ")));
}

/// Every point with every value of one more option.
Result<std::vector<SweepPoint>> varied(const std::vector<SweepPoint>& points,
                                       const std::string& axis) {
  const std::size_t at = axis.find('=');
  const std::string name = axis.substr(0, at);
  const auto found =
      std::ranges::find(setters(), name, [](const auto& entry) { return entry.first; });
  if (at == std::string::npos || found == setters().end()) {
    return unknown_axis(name);
  }
  std::vector<SweepPoint> result;
  for (const SweepPoint& point : points) {
    std::size_t begin = at + 1;
    while (begin <= axis.size()) {
      const std::size_t end = std::min(axis.find(',', begin), axis.size());
      const std::string value = axis.substr(begin, end - begin);
      SweepPoint next = point;
      if (!found->second(next.options, value)) {
        return failure("vary", fmt::format("--vary: {} does not take '{}'", name, value));
      }
      next.varied.emplace_back(name, value);
      result.push_back(std::move(next));
      begin = end + 1;
    }
  }
  return result;
}

}  // namespace

Result<std::vector<SweepPoint>> sweep_points(const ServeOptions& options,
                                             const std::vector<std::string>& vary) {
  std::vector<SweepPoint> points{{options, {}}};
  std::vector<std::string> axes = vary;
  if (options.machine.machines.size() > 1) {
    axes.insert(axes.begin(), fmt::format("machine={}", fmt::join(options.machine.machines, ",")));
  }
  for (const std::string& axis : axes) {
    auto next = varied(points, axis);
    if (!next) {
      return failure(std::move(next.error()));
    }
    points = std::move(*next);
  }
  for (const SweepPoint& point : points) {
    if (point.options.machine.machines.empty() && point.options.pools.empty()) {
      return failure("machine", "no machine given", {}, "add --machine NAME or --pool NAME*N");
    }
  }
  return points;
}

}  // namespace mansard::cli
