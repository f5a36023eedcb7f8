#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/verb.hpp"
#include "cli/views/op_kinds.hpp"
#include "ir/op_def.hpp"
#include "support/suggest.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::vector<std::string> kinds;
  bool dtypes = false;
  Format format = Format::kTable;
};

Diagnostic unknown_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const ir::OpDef& kind : ir::op_registry()) {
    names.emplace_back(kind.name);
  }
  const auto meant = did_you_mean(name, names);
  return {.id = "unknown-op",
          .message = fmt::format("there is no op kind '{}'", name),
          .label = meant ? fmt::format("did you mean '{}'?", *meant) : "see: mansard ops"};
}

Outcome ops(const Options& options) {
  if (options.dtypes) {
    return {.out = dtype_list(options.format)};
  }
  if (options.kinds.empty()) {
    return {.out = op_kinds(ir::op_registry(), options.format)};
  }
  std::vector<ir::OpDef> kinds;
  Diagnostics errors;
  for (const std::string& name : options.kinds) {
    if (const ir::OpDef* kind = ir::find_op(name)) {
      kinds.push_back(*kind);
    } else {
      errors.push_back(unknown_kind(name));
    }
  }
  return errors.empty() ? Outcome{.out = op_kinds(kinds, options.format)} : failed(errors);
}

}  // namespace

Run add_ops(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("ops", "What each kind of op computes and costs; the number formats");
  verb->footer(R"(Examples:
  mansard ops
  mansard ops matmul attention
  mansard ops --dtypes)");
  auto options = std::make_shared<Options>();
  verb->add_option("KIND", options->kinds, "Only these kinds");
  verb->add_flag("--dtypes", options->dtypes, "The number formats instead");
  add_format_option(*verb, options->format);
  return [options] { return ops(*options); };
}

}  // namespace mansard::cli
