#include "cli/sweep/objectives.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace mansard::cli {

Result<Objective> parse_objective(const std::string& option, const std::string& text) {
  const std::size_t colon = text.find(':');
  Objective result{text.substr(0, colon)};
  result.greatest = result.field.find("per_second") != std::string::npos;
  if (colon != std::string::npos) {
    const std::string end = text.substr(colon + 1);
    if (end != "min" && end != "max") {
      return failure("objective", fmt::format("{}: expected min or max, found '{}'", option, end));
    }
    result.greatest = end == "max";
  }
  return result;
}

Result<std::vector<Objective>> parse_objectives(const std::string& option,
                                                const std::string& text) {
  std::vector<Objective> result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    auto objective = parse_objective(option, text.substr(begin, end - begin));
    if (!objective) {
      return failure(std::move(objective.error()));
    }
    result.push_back(std::move(*objective));
    begin = end + 1;
  }
  return result;
}

Result<std::pair<std::uint64_t, std::uint64_t>> part_of(const std::string& shard,
                                                        std::uint64_t points) {
  if (shard.empty()) {
    return std::pair(std::uint64_t{0}, points);
  }
  std::uint64_t part = 0;
  std::uint64_t parts = 0;
  const char* end = shard.data() + shard.size();
  const auto [slash, bad_part] = std::from_chars(shard.data(), end, part);
  const bool has_slash = slash != end && *slash == '/';
  const auto [last, bad_parts] = std::from_chars(has_slash ? slash + 1 : end, end, parts);
  if (bad_part != std::errc() || bad_parts != std::errc() || last != end || part < 1 ||
      part > parts) {
    return failure("shard", fmt::format("--shard takes I/N with I from 1 to N, found '{}'", shard));
  }
  const auto boundary = [&](std::uint64_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(points) * i / parts);
  };
  return std::pair(boundary(part - 1), boundary(part));
}

}  // namespace mansard::cli
