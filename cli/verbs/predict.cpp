#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/options.hpp"
#include "cli/verb.hpp"
#include "cli/views/explain.hpp"
#include "cli/views/op_rows.hpp"
#include "cli/views/plot/roofline.hpp"
#include "cli/views/prediction.hpp"
#include "support/units.hpp"
#include "validate/op_rows.hpp"

namespace mansard::cli {
namespace {

struct Options {
  ModelOptions model;
  MachineOptions machine;
  Format format = Format::kTable;
  std::string slo;
  std::string plot;
  std::string ops_out;
  bool explain = false;
};

/// What is the same for every machine.
struct Question {
  ir::Graph graph;
  model::Plan plan;
  std::optional<model::Objective> objective;
};

/// What was asked of one machine.
struct Answer {
  model::Prediction prediction;
  std::string explanation;
  Roofline roofline;
  std::string ops;
};

void append(Diagnostics& all, Diagnostics more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Result<std::optional<model::Objective>> parse_objective(const std::string& text) {
  constexpr std::string_view kName = "tpot=";
  if (text.empty()) {
    return std::nullopt;
  }
  if (!text.starts_with(kName)) {
    return failure("slo", fmt::format("--slo takes tpot=TIME, found '{}'", text), {},
                   "write tpot=50ms");
  }
  const auto source = std::make_shared<SourceFile>(SourceFile{"--slo", text});
  const auto tpot = parse_measure(std::string_view(text).substr(kName.size()), kSecond,
                                  {source, kName.size(), text.size()});
  if (!tpot) {
    return failure(tpot.error());
  }
  return model::Objective{*tpot};
}

/// What does not fit is refused, with what would.
Diagnostic does_not_fit(const model::Prediction& p) {
  const model::Prediction::Memory& m = p.memory;
  const double needed = m.weight_bytes + m.kv_bytes + m.activation_bytes;
  std::string hint =
      m.largest_batch
          ? fmt::format("the largest batch that fits at this context is {}", *m.largest_batch)
          : std::string("not even batch 1 fits at this context");
  hint += m.largest_context
              ? fmt::format("; the largest context at this batch is {}", *m.largest_context)
              : std::string("; no context fits at this batch");
  return {.id = "memory",
          .message = fmt::format(
              "{} needs {} per GPU (weights {}, KV {}, activations {}), {} has {} usable",
              p.model.name, format_measure(needed, kByte), format_measure(m.weight_bytes, kByte),
              format_measure(m.kv_bytes, kByte), format_measure(m.activation_bytes, kByte),
              p.machine.name, format_measure(m.capacity_bytes.value_or(0), kByte)),
          .label = hint};
}

/// The same model as a profiler times it: kernels without what their launch takes.
Result<model::CostModel> kernel_alone(const model::Predictor& predictor,
                                      const model::Calibration& calibration,
                                      const Options& options) {
  model::CostOptions cost = cost_options(options.machine);
  cost.mode = model::Mode::kKernel;
  return model::build_cost_model(*predictor.cost().graph, predictor.machine(), calibration, cost);
}

Result<Answer> ask(const std::string& machine_name, const Question& question,
                   const Options& options) {
  const auto machine = load(machine_name, options.machine);
  if (!machine) {
    return failure(machine.error());
  }
  const auto calibration = load_calibration(*machine, options.machine);
  if (!calibration) {
    return failure(calibration.error());
  }
  const auto predictor = model::Predictor::build(question.graph, *machine, *calibration,
                                                 question.plan, cost_options(options.machine));
  if (!predictor) {
    return failure(predictor.error());
  }
  Answer answer{.prediction = predictor->predict(workload_of(options.model))};
  if (!answer.prediction.memory.fits) {
    return failure({does_not_fit(answer.prediction)});
  }
  if (question.objective) {
    answer.prediction.slo_batch =
        predictor->largest_batch(answer.prediction.workload, *question.objective).value_or(0);
  }
  if (!options.plot.empty()) {
    answer.roofline = roofline(*machine, answer.prediction);
  }
  if (!options.ops_out.empty()) {
    const model::Workload& workload = answer.prediction.workload;
    answer.ops = op_rows_json(
        answer.prediction,
        validate::op_rows(*predictor->cost().graph, workload.bindings(), workload.phase));
  }
  if (options.explain) {
    const auto kernel = kernel_alone(*predictor, *calibration, options);
    if (!kernel) {
      return failure(kernel.error());
    }
    answer.explanation = explanation(answer.prediction, *predictor, *kernel);
  }
  return answer;
}

/// Settings that name a dimension of the model are its own; the rest are the machine's.
Result<Question> question_of(Options& options) {
  auto plan = plan_of(options.model);
  auto graph = load_model(options.model, options.machine.settings);
  auto objective = parse_objective(options.slo);
  Diagnostics errors;
  if (!plan) {
    append(errors, std::move(plan.error()));
  }
  if (!graph) {
    append(errors, std::move(graph.error()));
  }
  if (!objective) {
    append(errors, std::move(objective.error()));
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  return Question{std::move(*graph), *plan, *objective};
}

Outcome shown(const std::vector<Answer>& answers, const Options& options) {
  std::vector<model::Prediction> predictions;
  std::vector<Roofline> panels;
  std::string explanations;
  for (const Answer& answer : answers) {
    predictions.push_back(answer.prediction);
    panels.push_back(answer.roofline);
    explanations += answer.explanation.empty() ? "" : "\n" + answer.explanation;
  }
  if (!options.plot.empty()) {
    if (const auto written = write_file("--plot", options.plot, roofline_svg(panels)); !written) {
      return failed(written.error());
    }
  }
  if (!options.ops_out.empty()) {
    if (const auto written = write_file("--ops-out", options.ops_out, answers.front().ops);
        !written) {
      return failed(written.error());
    }
  }
  switch (options.format) {
    case Format::kJson:
      return {.out = prediction_json(predictions)};
    case Format::kCsv:
      return {.out = prediction_csv(predictions)};
    case Format::kTable:
      break;
  }
  return {.out = prediction_table(predictions) + explanations};
}

Outcome predict(Options options) {
  const auto question = question_of(options);
  if (!question) {
    return failed(question.error());
  }
  std::vector<Answer> answers;
  Diagnostics errors;
  for (const std::string& machine : options.machine.machines) {
    auto answer = ask(machine, *question, options);
    if (answer) {
      answers.push_back(std::move(*answer));
    } else {
      append(errors, std::move(answer.error()));
    }
  }
  return errors.empty() ? shown(answers, options) : failed(errors);
}

}  // namespace

Run add_predict(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("predict", "What a step of a model costs on machines");
  verb->footer(R"(Examples:
  mansard predict llama3-8b --machine h200-sxm --batch 16
  mansard predict llama3-8b -m h200-sxm --set hbm.bandwidth='8 TB/s' --explain
  mansard predict llama3-70b -m h100-sxm,b200-sxm --tp 4 --weights fp8 --slo tpot=30ms
  mansard predict deepseek-v3 -m h200-sxm --tp 8 --ep 8 --batch 64 --plot roofline.svg
  mansard predict path/to/config.json -m chips/next.yaml --phase prefill --format json
  mansard predict path/to/model.onnx -m h200-sxm --set batch=8)");
  auto options = std::make_shared<Options>();
  add_model_options(*verb, options->model);
  add_machine_options(*verb, options->machine);
  verb->add_option("--slo", options->slo, "Also find the largest batch within it: tpot=50ms")
      ->type_name("tpot=TIME")
      ->group("Output");
  verb->add_flag(
          "--explain", options->explain,
          "Also show how each op comes to its bound, what would change it, and which profiler "
          "metric would confirm it")
      ->group("Output");
  verb->add_option("--plot", options->plot, "Also draw the hierarchical roofline as SVG")
      ->type_name("FILE")
      ->group("Output");
  verb->add_option("--ops-out", options->ops_out,
                   "Also write the ops of the step (on the first machine) with their shapes, for "
                   "mansard-measure suite --ops")
      ->type_name("FILE")
      ->group("Output");
  add_format_option(*verb, options->format);
  return [options] { return predict(*options); };
}

}  // namespace mansard::cli
