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

/// What makes a resource bind: "batch above 223".
struct Condition {
  std::string resource;
  std::string text;
};

/// "hbm.bandwidth above 67 TB/s or batch above 223: then matrix.bf16 binds; ...".
std::string joined(const std::vector<Condition>& conditions) {
  std::string text;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const bool last =
        i + 1 == conditions.size() || conditions[i + 1].resource != conditions[i].resource;
    text += conditions[i].text;
    text += last ? fmt::format(": then {} binds", conditions[i].resource) : " or ";
    text += last && i + 1 < conditions.size() ? "; " : "";
  }
  return text;
}

/// A kernel that keeps the resource that binds it busy for less than this is short of parallelism
/// or too small: its time is latency.
constexpr double kThroughputBound = 0.2;

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
    const ir::Op& node = cost_.graph->op(op.demand.op);
    const std::vector<Load> terms = loads(op, values_);
    std::string text = fmt::format("{}: {} x {:.0f}, {} of the step, bound by {}\n", p.name, p.kind,
                                   p.count, percent(share(p, prediction_)), p.binding);
    text += line("dims", dims(node));
    text += count_line("FLOP", node, node.def->flops, op.demand.flops.expr());
    text += count_line("vector", node, node.def->vector_flops, op.demand.vector_flops.expr());
    text += operands(op) + bound(terms) + intensity(p, terms) + changes(op, terms) + estimate(p);
    return text + confirmation(index, terms);
  }

 private:
  [[nodiscard]] double at(ir::Expr expression) const { return ir::value(expression, values_); }

  /// "m = batch * q_len = 16; n = 6144"; dims that are zero say nothing.
  std::string dims(const ir::Op& op) const {
    std::string text;
    for (const ir::DimDef& dim : op.def->dims) {
      const auto bound = op.dims.find(dim.name);
      if (bound == op.dims.end() || at(bound->second) == 0) {
        continue;
      }
      const std::string formula =
          bound->second.is_constant() ? "" : formula_text(bound->second) + " = ";
      text += fmt::format("{}{} = {}{:.12g}", text.empty() ? "" : "; ", dim.name, formula,
                          at(bound->second));
    }
    return text;
  }

  /// Values of the symbols of an op's definition.
  ir::Bindings dim_values(const ir::Op& op) const {
    ir::Bindings values;
    for (const ir::DimDef& dim : op.def->dims) {
      const auto bound = op.dims.find(dim.name);
      values.set(dim.name, bound == op.dims.end() ? dim.otherwise.value_or(0) : at(bound->second));
    }
    return values;
  }

  /// A count as the definition of the op's kind has it: "2 * b * m * n * k = 2 * 1 * 16 * 6144 *
  /// 4096 = 805 MFLOP".
  std::string count_line(const char* name, const ir::Op& op, ir::Expr definition,
                         ir::Expr count) const {
    if (!definition || !count || at(count) == 0) {
      return "";
    }
    return line(name, fmt::format("{} = {} = {}", formula_text(definition),
                                  formula_with_values(definition, dim_values(op)),
                                  measure(at(count), kFlop)));
  }

  std::string operands(const OpCost& op) const {
    using enum TextTable::Align;
    TextTable table = plain_table({kLeft, kLeft, kRight, kLeft, kLeft});
    for (const model::OperandDemand& operand : op.demand.operands) {
      const ir::Tensor& tensor = cost_.graph->tensor(operand.tensor);
      const double moved = at(operand.bytes.expr());
      if (moved == 0) {
        continue;
      }
      const double main = at(operand.main.expr());
      const bool twice = operand.def->access == ir::Access::kReadWrite;
      table.row({std::string(operand.def->name), std::string(tensor.dtype->name), bytes(moved),
                 place(main, moved),
                 fmt::format("{}{}", formula_text(operand.def->touched),
                             twice ? ", read and written" : "")});
    }
    return rows_behind("bytes", table);
  }

  /// Where an operand is: `main` of its `moved` bytes cross device memory.
  [[nodiscard]] std::string place(double main, double moved) const {
    if (main == 0) {
      return "on chip";
    }
    return main < moved ? "partly " + main_ : main_;
  }

  static std::string bound(const std::vector<Load>& terms) {
    using enum TextTable::Align;
    TextTable table = plain_table({kLeft, kRight, kLeft, kRight, kLeft, kRight, kLeft});
    for (const Load& term : terms) {
      table.row({term.resource, measure(term.demand, term.unit), "/", capacity_text(term), "=",
                 seconds(term.seconds), &term == terms.data() ? "binds" : ""});
    }
    return terms.empty() ? line("bound", "nothing is asked of any resource")
                         : rows_behind("bound", table);
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
    return line(
        "intensity",
        fmt::format("{} of {}, {} x {} the ridge point of {}, {}", measure(own, kFlopPerByte),
                    main_, ratio(below ? ridge / own : own / ridge), below ? "below" : "above",
                    engine->resource, measure(ridge, kFlopPerByte)));
  }

  std::string changes(const OpCost& op, const std::vector<Load>& terms) const {
    if (terms.size() < 2) {
      return "";
    }
    const Load& binds = terms.front();
    const Load& next =
        *std::ranges::max_element(terms.begin() + 1, terms.end(), {}, &Load::seconds);
    const double factor = binds.seconds / next.seconds;
    std::vector<Condition> conditions{
        {next.resource, fmt::format("{} above {}", capacity_path(binds.resource),
                                    measure(binds.capacity() * factor, binds.unit - kSecond))}};
    for (const char* symbol : {"batch", "context"}) {
      if (const auto found = crossing(op, values_, symbol)) {
        conditions.push_back(
            {found->resource,
             fmt::format("{} {} {}", symbol, found->above ? "above" : "below", found->at)});
      }
    }
    return line("to change", joined(conditions));
  }

  static std::string estimate(const OpPrediction& p) {
    std::string text;
    for (const model::TermValue& term : p.estimate_terms) {
      if (term.seconds > 0) {
        text +=
            fmt::format("{}{} {}", text.empty() ? "" : ", ", term.resource, seconds(term.seconds));
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
    const double busy = std::min(1.0, binds.expected / binds.capacity() / alone);
    const std::string metric = fmt::format("{} near {:.0f} %", binds.metric, 100 * busy);
    if (busy >= kThroughputBound) {
      return line("confirm", metric);
    }
    return line("confirm",
                fmt::format("latency, not throughput: gpu__time_duration.sum near {}, {}",
                            seconds(alone), metric));
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
    "dims: those of the op's kind (mansard ops KIND); FLOP, vector: contractions and elementwise "
    "arithmetic, "
    "as the kind's definition counts them and with the dims put in; bytes: operands, their dtype, "
    "bytes "
    "moved, where they are, elements touched; bound: the least that is asked of a resource / its "
    "capacity "
    "at the greatest clock = time; ridge point: rate of the engine / bandwidth of the device "
    "memory; to "
    "change: the least that makes another resource bind; confirm: what Nsight Compute should show "
    "of the "
    "kernel alone (a value far from it refutes the diagnosis)";

}  // namespace

std::string explanation(const Prediction& prediction, const model::Predictor& predictor,
                        const model::CostModel& kernel_alone) {
  const Explainer explainer(prediction, predictor, kernel_alone);
  const model::Workload& workload = prediction.workload;
  std::string text =
      fmt::format("{} on {}: batch = {}, context = {}, q_len = {}\n\n", prediction.model.name,
                  prediction.machine.name, workload.batch, workload.context, workload.q_len());
  for (std::size_t i = 0; i < prediction.ops.size(); ++i) {
    text += explainer.explain(i) + "\n";
  }
  return text + paragraph(kDefinitions);
}

}  // namespace mansard::cli
