#include <vector>

#include <catch2/catch.hpp>

#include "cli/verb.hpp"

namespace mansard::cli {
namespace {

Outcome run_words(std::vector<const char*> words) {
  words.insert(words.begin(), "mansard");
  return run(static_cast<int>(words.size()), words.data());
}

TEST_CASE("a slip in a command line is a usage error that suggests the right word") {
  const Outcome verb = run_words({"predcit", "llama3-8b"});
  CHECK(verb.exit_code == kUsage);
  CHECK_THAT(verb.err, Catch::Contains("did you mean 'predict'?"));
  const Outcome option = run_words({"predict", "llama3-8b", "-m", "h200-sxm", "--contxt", "4"});
  CHECK(option.exit_code == kUsage);
  CHECK_THAT(option.err, Catch::Contains("did you mean '--context'?"));
  const Outcome word = run_words({"predict", "llama3-8b", "-m", "h200-sxm", "--phase", "decoed"});
  CHECK(word.exit_code == kUsage);
  CHECK_THAT(word.err, Catch::Contains("did you mean 'decode'?"));
}

TEST_CASE("options that repeat take one value at a time, so that arguments may follow") {
  const Outcome outcome = run_words(
      {"predict", "-m", "h200-sxm", "--set", "sm_count=120", "llama3-8b", "--format", "csv"});
  CHECK(outcome.err.empty());
  CHECK(outcome.exit_code == kOk);
}

TEST_CASE("every command has help with an example, and asking for it is no error") {
  for (const char* verb : {"predict", "machines", "models", "ops", "completion"}) {
    const Outcome outcome = run_words({verb, "--help"});
    CHECK(outcome.exit_code == kOk);
    CHECK_THAT(outcome.out, Catch::Contains("Example"));
    CHECK(outcome.err.empty());
  }
}

TEST_CASE("no command is a usage error") {
  CHECK(run_words({}).exit_code == kUsage);
}

}  // namespace
}  // namespace mansard::cli
