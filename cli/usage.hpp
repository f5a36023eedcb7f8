#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace mansard::cli {

/// What is wrong with a command line that `app` could not parse, with did-you-mean and where to
/// read more.
[[nodiscard]] std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace mansard::cli
