#include "cli/views/models.hpp"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/validators.hpp"
#include "cli/verb.hpp"

namespace mansard::cli {
namespace {

struct Options {
  ModelOptions model;
  std::vector<std::string> dimensions;
  Format format = Format::kTable;
};

Outcome list(const Options& options) {
  std::vector<ir::Graph> models;
  Diagnostics errors;
  for (const std::string& name : frontend::builtin_models()) {
    if (auto model = frontend::import_model(name, frontend::Phase::kDecode)) {
      models.push_back(std::move(*model));
    } else {
      errors.insert(errors.end(), model.error().begin(), model.error().end());
    }
  }
  return errors.empty() ? Outcome{.out = model_list(models, options.format)} : failed(errors);
}

Outcome show(const Options& options) {
  const auto model = read_model(options.model, options.dimensions);
  return model ? Outcome{.out = model_card(*model, options.format)} : failed(model.error());
}

}  // namespace

Run add_models(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("models", "What models are made of: list, show");
  verb->require_subcommand(0, 1);
  verb->footer(R"(Examples:
  mansard models
  mansard models show deepseek-v3
  mansard models show path/to/config.json --format json
  mansard models show path/to/model.onnx --set batch=8)");
  auto options = std::make_shared<Options>();
  add_format_option(*verb, options->format);

  CLI::App* list_command = verb->add_subcommand("list", "One line a built-in model (the default)");
  list_command->footer("Example:\n  mansard models list --format csv");
  add_format_option(*list_command, options->format);

  CLI::App* show_command =
      verb->add_subcommand("show", "Parameters, bytes by dtype, layers and their ops");
  show_command->footer("Example:\n  mansard models show llama3-8b");
  show_command->add_option("MODEL", options->model.model, "A built-in model or a file")->required();
  show_command
      ->add_option("--phase", options->model.phase, "Latent attention runs differently in each")
      ->check(one_of({"decode", "prefill"}))
      ->type_name("WORD")
      ->capture_default_str();
  show_command
      ->add_option("--set", options->dimensions,
                   "Give a dimension of an ONNX graph a value: batch=8")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  add_format_option(*show_command, options->format);

  return [=] { return show_command->parsed() ? show(*options) : list(*options); };
}

}  // namespace mansard::cli
