#include "cli/views/explain.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/views/formula.hpp"
#include "cli/views/loads.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/prediction_text.hpp"
#include "cli/views/text_table.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

using model::OpCost;
using model::OpPrediction;
using model::Prediction;

constexpr std::size_t kIndent = 13;
constexpr Dimension kFlopPerByte{.flop = 1, .byte = -1};

std::string line(std::string_view name, std::string_view text) {
  return text.empty() ? "" : fmt::format("  {:<{}}{}", name, kIndent - 2, paragraph(text, kIndent));
}

/// A table without its headings, indented behind `name`.
std::string rows_behind(std::string_view name, const TextTable& table) {
  const std::string rows = table.render(kPageWidth - kIndent);
  std::string text;
  for (std::size_t begin = rows.find('\n') + 1; begin < rows.size();) {
    const std::size_t end = rows.find('\n', begin) + 1;
    text += text.empty() ? fmt::format("  {:<{}}", name, kIndent - 2) : std::string(kIndent, ' ');
    text += rows.substr(begin, end - begin);
    begin = end;
  }
  return text;
}

TextTable plain_table(std::initializer_list<TextTable::Align> alignments) {
  TextTable table;
  for (const TextTable::Align align : alignments) {
    table.column("", align);
  }
  return table;
}

std::string capacity_text(const Load& load) {
  return measure(load.capacity(), load.unit - kSecond);
}

/// Explains the ops of one prediction.
class Explainer {
 public:
  Explainer(const Prediction& prediction, const model::Predictor& predictor,
            const model::CostModel& kernel_alone)
      : prediction_(prediction),
        cost_(predictor.cost()),
        kernel_(kernel_alone),
        main_(predictor.machine().main().name),
        values_(cost_.bindings(prediction.workload.bindings())),
        kernel_values_(kernel_.bindings(prediction.workload.bindings())) {
    const auto bandwidth = predictor.machine().known("main.bandwidth");
    main_bandwidth_ = bandwidth.value_or(0);
  }

  std::string explain(std::size_t index) const {
    const OpCost& op = cost_.ops[index];
    const OpPrediction& p = prediction_.ops[index];
    const std::vector<Load> terms = loads(cost_, op, main_, values_);
    std::string text = fmt::format("{}: {} x {:.0f}, {} of the step, bound by {}\n", p.name, p.kind,
                                   p.count, percent(share(p, prediction_)), p.binding);
    text += count_line("FLOP", op.demand.flops.expr());
    text += count_line("vector FLOP", op.demand.vector_flops.expr());
    text += operands(op) + bound(terms) + intensity(p, terms) + changes(op, terms) + estimate(p);
    return text + confirmation(index, terms);
  }

 private:
  [[nodiscard]] double at(ir::Expr expression) const { return ir::value(expression, values_); }

  std::string count_line(const char* name, ir::Expr count) const {
    if (!count || at(count) == 0) {
      return "";
    }
    return line(name, fmt::format("{} = {} = {}", formula_text(count),
                                  formula_with_values(count, values_),
                                  measure(at(count), kFlop)));
  }

  std::string operands(const OpCost& op) const {
    using enum TextTable::Align;
    TextTable table = plain_table({kLeft, kLeft, kRight, kLeft, kLeft});
    for (const model::OperandDemand& operand : op.demand.operands) {
      const ir::Tensor& tensor = cost_.graph->tensor(operand.tensor);
      const double moved = at(operand.bytes.expr());
      const double main = at(operand.main.expr());
      const std::string where = main == 0 ? "on chip" : main < moved ? "partly " + main_ : main_;
      table.row({std::string(operand.def->name), std::string(tensor.dtype->name), bytes(moved), where,
                 formula_text(operand.bytes.expr())});
    }
    return rows_behind("bytes", table);
  }

  static std::string bound(const std::vector<Load>& terms) {
    using enum TextTable::Align;
    TextTable table = plain_table({kLeft, kRight, kLeft, kRight, kLeft, kRight, kLeft});
    for (const Load& term : terms) {
      table.row({term.resource, measure(term.demand, term.unit), "/", capacity_text(term), "=",
                 seconds(term.seconds), &term == terms.data() ? "binds" : ""});
    }
    return terms.empty() ? line("bound", "nothing is asked of any resource") : rows_behind("bound", table);
  }

  /// The engine's ridge point with the device memory, and on which side of it the op lies.
  std::string intensity(const OpPrediction& p, const std::vector<Load>& terms) const {
    const auto engine = std::ranges::find(terms, kFlop, &Load::unit);
    if (engine == terms.end() || main_bandwidth_ == 0 || p.main_bytes == 0) {
      return "";
    }
    const double ridge = engine->capacity() / main_bandwidth_;
    const double own = engine->demand / p.main_bytes;
    const bool below = own < ridge;
    return line("intensity",
                fmt::format("{} of {}, {} x {} the ridge point of {}, {}", measure(own, kFlopPerByte),
                            main_, ratio(below ? ridge / own : own / ridge), below ? "below" : "above",
                            engine->resource, measure(ridge, kFlopPerByte)));
  }

  std::string changes(const OpCost& op, const std::vector<Load>& terms) const {
    if (terms.size() < 2) {
      return "";
    }
    const Load& binds = terms.front();
    const Load& next = *std::ranges::max_element(terms.begin() + 1, terms.end(), {}, &Load::seconds);
    const double factor = binds.seconds / next.seconds;
    std::string text = fmt::format("{} binds with {} above {}", next.resource,
                                   capacity_path(binds.resource),
                                   measure(binds.capacity() * factor, binds.unit - kSecond));
    for (const char* symbol : {"batch", "context"}) {
      if (const auto found = crossing(op, values_, symbol)) {
        text += fmt::format("; {} with {} {} {}", found->resource, symbol,
                            found->above ? "above" : "below", found->at);
      }
    }
    return line("to change", text);
  }

  static std::string estimate(const OpPrediction& p) {
    std::string text;
    for (const model::TermValue& term : p.estimate_terms) {
      if (term.seconds > 0) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", term.resource, seconds(term.seconds));
      }
    }
    return line("estimate", fmt::format("{} ({} to {}), from {}", seconds(p.estimate_s),
                                        seconds(p.low_s), seconds(p.high_s), text));
  }

  /// What a profiler should show for the resource that binds, if the diagnosis is right.
  std::string confirmation(std::size_t index, const std::vector<Load>& terms) const {
    if (terms.empty() || terms.front().metric.empty()) {
      return "";
    }
    const Load& binds = terms.front();
    const double alone = ir::value(kernel_.ops[index].estimate.expr(), kernel_values_);
    const double busy = binds.expected / binds.capacity() / alone;
    return line("confirm", fmt::format("{} near {:.0f} %", binds.metric, 100 * std::min(1.0, busy)));
  }

  const Prediction& prediction_;
  const model::CostModel& cost_;
  const model::CostModel& kernel_;
  std::string main_;
  ir::Bindings values_;
  ir::Bindings kernel_values_;
  double main_bandwidth_ = 0;
};

constexpr std::string_view kDefinitions =
    "FLOP and bytes: as the op's definition gives them, then with the numbers put in; bound: the least "
    "that is asked of a resource / its capacity at the greatest clock; ridge point: capacity of the "
    "engine / bandwidth of the device memory; to change: the least that makes another resource bind; "
    "confirm: what Nsight Compute should show of the kernel (a value far below refutes the diagnosis)";

}  // namespace

std::string explanation(const Prediction& prediction, const model::Predictor& predictor,
                        const model::CostModel& kernel_alone) {
  const Explainer explainer(prediction, predictor, kernel_alone);
  const model::Workload& workload = prediction.workload;
  std::string text = fmt::format("{} on {}: batch = {}, context = {}, q_len = {}\n\n",
                                 prediction.model.name, prediction.machine.name, workload.batch,
                                 workload.context, workload.q_len());
  for (std::size_t i = 0; i < prediction.ops.size(); ++i) {
    text += explainer.explain(i) + "\n";
  }
  return text + paragraph(kDefinitions);
}

}  // namespace mansard::cli
