#include "validate/measure/options.hpp"

#include <catch2/catch.hpp>

namespace mansard::measure {
namespace {

Options parse(std::vector<const char*> arguments) {
  return parse_options(arguments);
}

TEST_CASE("a probes command is read") {
  const Options options =
      parse({"probes", "-o", "out", "--budget", "120s", "--only", "hbm,launch", "--resume"});
  CHECK(options.verb == Verb::kProbes);
  CHECK(options.out == "out");
  CHECK(options.budget == Seconds(120));
  CHECK(options.only == std::vector<std::string>{"hbm", "launch"});
  CHECK(options.resume);
}

TEST_CASE("a kernel command is read") {
  const Options options =
      parse({"kernel", "k.ptx", "--entry", "saxpy", "--grid", "1056", "--block", "32,8", "--shared",
             "1024", "--params", "n,a", "--args", "n=4", "-o", "out"});
  CHECK(options.verb == Verb::kKernel);
  CHECK(options.kernel.file == "k.ptx");
  CHECK(options.kernel.grid.x == 1056);
  CHECK(options.kernel.grid.y == 1);
  CHECK(options.kernel.block.y == 8);
  CHECK(options.kernel.shared_bytes == 1024);
  CHECK(options.kernel.params == std::vector<std::string>{"n", "a"});
  CHECK(options.kernel.args == "n=4");
}

TEST_CASE("times have units") {
  CHECK(parse_duration("90") == Seconds(90));
  CHECK(parse_duration("500ms") == Seconds(0.5));
  CHECK(parse_duration("2min") == Seconds(120));
  CHECK_THROWS_AS(parse_duration("2 weeks"), UsageError);
  CHECK_THROWS_AS(parse_duration("-1s"), UsageError);
}

TEST_CASE("grids are read with commas or as the launches file writes them") {
  CHECK(parse_dim3("256x1024x1").y == 1024);
  CHECK(parse_dim3("4,3,2").z == 2);
  CHECK_THROWS_AS(parse_dim3(""), UsageError);
  CHECK_THROWS_AS(parse_dim3("1,2,3,4"), UsageError);
}

TEST_CASE("a bad command is refused") {
  CHECK_THROWS_AS(parse({}), UsageError);
  CHECK_THROWS_AS(parse({"probe"}), UsageError);
  CHECK_THROWS_AS(parse({"probes"}), UsageError);
  CHECK_THROWS_AS(parse({"probes", "-o"}), UsageError);
  CHECK_THROWS_AS(parse({"probes", "-o", "out", "--fast"}), UsageError);
  CHECK_THROWS_AS(parse({"kernel", "-o", "out", "k.ptx"}), UsageError);
}

TEST_CASE("listing and help need no folder") {
  CHECK(parse({"probes", "--list"}).list);
  CHECK(parse({"suite", "--help"}).verb == Verb::kHelp);
}

}  // namespace
}  // namespace mansard::measure
