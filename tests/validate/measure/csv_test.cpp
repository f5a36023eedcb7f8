#include "validate/measure/csv.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <unistd.h>

namespace mansard::measure {
namespace {

constexpr std::string_view kColumns[] = {"op", "m", "median_us", "source"};

/// A folder of its own that goes with the test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("mansard-measure-csv-test-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::filesystem::path file() const { return path_ / "out" / "suite.csv"; }

 private:
  std::filesystem::path path_;
};

Row matmul(int m) {
  return Row{{"op", "matmul"}}.set("m", m);
}

TEST_CASE("cells with commas and quotes survive being written and read") {
  const Row row{{"op", "a,b"}, {"m", "say \"hi\""}};
  const std::string text = "op,m,median_us,source\n" + csv_line(row, kColumns) + "\n";
  const std::vector<Row> rows = parse_csv(text);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].text("op") == "a,b");
  CHECK(rows[0].text("m") == "say \"hi\"");
  CHECK_FALSE(rows[0].has("source"));
}

TEST_CASE("a line's end of two characters is one, and empty lines are none") {
  const std::vector<Row> rows = parse_csv("op,m\r\nmatmul,1\r\n\r\nadd,2\r\n");
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].text("m") == "2");
}

TEST_CASE("a ragged row is refused") {
  CHECK_THROWS_AS(parse_csv("op,m\nmatmul\n"), UsageError);
}

TEST_CASE("a file taken up again knows what it holds, whatever its times") {
  const Folder folder;
  {
    ResultFile file(folder.file(), kColumns, false);
    file.append(matmul(1).set("median_us", 3.5));
  }
  const ResultFile again(folder.file(), kColumns, true);
  CHECK(again.has(matmul(1).set("median_us", 9.0)));
  CHECK_FALSE(again.has(matmul(2)));
}

TEST_CASE("half a line that a killed run left is dropped when the file is taken up") {
  const Folder folder;
  {
    ResultFile file(folder.file(), kColumns, false);
  }
  std::ofstream(folder.file(), std::ios::app) << "matmul,1,3.5,x\nmatmul,2";
  ResultFile again(folder.file(), kColumns, true);
  CHECK(again.has(matmul(1)));
  CHECK_FALSE(again.has(matmul(2)));
  again.append(matmul(3).set("median_us", 1.0));
  CHECK(read_csv(folder.file()).size() == 2);
}

TEST_CASE("results are not written over, nor mixed with those of other columns") {
  const Folder folder;
  constexpr std::string_view kOther[] = {"op", "n", "median_us"};
  {
    ResultFile file(folder.file(), kColumns, false);
  }
  CHECK_THROWS_AS(ResultFile(folder.file(), kColumns, false), UsageError);
  CHECK_THROWS_AS(ResultFile(folder.file(), kOther, true), UsageError);
}

TEST_CASE("a dimension that is absent or no whole number is refused with the row") {
  const Row row{{"op", "matmul"}, {"m", "1.5"}};
  CHECK_THROWS_WITH(row.integer("m"),
                    Catch::Contains("found '1.5'") && Catch::Contains("op=matmul"));
  CHECK_THROWS_AS(row.integer("n"), UsageError);
  CHECK(row.integer_or("n", 4) == 4);
}

}  // namespace
}  // namespace mansard::measure
