#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/diagnostic.hpp"

namespace CLI {
class App;
}

/// The verbs of `mansard`: one file a verb, listed in verbs.def.
namespace mansard::cli {

enum ExitCode { kOk = 0, kBadInput = 1, kUsage = 2, kToleranceExceeded = 3 };

/// What a verb says: text for standard output and standard error. The library never prints; `main`
/// does, once.
struct Outcome {
  std::string out;
  std::string err;
  int exit_code = kOk;
};

[[nodiscard]] Outcome failed(const Diagnostics& diagnostics);

/// A verb adds its subcommand and options to `app` and returns what runs when the user chose it.
using Run = std::function<Outcome()>;

#define VERB(name) [[nodiscard]] Run add_##name(CLI::App& app);
#include "cli/verbs.def"
#undef VERB

/// Parses a command line and runs the verb. Never throws, prints or exits.
[[nodiscard]] Outcome run(int argc, const char* const* argv);

/// The whole command line of `mansard`, for shell completion.
void build_app(CLI::App& app, std::vector<std::pair<CLI::App*, Run>>& verbs);

}  // namespace mansard::cli
