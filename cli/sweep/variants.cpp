#include "cli/sweep/variants.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/predictor.hpp"
#include "cli/sweep/axes.hpp"
#include "model/condition.hpp"

namespace mansard::cli {
namespace {

/// Diagnostics that say that the question was wrong, not that this combination cannot run.
bool is_mistake(const Diagnostic& diagnostic) {
  constexpr std::array kIds{"axis", "condition", "llvm", "llvm-library", "file-read"};
  return diagnostic.id.starts_with("unknown-") ||
         std::ranges::find(kIds, diagnostic.id) != kIds.end();
}

std::vector<std::string> labels_at(const model::SweepSpace& space,
                                   std::span<const std::uint64_t> places) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const model::Axis& axis : space.structural[i]) {
      labels.push_back(axis.text(places[i]));
    }
  }
  return labels;
}

/// Symbols by the names that the axes give them: "main.bandwidth" where the machine has
/// "hbm.bandwidth".
ir::Expr renamed(ir::Expr e, const hardware::Machine& machine, const model::SweepSpace& space) {
  ir::ExprPool& pool = e.pool();
  return ir::substitute(e, pool, [&](const ir::ExprNode& symbol) -> ir::Expr {
    for (const model::AxisGroup& group : space.symbolic) {
      for (const model::Axis& axis : group) {
        if (axis.name != symbol.symbol && machine.resolve(axis.name) == symbol.symbol) {
          return pool.symbol(axis.name, symbol.dimension);
        }
      }
    }
    return {};
  });
}

/// Gives the question the value of an axis at a place: an option of its own, else a figure.
Result<void> apply_axis(Question& question, const model::Axis& axis, std::uint64_t place) {
  const Setting* setting = find_setting(axis.name);
  if (setting == nullptr) {
    question.machine.settings.push_back(fmt::format("{}={}", axis.name, setting_text(axis, place)));
    return {};
  }
  if (!setting->set(question, axis.text(place))) {
    return failure("axis", fmt::format("'{}' is no value for {}", axis.text(place), axis.name));
  }
  return {};
}

}  // namespace

model::SweepVariant VariantMaker::make(std::span<const std::uint64_t> places) {
  model::SweepVariant variant{.labels = labels_at(space_, places)};
  auto function = build(places);
  if (function) {
    variant.function = std::move(*function);
    return variant;
  }
  const Diagnostics& found = function.error();
  variant.infeasible = found.front().message;
  if (errors_.empty()) {
    std::ranges::copy_if(found, std::back_inserter(errors_), is_mistake);
  }
  return variant;
}

Result<Question> VariantMaker::question_at(std::span<const std::uint64_t> places) const {
  Question question = question_;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const model::Axis& axis : space_.structural[i]) {
      if (auto applied = apply_axis(question, axis, places[i]); !applied) {
        return failure(std::move(applied.error()));
      }
    }
  }
  // So that the machine says that it was changed; the values follow point by point.
  for (const model::AxisGroup& group : space_.symbolic) {
    for (const model::Axis& axis : group) {
      if (auto applied = apply_axis(question, axis, 0); !applied) {
        return failure(std::move(applied.error()));
      }
    }
  }
  return question;
}

Result<std::shared_ptr<const ir::Graph>> VariantMaker::graph_of(const ModelOptions& options) {
  auto& known = graphs_[{options.model, options.phase}];
  if (!known) {
    auto graph = load_model(options);
    if (!graph) {
      return failure(std::move(graph.error()));
    }
    known = std::make_shared<const ir::Graph>(std::move(*graph));
  }
  return known;
}

Result<model::BatchFunction> VariantMaker::build(std::span<const std::uint64_t> places) {
  const auto question = question_at(places);
  if (!question) {
    return failure(question.error());
  }
  const auto predictor =
      build_predictor(graph_of(question->model).map([](const auto& known) { return &*known; }),
                      question->model, question->machine);
  if (!predictor) {
    return failure(predictor.error());
  }
  return compile(*predictor, workload_of(question->model));
}

Result<model::BatchFunction> VariantMaker::compile(const model::Predictor& predictor,
                                                   const model::Workload& workload) {
  const auto all = model::outputs_of(predictor, workload);
  ir::ExprPool& pool = predictor.cost().graph->pool();
  const auto fits = model::find_output(all, "memory.fits");
  std::vector<ir::Expr> roots{fits->expr, pool.constant(1)};
  std::vector<OutputName> outputs;
  Diagnostics errors;
  if (!wanted_.where.empty()) {
    auto condition = model::parse_condition(wanted_.where, all, pool);
    if (condition) {
      roots[1] = *condition;
    } else {
      errors = std::move(condition.error());
    }
  }
  for (const std::string& name : wanted_.outputs) {
    auto output = model::find_output(all, name);
    if (output) {
      roots.push_back(output->expr);
      outputs.push_back({output->name, output->expr.dimension()});
    } else {
      errors.insert(errors.end(), output.error().begin(), output.error().end());
    }
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  for (ir::Expr& root : roots) {
    root = renamed(root, predictor.machine(), space_);
  }
  outputs_ = std::move(outputs);
  return model::BatchFunction::make(roots, space_.symbols(),
                                    model::output_bindings(predictor, workload),
                                    {.interpret = wanted_.interpret});
}

}  // namespace mansard::cli
