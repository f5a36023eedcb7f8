#include "support/embedded.hpp"

#include <algorithm>
#include <functional>

#include <catch2/catch.hpp>

namespace mansard {

TEST_CASE("embedded files are in strict order of path, so that each is found", "[support]") {
  const auto files = embedded_files();
  CHECK(std::ranges::adjacent_find(files, std::ranges::greater_equal{}, &EmbeddedFile::path) ==
        files.end());
  for (const EmbeddedFile& file : files) {
    CAPTURE(file.path);
    CHECK(find_embedded(file.path) == file.text);
    CHECK_FALSE(file.text.empty());
  }
}

TEST_CASE("a file that is not embedded is not found", "[support]") {
  CHECK_FALSE(find_embedded("").has_value());
  CHECK_FALSE(find_embedded("hardware/machines/none.yaml").has_value());
}

}  // namespace mansard
