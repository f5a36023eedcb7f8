#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "validate/measure/options.hpp"
#include "validate/probes/probes.hpp"
#include "validate/suite/suite.hpp"

namespace mansard::measure {
namespace {

int print_usage() {
  std::fputs(std::string(usage()).c_str(), stdout);
  return 0;
}

int run(const Options& options) {
  switch (options.verb) {
    case Verb::kProbes:
      return run_probes(options);
    case Verb::kSuite:
      return run_suite(options);
    case Verb::kKernel:
      return run_kernel(options);
    case Verb::kHelp:
      break;
  }
  return print_usage();
}

int run(std::span<const char* const> arguments) {
  constexpr int kFailed = 1;
  constexpr int kUsage = 2;
  try {
    return run(parse_options(arguments));
  } catch (const UsageError& error) {
    std::fprintf(stderr, "mansard-measure: %s (see --help)\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mansard-measure: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace
}  // namespace mansard::measure

int main(int argc, char** argv) {
  return mansard::measure::run({argv + 1, static_cast<std::size_t>(argc - 1)});
}
