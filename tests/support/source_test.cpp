#include "support/source.hpp"

#include <catch2/catch.hpp>

namespace mansard {
namespace {

LineColumn place(std::string text, std::size_t begin) {
  return line_column(
      {std::make_shared<const SourceFile>(SourceFile{"f", std::move(text)}), begin, begin});
}

}  // namespace

TEST_CASE("lines and columns count from one, columns in bytes", "[support][source]") {
  CHECK(place("ab\ncd", 0).line == 1);
  CHECK(place("ab\ncd", 0).column == 1);
  CHECK(place("ab\ncd", 2).column == 3);
  CHECK(place("ab\ncd", 3).line == 2);
  CHECK(place("ab\ncd", 4).column == 2);
  CHECK(place("\n\n\nx", 3).line == 4);
  CHECK(place("\u00E9x", 2).column == 3);
}

TEST_CASE("a byte order mark is not a column", "[support][source]") {
  CHECK(place("\xEF\xBB\xBFx", 3).column == 1);
  CHECK(place("\xEF\xBB\xBFx", 0).column == 1);
  CHECK(place("\xEF\xBB\xBF\nx", 4).column == 1);
}

TEST_CASE("a place past the end is the end, and no file is line one", "[support][source]") {
  CHECK(place("ab\ncd", 99).line == 2);
  CHECK(place("ab\ncd", 99).column == 3);
  CHECK(line_column({}).line == 1);
}

}  // namespace mansard
