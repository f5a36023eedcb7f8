#include "validate/tolerance.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace mansard::validate {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('/'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

const Tolerance* closest(const ClassReport& report, const std::vector<Tolerance>& tolerances) {
  const Tolerance* best = nullptr;
  for (const Tolerance& tolerance : tolerances) {
    if (tolerance.covers(report) &&
        (best == nullptr || tolerance.words.size() >= best->words.size())) {
      best = &tolerance;
    }
  }
  return best;
}

}  // namespace

bool Tolerance::covers(const ClassReport& report) const {
  const auto is = [&](const std::string& word) {
    return word == report.op || word == report.dtype || word == report.implementation ||
           word == without_version(report.implementation) || word == report.mode ||
           word == report.phase;
  };
  return std::all_of(words.begin(), words.end(), is);
}

Result<Tolerance> parse_tolerance(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  Tolerance result{.text = std::string(text)};
  if (equals != std::string_view::npos) {
    result.words = split(text.substr(0, equals));
  }
  const std::string_view number = text.substr(equals == std::string_view::npos ? 0 : equals + 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), result.mape);
  const std::string_view rest(end, number.data() + number.size());
  if (error != std::errc() || !(rest.empty() || rest == "%") || !std::isfinite(result.mape) ||
      result.mape < 0) {
    return failure("tolerance",
                   fmt::format("--tolerance takes a mean error in per cent, found '{}'", text), {},
                   "write 7, matmul=7 or attention/decode=10");
  }
  constexpr double kPercent = 100;
  result.mape /= kPercent;
  return result;
}

Result<std::vector<Excess>> excesses(const Report& report,
                                     const std::vector<Tolerance>& tolerances) {
  Diagnostics errors;
  for (const Tolerance& tolerance : tolerances) {
    if (std::none_of(report.classes.begin(), report.classes.end(),
                     [&](const ClassReport& one) { return tolerance.covers(one); })) {
      errors.push_back(
          {"tolerance",
           fmt::format("--tolerance {}: no class of the rows has all these words", tolerance.text),
           {},
           {},
           Severity::kError});
    }
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  std::vector<Excess> result;
  for (const ClassReport& one : report.classes) {
    const Tolerance* const stated = closest(one, tolerances);
    if (stated != nullptr && one.rows > 0 && one.errors.mape > stated->mape) {
      result.push_back({&one, stated});
    }
  }
  return result;
}

}  // namespace mansard::validate
