#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/document.hpp"

namespace mansard {
namespace {

/// A folder that is gone when the test is.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("mansard-files-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a file is read whole, under the name that it was asked by", "[support][files]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.yaml", std::string("a: 1\0\r\n", 7));
  const auto file = read_file(path);
  REQUIRE(file);
  CHECK((*file)->name == path);
  CHECK((*file)->text == std::string("a: 1\0\r\n", 7));
}

TEST_CASE("a file is JSON by its name, YAML otherwise", "[support][files]") {
  const TemporaryFolder folder;
  CHECK(read_document(folder.write("a.json", "{\"a\": 1}")));
  CHECK_FALSE(read_document(folder.write("b.json", "a: 1")));
  CHECK(read_document(folder.write("c.yaml", "a: 1")));
  CHECK(read_document(folder.write("d", "{\"a\": 1}")));
}

TEST_CASE("what cannot be read is named with the reason", "[support][files]") {
  const TemporaryFolder folder;
  const std::string absent = folder.path() + "/absent.yaml";
  CHECK(render(read_file(absent).error()) ==
        "error: cannot read '" + absent + "': no such file [file-read]\n");
  CHECK(render(read_file(folder.path()).error()) ==
        "error: cannot read '" + folder.path() + "': it is a directory [file-read]\n");
}

TEST_CASE("a file above the limit is refused before it is read, an endless one while it is",
          "[support][files]") {
  const TemporaryFolder folder;
  const DocumentLimits limits{.bytes = 10};
  CHECK(read_file(folder.write("ten", "0123456789"), limits));
  CHECK(read_file(folder.write("eleven", "0123456789a"), limits).error().front().id == "file-size");
  CHECK(read_file("/dev/zero", limits).error().front().id == "file-size");
  const std::string sparse = folder.write("sparse", "");
  std::filesystem::resize_file(sparse, std::uintmax_t{1} << 40);
  CHECK(read_file(sparse).error().front().id == "file-size");
}

}  // namespace mansard
