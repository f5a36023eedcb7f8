#include <algorithm>

#include <fmt/format.h>

#include "cli/views/numbers.hpp"
#include "cli/views/prediction_text.hpp"
#include "cli/views/text_table.hpp"

namespace mansard::cli {
namespace {

using model::OpPrediction;
using model::Prediction;
using Predictions = std::span<const Prediction>;

constexpr auto kLeft = TextTable::Align::kLeft;
constexpr std::size_t kOpColumns = 22;

std::string usd_per_million(const Prediction& p) {
  const auto& usd = p.totals.usd_per_million_tokens;
  return usd ? ratio(*usd) : "?";
}

std::string memory_text(const Prediction& p) {
  return p.memory.capacity_bytes
             ? fmt::format("{:.0f} %", 100 * memory_used(p) / *p.memory.capacity_bytes)
             : "?";
}

std::string totals_table(Predictions predictions) {
  TextTable table;
  table.column("machine", kLeft);
  for (const char* heading :
       {"bound", "low", "estimate", "high", "tokens/s", "USD per\n1e6 tokens", "memory\nused"}) {
    table.column(heading);
  }
  table.column("largest share", kLeft);
  for (const Prediction& p : predictions) {
    const auto largest =
        std::ranges::max_element(p.ops, {}, [&](const OpPrediction& op) { return share(op, p); });
    const Prediction::Totals& t = p.totals;
    table.row({p.machine.name, seconds(t.bound_s), seconds(t.low_s), seconds(t.estimate_s),
               seconds(t.high_s), ratio(t.tokens_per_second), usd_per_million(p), memory_text(p),
               fmt::format("{} ({})", abbreviated(largest->name, kOpColumns), largest->binding)});
  }
  return table.render();
}

/// Whether every machine runs the same ops, as they do unless a plan depends on the machine.
bool same_ops(Predictions predictions) {
  return std::ranges::all_of(predictions, [&](const Prediction& p) {
    return std::ranges::equal(p.ops, predictions.front().ops, {}, &OpPrediction::name,
                              &OpPrediction::name);
  });
}

/// What binds an op stands beside its time while there is room for it.
std::string op_table(Predictions predictions, bool with_binding) {
  TextTable table;
  table.column("op, estimate in us", kLeft);
  table.column("x");
  for (const Prediction& p : predictions) {
    table.column(p.machine.name);
    if (with_binding) {
      table.column("bound by", kLeft);
    }
  }
  for (std::size_t i = 0; i < predictions.front().ops.size(); ++i) {
    const OpPrediction& first = predictions.front().ops[i];
    std::vector<std::string> cells{abbreviated(first.name, kOpColumns),
                                   fmt::format("{:.0f}", first.count)};
    for (const Prediction& p : predictions) {
      cells.push_back(microseconds(p.ops[i].estimate_s));
      if (with_binding) {
        cells.push_back(p.ops[i].binding);
      }
    }
    table.row(std::move(cells));
  }
  return table.render();
}

std::string ops(Predictions predictions) {
  if (!same_ops(predictions)) {
    return "";
  }
  std::string text = op_table(predictions, true);
  if (widest_line(text) > kPageWidth) {
    text = op_table(predictions, false);
  }
  return text + "\n";
}

}  // namespace

std::string prediction_comparison(Predictions predictions) {
  std::string text =
      heading(predictions.front()) + "\n\n" + totals_table(predictions) + "\n" + ops(predictions);
  for (const Prediction& p : predictions) {
    text += fmt::format("{}: {}\n", p.machine.name, calibration_text(p));
    text += assumption_lines(p, fmt::format("assumed, {}: ", p.machine.name));
  }
  return text + paragraph(kPredictionTerms);
}

}  // namespace mansard::cli
