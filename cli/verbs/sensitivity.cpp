#include "cli/views/sensitivity.hpp"

#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/predictor.hpp"
#include "cli/verb.hpp"
#include "cli/views/numbers.hpp"
#include "model/sensitivity.hpp"
#include "support/suggest.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

struct Options {
  ModelOptions model;
  MachineOptions machine;
  std::vector<std::string> outputs;
  std::string goal;
  std::string by;
  Format format = Format::kTable;
};

/// The model on the machine, with what its outputs read.
struct Setup {
  model::Predictor predictor;
  std::vector<model::Output> outputs;
  ir::Bindings at;
};

Result<Setup> set_up(const Options& options) {
  auto predictor = build_predictor(options.model, options.machine);
  if (!predictor) {
    return failure(std::move(predictor.error()));
  }
  const model::Workload workload = workload_of(options.model);
  auto outputs = model::outputs_of(*predictor, workload);
  auto at = model::output_bindings(*predictor, workload);
  return Setup{std::move(*predictor), std::move(outputs), std::move(at)};
}

std::string title(const Options& options) {
  return fmt::format("{} {}, batch {}, context {} on {}", options.model.model, options.model.phase,
                     options.model.batch, options.model.context, options.machine.machines.front());
}

Outcome report(const Setup& setup, const Options& options) {
  SensitivityReport result{.title = title(options)};
  Diagnostics errors;
  for (const std::string& name : options.outputs) {
    const auto output = model::find_output(setup.outputs, name);
    if (!output) {
      errors.insert(errors.end(), output.error().begin(), output.error().end());
      continue;
    }
    result.parts.push_back({output->name, output->expr.dimension(),
                            ir::value(output->expr, setup.at),
                            model::sensitivities(setup.predictor, *output, setup.at)});
  }
  if (!errors.empty()) {
    return failed(errors);
  }
  switch (options.format) {
    case Format::kJson:
      return {.out = sensitivity_json(result)};
    case Format::kCsv:
      return {.out = sensitivity_csv(result)};
    case Format::kTable:
      break;
  }
  return {.out = sensitivity_table(result)};
}

/// A figure that the machine derives becomes a figure of its own, at the value that it has, so that
/// it can be solved for.
Result<Setup> with_parameter(Setup setup, Options options) {
  ir::ExprPool& pool = setup.predictor.cost().graph->pool();
  const hardware::Machine& machine = setup.predictor.machine();
  const hardware::Field* field = machine.find(options.by);
  if (pool.find_symbol(machine.resolve(options.by)) || field == nullptr) {
    return setup;
  }
  const auto value = machine.value(options.by);
  if (!value) {
    return failure(value.error());
  }
  options.machine.settings.push_back(
      fmt::format("{}={} {}", options.by, *value, unit_of(field->dimension)));
  return set_up(options);
}

Outcome solve(const Setup& first, const Options& options) {
  const std::size_t equals = options.goal.find('=');
  if (equals == std::string::npos) {
    return failed({{"goal",
                    fmt::format("--goal takes FIELD=VALUE, found '{}'", options.goal),
                    {},
                    "write 'tpot=10 ms'"}});
  }
  auto setup = with_parameter(first, options);
  if (!setup) {
    return failed(setup.error());
  }
  const auto output = model::find_output(setup->outputs, options.goal.substr(0, equals));
  if (!output) {
    return failed(output.error());
  }
  const auto file = std::make_shared<const SourceFile>(SourceFile{"--goal", options.goal});
  const auto goal =
      parse_measure(std::string_view(options.goal).substr(equals + 1), output->expr.dimension(),
                    {file, equals + 1, options.goal.size()});
  if (!goal) {
    return failed(goal.error());
  }
  ir::ExprPool& pool = setup->predictor.cost().graph->pool();
  const std::string path = setup->predictor.machine().resolve(options.by);
  const ir::Expr parameter = pool.find_symbol(path);
  if (!parameter || setup->at.find(path) == nullptr) {
    std::vector<std::string> names;
    for (const auto& [name, value] : setup->at.all()) {
      names.push_back(name);
    }
    const auto meant = did_you_mean(options.by, names);
    return failed({{"unknown-parameter",
                    fmt::format("{} does not depend on '{}'", output->name, options.by),
                    {},
                    meant ? fmt::format("did you mean '{}'?", *meant) : ""}});
  }
  const model::GoalAnswer answer = model::solve_goal(*output, parameter, *goal, setup->at);
  const Dimension& dimension = output->expr.dimension();
  const auto shown = [&](double value) { return format_measure(value, parameter.dimension(), 6); };
  if (options.format == Format::kJson) {
    return {.out =
                fmt::format("{{\"schema\": \"mansard.goal/1\", \"output\": \"{}\", \"goal\": {}, "
                            "\"present\": {}, \"parameter\": \"{}\", \"value\": {}}}\n",
                            output->name, *goal, answer.present, path,
                            answer.value ? fmt::format("{}", *answer.value) : "null")};
  }
  std::string text = fmt::format("{}\n{} is {}; ", title(options), output->name,
                                 format_measure(answer.present, dimension, 4));
  text += answer.value ? fmt::format("it reaches {} with {} = {} (now {})\n",
                                     format_measure(*goal, dimension, 4), path,
                                     shown(*answer.value), shown(*setup->at.find(path)))
                       : fmt::format(
                             "no {} from a thousandth to a thousandfold reaches {}: it stays "
                             "within {} to {}\n",
                             path, format_measure(*goal, dimension, 4),
                             format_measure(answer.least, dimension, 4),
                             format_measure(answer.greatest, dimension, 4));
  return {.out = text, .exit_code = answer.value ? kOk : kToleranceExceeded};
}

Outcome sensitivity(const Options& options) {
  const auto setup = set_up(options);
  if (!setup) {
    return failed(setup.error());
  }
  return options.goal.empty() ? report(*setup, options) : solve(*setup, options);
}

}  // namespace

Run add_sensitivity(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("sensitivity", "Which parameter moves an output, and how far it pays");
  verb->footer(R"(Examples:
  mansard sensitivity llama3-8b -m h200-sxm --batch 16
  mansard sensitivity deepseek-v3 -m h200-sxm --tp 8 --ep 8 --output tpot_s,usd_per_million_tokens
  mansard sensitivity llama3-8b -m h200-sxm --goal 'tpot=3 ms' --by hbm.bandwidth
With --goal, exit code 3 says that no value reaches it.)");
  auto options = std::make_shared<Options>();
  add_model_options(*verb, options->model);
  add_machine_options(*verb, options->machine);
  verb->add_option("--output", options->outputs, "Fields of the prediction, with commas")
      ->type_name("FIELD")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("bound_s,estimate_s")
      ->group("Output");
  verb->add_option("--goal", options->goal, "What a field is to become: 'tpot=10 ms'")
      ->type_name("FIELD=VALUE")
      ->group("Output");
  verb->add_option("--by", options->by,
                   "The parameter to reach the goal with: hbm.bandwidth, batch")
      ->type_name("PATH")
      ->group("Output");
  add_format_option(*verb, options->format);
  return [options] {
    if (options->outputs.empty()) {
      options->outputs = {"bound_s", "estimate_s"};
    }
    if (options->goal.empty() != options->by.empty()) {
      return failed({{"goal", "--goal and --by go together", {}, {}}});
    }
    return sensitivity(*options);
  };
}

}  // namespace mansard::cli
