#include <fmt/format.h>

#include "cli/views/validation.hpp"

namespace mansard::cli {
namespace {

constexpr std::size_t kMostSources = 3;

std::string sources_of(const validate::AccuracyLine& line) {
  std::string text;
  std::size_t count = 0;
  for (const std::string& source : line.sources) {
    if (++count > kMostSources) {
      return text + ", ...";
    }
    text += fmt::format("{}{}", text.empty() ? "" : "; ", source);
  }
  return text;
}

std::string fitted(const validate::AccuracyLine& line) {
  return line.seen == 0 ? "no" : line.seen == line.rows ? "yes" : fmt::format("{} rows", line.seen);
}

}  // namespace

std::string accuracy_markdown(const std::vector<validate::AccuracyLine>& lines) {
  std::string text =
      "| what | machine | rows | median % | mean % | 90th % | bias % | in 90 % interval | high/low "
      "| "
      "fitted on | measured by |\n|---|---|--:|--:|--:|--:|--:|--:|--:|---|---|\n";
  for (const validate::AccuracyLine& line : lines) {
    text += fmt::format(
        "| {} | {} | {} | {:.1f} | {:.1f} | {:.1f} | {:+.1f} | {:.0f} % | {:.2f} | {} | {} |\n",
        line.subject, line.machine, line.rows, 100 * line.errors.median, 100 * line.errors.mape,
        100 * line.errors.p90, 100 * line.errors.bias, 100 * line.coverage, line.width,
        fitted(line), sources_of(line));
  }
  return text;
}

}  // namespace mansard::cli
