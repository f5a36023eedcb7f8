#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "support/document.hpp"
#include "support/units.hpp"

/// Counts what the calibrations of hardware/calibrations have fitted.
namespace mansard {
namespace {

constexpr std::size_t kMost = 40;  ///< Physical parameters of an implementation and engine.

bool contains(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

/// What works the ops of a parameter: the matrix engine, the vector engine (row-wise kernels, one
/// row's matmul, fp32), links, or the host that issues.
std::string engine_of(const std::string& path) {
  const std::string section = path.substr(0, path.find('.'));
  if (section == "rows" || path.starts_with("matmul.gemv") || path.starts_with("matmul.fp32")) {
    return "vector";
  }
  if (section == "collective") {
    return "links";
  }
  return section == "launch" || section == "energy" || section == "power" ? section : "matrix";
}

/// Intervals are no parameters of the estimate; integers say how a kernel is built (its launches,
/// stages, smallest tile); a zero is a term that is switched off.
bool is_physical(const std::string& path, double value) {
  const std::set<std::string> structure{"launches",  "calls",         "min_stages",   "line",
                                        "deep",      "batched_apart", "max_split",    "tile_least",
                                        "tile_most", "tile_n",        "least_extent", "least_area"};
  return value != 0 && !contains(path, "interval.") &&
         !structure.contains(path.substr(path.rfind('.') + 1));
}

using Counts = std::map<std::pair<std::string, std::string>, std::size_t>;

Counts counts_of(const Node& document) {
  Counts result;
  const Node* implementations = document.find("implementations");
  REQUIRE(implementations != nullptr);
  for (const Node::Entry& implementation : implementations->entries) {
    for (const Node::Entry& parameter : implementation.value.entries) {
      const auto measure = parse_measure(parameter.value.scalar, parameter.value.location);
      REQUIRE(measure);
      if (is_physical(parameter.key, measure->value)) {
        ++result[{implementation.key, engine_of(parameter.key)}];
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("a calibration has at most forty physical parameters an implementation and engine",
          "[calibration]") {
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(MANSARD_CALIBRATIONS)) {
    if (file.path().extension() != ".yaml" || file.path().stem() == "default") {
      continue;
    }
    const auto document = read_document(file.path().string());
    REQUIRE(document);
    ++files;
    for (const auto& [of, count] : counts_of(*document)) {
      INFO(file.path().filename() << " " << of.first << " " << of.second);
      CHECK(count <= kMost);
    }
  }
  CHECK(files > 10);
}

}  // namespace mansard
