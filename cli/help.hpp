#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace mansard::cli {

/// Lays out `--help`: one line an option, its choices and default behind the description, at most
/// 100 columns wide.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace mansard::cli
