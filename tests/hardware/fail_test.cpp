#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/hardware/machines.hpp"

namespace mansard::hardware {
namespace {

namespace fs = std::filesystem;

/// A file of one misuse, and what is to be said about it: the comment lines "#| ..." at its end.
struct Misuse {
  std::string name;
  std::string text;
  std::string expected;
};

Misuse read_misuse(const fs::path& path) {
  Misuse misuse{.name = path.filename().string()};
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#|")) {
      misuse.expected += line.substr(std::min<std::size_t>(line.size(), 3)) + "\n";
    } else {
      misuse.text += line + "\n";
    }
  }
  return misuse;
}

std::vector<Misuse> misuses() {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(__FILE__).parent_path() / "fail")) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<Misuse> found;
  std::ranges::transform(paths, std::back_inserter(found), read_misuse);
  return found;
}

}  // namespace

TEST_CASE("each misuse of a machine file gets its message", "[hardware]") {
  const std::vector<Misuse> all = misuses();
  CHECK(all.size() >= 20);
  for (const Misuse& misuse : all) {
    CAPTURE(misuse.name);
    CHECK(error_of(read_machine(parsed(misuse.text, misuse.name))) == misuse.expected);
  }
}

}  // namespace mansard::hardware
