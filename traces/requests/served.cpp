#include "traces/requests/served.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "support/document.hpp"
#include "support/text.hpp"
#include "traces/requests/lines.hpp"

namespace mansard::traces::requests {
namespace {

std::optional<double> number(const Node& object, std::string_view key) {
  const Node* value = object.find(key);
  return value == nullptr ? std::nullopt : value->as_number();
}

/// Of one clock only: seconds between events of one request.
Result<ir::ServedRequest> per_request(const Node& object) {
  const auto queued = number(object, "queued_ts");
  const auto first = number(object, "first_token_ts");
  const auto last = number(object, "last_token_ts");
  const auto input = number(object, "input_toks");
  const auto output = number(object, "output_toks");
  if (!queued || !first || !last || !input || !output || *first < *queued || *last < *first ||
      *input < 0 || *output < 0) {
    return failure("served-row",
                   "expected input_toks, output_toks, queued_ts <= first_token_ts <= last_token_ts",
                   object.location);
  }
  ir::ServedRequest result{.input_tokens = static_cast<std::uint32_t>(*input),
                           .output_tokens = static_cast<std::uint32_t>(*output),
                           .ttft = *first - *queued,
                           .latency = *last - *queued};
  if (*output > 1) {
    result.tpot = (*last - *first) / (*output - 1);
  }
  return result;
}

Result<ServedRun> read_lines(const std::string& path) {
  auto lines = open_lines(path);
  if (!lines) {
    return failure(std::move(lines.error()));
  }
  ServedRun run{.format = "vllm"};
  Diagnostics errors;
  double begin = 0;
  double end = 0;
  while (const auto text = (*lines)->next()) {
    if (text->find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    auto source =
        std::make_shared<SourceFile>(SourceFile{path, std::string(*text), (*lines)->number()});
    auto object = parse_json(std::move(source));
    auto request =
        object ? per_request(*object) : Result<ir::ServedRequest>(tl::unexpected(object.error()));
    if (!request) {
      errors.insert(errors.end(), request.error().begin(), request.error().end());
      ++run.failed;
      continue;
    }
    const double queued = *number(*object, "queued_ts");
    const double last = *number(*object, "last_token_ts");
    begin = run.requests.empty() ? queued : std::min(begin, queued);
    end = run.requests.empty() ? last : std::max(end, last);
    run.requests.push_back(*request);
  }
  run.makespan = end - begin;
  if (run.requests.empty()) {
    return errors.empty() ? failure("served-file", fmt::format("{} holds no request", path))
                          : failure(std::move(errors));
  }
  return run;
}

/// "mean_ttft_ms" and the like. vLLM writes milliseconds; without the suffix they are seconds.
void add_figures(const Node& object, ServedRun& run) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kMetrics{
      {{"ttft", "ttft"}, {"tpot", "tpot"}, {"itl", "itl"}, {"e2el", "latency"}}};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kStatistics{
      {{"mean", "mean"}, {"median", "p50"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}}};
  for (const auto& [key, metric] : kMetrics) {
    for (const auto& [prefix, statistic] : kStatistics) {
      const auto ms = number(object, fmt::format("{}_{}_ms", prefix, key));
      const auto s = number(object, fmt::format("{}_{}", prefix, key));
      if (ms || s) {
        run.figures[fmt::format("{}.{}", metric, statistic)] = ms ? *ms / 1e3 : *s;
      }
    }
  }
}

void add_arrays(const Node& object, ServedRun& run) {
  const Node* ttfts = object.find("ttfts");
  const Node* itls = object.find("itls");
  const Node* outputs = object.find("output_lens");
  const Node* inputs = object.find("input_lens");
  if (ttfts == nullptr) {
    return;
  }
  for (std::size_t i = 0; i < ttfts->items.size(); ++i) {
    ir::ServedRequest request{.ttft = ttfts->items[i].as_number()};
    const auto count = [&](const Node* list) {
      const bool has = list != nullptr && i < list->items.size();
      return static_cast<std::uint32_t>(has ? list->items[i].as_integer().value_or(0) : 0);
    };
    request.input_tokens = count(inputs);
    request.output_tokens = count(outputs);
    if (itls != nullptr && i < itls->items.size() && request.ttft) {
      double sum = 0;
      for (const Node& gap : itls->items[i].items) {
        sum += gap.as_number().value_or(0);
      }
      request.latency = *request.ttft + sum;
      if (request.output_tokens > 1) {
        request.tpot = sum / (request.output_tokens - 1);
      }
    }
    run.requests.push_back(request);
  }
}

}  // namespace

Result<ServedRun> read_served(const std::string& path) {
  auto lines = open_lines(path);
  if (!lines) {
    return failure(std::move(lines.error()));
  }
  const auto first = (*lines)->peek();
  if (first && first->find("\"queued_ts\"") != std::string_view::npos) {
    return read_lines(path);
  }
  auto file = read_file(path);
  if (!file) {
    return failure(std::move(file.error()));
  }
  auto document = parse_json(std::move(*file));
  if (!document) {
    return failure(std::move(document.error()));
  }
  ServedRun run{.format = "bench"};
  if (document->is_mapping()) {
    add_figures(*document, run);
    add_arrays(*document, run);
    run.makespan = number(*document, "duration").value_or(0);
    run.failed = static_cast<std::uint64_t>(number(*document, "failed").value_or(0));
  }
  if (run.requests.empty() && run.figures.empty()) {
    return failure("served-file",
                   "expected JSON lines with queued_ts, first_token_ts and last_token_ts, or a "
                   "result of vllm bench serve (mean_ttft_ms, ...)",
                   document->location);
  }
  return run;
}

}  // namespace mansard::traces::requests
