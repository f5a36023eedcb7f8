#include "cli/views/text_table.hpp"

#include <catch2/catch.hpp>

namespace mansard::cli {
namespace {

using Align = TextTable::Align;

TEST_CASE("a table aligns numbers to the right and text to the left, without trailing spaces") {
  TextTable table;
  table.column("op", Align::kLeft);
  table.column("time");
  table.column("by", Align::kLeft);
  table.row({"matmul", "9.5", "hbm"});
  table.row({"add", "120", ""});
  CHECK(table.render() ==
        "op      time  by\n"
        "matmul   9.5  hbm\n"
        "add      120\n");
}

TEST_CASE("a heading of several lines stands at the foot of the headings") {
  TextTable table;
  table.column("op", Align::kLeft);
  table.column("bound\nus");
  table.row({"matmul", "9.5"});
  CHECK(table.render() ==
        "        bound\n"
        "op         us\n"
        "matmul    9.5\n");
}

TEST_CASE("a rule is as wide as the table") {
  TextTable table;
  table.column("a", Align::kLeft);
  table.column("b");
  table.row({"x", "1"});
  table.rule();
  table.row({"total", "1"});
  CHECK(table.render() ==
        "a      b\n"
        "x      1\n"
        "--------\n"
        "total  1\n");
}

TEST_CASE("words of the last column that do not fit go to further lines") {
  TextTable table;
  table.column("name", Align::kLeft);
  table.column("note", Align::kLeft);
  table.row({"hbm", "as the driver reports it"});
  CHECK(table.render(22) ==
        "name  note\n"
        "hbm   as the driver\n"
        "      reports it\n");
}

TEST_CASE("a note stands below its row, indented") {
  TextTable table;
  table.column("name", Align::kLeft);
  table.row({"hbm"});
  table.note("as the driver reports it");
  CHECK(table.render(20) ==
        "name\n"
        "hbm\n"
        "    as the driver\n"
        "    reports it\n");
}

TEST_CASE("width counts characters, not bytes") {
  CHECK(text_width("\xc2\xb5s") == 2);  // a micro sign and an s
  TextTable table;
  table.column("t");
  table.row({"\xc2\xb5s"});
  table.row({"ns"});
  CHECK(table.render() == " t\n\xc2\xb5s\nns\n");
}

TEST_CASE("a word longer than the width gets a line of its own") {
  CHECK(wrapped("a verylongword b", 6) == std::vector<std::string>{"a", "verylongword", "b"});
  CHECK(wrapped("", 6) == std::vector<std::string>{""});
  CHECK(paragraph("one two three", 2, 9) == "one two\n  three\n");
}

}  // namespace
}  // namespace mansard::cli
