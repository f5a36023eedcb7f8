#include "support/suggest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <vector>

namespace mansard {
namespace {

/// A longer word is not a slip of a name of ours, and comparing it would only cost time.
constexpr std::size_t kLongestWord = 128;

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return result;
}

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours,
/// no part edited twice.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_previous(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_previous[j - 2] + 1);
      }
    }
    std::swap(before_previous, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view word,
                                        std::span<const std::string> candidates) {
  if (word.empty() || word.size() > kLongestWord) {
    return std::nullopt;
  }
  const std::size_t threshold = std::max<std::size_t>(word.size(), 3) / 3;
  const std::string folded = lower_case(word);
  const std::string* best = nullptr;
  std::tuple<std::size_t, std::size_t> best_score;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > word.size() + threshold ||
        candidate.size() + threshold < word.size()) {
      continue;
    }
    // A wrong case alone is the likeliest slip of all, so case only breaks ties.
    const std::size_t distance = edit_distance(folded, lower_case(candidate));
    if (distance > threshold || distance >= word.size()) {
      continue;
    }
    const std::tuple score{distance, edit_distance(word, candidate)};
    if (best == nullptr || score < best_score) {
      best = &candidate;
      best_score = score;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

}  // namespace mansard
