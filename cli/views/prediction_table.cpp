#include <algorithm>

#include <fmt/format.h>

#include "cli/views/numbers.hpp"
#include "cli/views/prediction.hpp"
#include "cli/views/prediction_text.hpp"
#include "cli/views/text_table.hpp"

namespace mansard::cli {
namespace {

using model::OpPrediction;
using model::Prediction;

constexpr auto kLeft = TextTable::Align::kLeft;
/// Columns of an op's name, as many as leave the table within the page.
constexpr std::size_t kMostOpColumns = 36;
constexpr std::size_t kLeastOpColumns = 16;

std::string op_table(const Prediction& p, std::size_t name_columns) {
  TextTable table;
  table.column("op", kLeft);
  for (const char* heading : {"x", "FLOP", "bytes", "FLOP\nper B", "bound\nus", "low\nus",
                              "estimate\nus", "high\nus", "share\n%"}) {
    table.column(heading);
  }
  table.column("bound by", kLeft);
  const Prediction::Totals& t = p.totals;
  for (const OpPrediction& op : p.ops) {
    table.row({abbreviated(op.name, name_columns), fmt::format("{:.0f}", op.count), flops(op.flops),
               bytes(op.bytes), op.flops == 0 ? "-" : ratio(op.intensity), microseconds(op.bound_s),
               microseconds(op.low_s), microseconds(op.estimate_s), microseconds(op.high_s),
               fmt::format("{:.1f}", 100 * share(op, p)), op.binding});
  }
  table.rule();
  table.row({"total", "", flops(t.flops), bytes(t.bytes), ratio(t.flops / t.bytes),
             microseconds(t.bound_s), microseconds(t.low_s), microseconds(t.estimate_s),
             microseconds(t.high_s), "100.0", ""});
  return table.render();
}

std::string fitting_op_table(const Prediction& p) {
  std::size_t columns = kMostOpColumns;
  std::string table = op_table(p, columns);
  while (widest_line(table) > kPageWidth && columns > kLeastOpColumns) {
    table = op_table(p, --columns);
  }
  return table;
}

std::string throughput_lines(const Prediction& p) {
  const Prediction::Totals& t = p.totals;
  std::string text =
      fmt::format("step        {}, between {} and {}, at least {}", seconds(t.estimate_s),
                  seconds(t.low_s), seconds(t.high_s), seconds(t.bound_s));
  text += t.tpot_s ? fmt::format("; TPOT {}\n", seconds(*t.tpot_s)) : "\n";
  if (!t.stretched_by.empty()) {
    text += fmt::format("            its ops take {}; the {} makes it longer\n", seconds(t.ops_s),
                        t.stretched_by);
  }
  if (t.critical_path_s) {
    text += fmt::format("            the slowest chain of dependent ops takes {}\n",
                        seconds(*t.critical_path_s));
  }
  const char* what = p.model.has_context ? "tokens" : p.model.has_batch ? "samples" : "runs";
  text += fmt::format("throughput  {} {}/s on {} GPU{}", ratio(t.tokens_per_second), what,
                      p.plan.gpus(), p.plan.gpus() == 1 ? "" : "s");
  text += t.usd_per_million_tokens
              ? fmt::format(", {} USD per million {}\n", ratio(*t.usd_per_million_tokens), what)
              : ", price not known (--price)\n";
  if (p.slo_batch) {
    text += *p.slo_batch > 0
                ? fmt::format("objective   the largest batch within it is {}\n", *p.slo_batch)
                : "objective   no batch meets it\n";
  }
  return text;
}

std::string memory_lines(const Prediction& p) {
  const Prediction::Memory& m = p.memory;
  std::string text =
      fmt::format("memory      weights {} + KV {} + activations {} = {}", bytes(m.weight_bytes),
                  bytes(m.kv_bytes), bytes(m.activation_bytes), bytes(memory_used(p)));
  if (m.capacity_bytes) {
    text += fmt::format(" of {}{}", bytes(*m.capacity_bytes), p.plan.gpus() > 1 ? " per GPU" : "");
  }
  if (m.largest_batch && m.largest_context && p.model.has_batch && !p.model.has_context) {
    text += fmt::format("\n            fits up to batch {}", *m.largest_batch);
  } else if (m.largest_batch && m.largest_context && p.model.has_context) {
    text += fmt::format("\n            fits up to batch {}, or up to context {}", *m.largest_batch,
                        *m.largest_context);
  }
  return text + "\n";
}

std::string one(const Prediction& p) {
  return fmt::format("{} on {} ({})\n\n", heading(p), p.machine.name, calibration_text(p)) +
         fitting_op_table(p) + "\n" + throughput_lines(p) + memory_lines(p) + "\n" +
         assumption_lines(p) + paragraph(kPredictionTerms);
}

}  // namespace

std::string prediction_table(std::span<const Prediction> predictions) {
  return predictions.size() == 1 ? one(predictions.front()) : prediction_comparison(predictions);
}

}  // namespace mansard::cli
