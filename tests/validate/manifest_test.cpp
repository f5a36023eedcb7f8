#include "validate/manifest.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/document.hpp"
#include "validate/measurements.hpp"

namespace mansard::validate {
namespace {

/// A folder with one measured row in it, gone with the test.
class Folder {
 public:
  explicit Folder(const std::string& row_source)
      : path_(std::filesystem::temp_directory_path() /
              ("mansard-manifest-test-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
    write("suite.csv", "machine,implementation,mode,op,median_us,source\nh200-sxm,x,graph,copy,1," +
                           row_source + "\n");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] Result<void> check() const {
    const auto rows = read_file((path_ / "suite.csv").string()).and_then(read_measurements);
    REQUIRE(rows);
    return require_manifest(*rows);
  }

 private:
  std::filesystem::path path_;
};

TEST_CASE("rows of mansard-measure need the manifest of their machine beside them") {
  const Folder folder("mansard-measure");
  CHECK_FALSE(folder.check());
  folder.write("manifest.json", R"({"schema": "mansard.manifest/1", "machine": "a100-sxm-80gb"})");
  CHECK_FALSE(folder.check());
  folder.write("manifest.json", R"({"machine": "h200-sxm"})");
  CHECK_FALSE(folder.check());
  folder.write("manifest.json", R"({"schema": "mansard.manifest/1", "machine": "h200-sxm"})");
  CHECK(folder.check());
}

TEST_CASE("rows that others published need none") {
  CHECK(Folder("a paper").check());
}

}  // namespace
}  // namespace mansard::validate
