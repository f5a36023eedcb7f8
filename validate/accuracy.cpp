#include "validate/accuracy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace mansard::validate {
namespace {

constexpr double kLeastTime = 1e-6;    ///< Seconds.
constexpr double kLeastEager = 50e-6;  ///< Seconds of bound.
constexpr double kSmall = 1e6;         ///< Bytes.

constexpr std::array<std::string_view, 6> kCollectives{"all_gather", "all_reduce",     "all_to_all",
                                                       "broadcast",  "reduce_scatter", "send_recv"};
constexpr std::array<std::string_view, 15> kStreams{"add",  "addu", "copy", "div",  "divu",
                                                    "fill", "mul",  "mulu", "pow",  "powu",
                                                    "relu", "sub",  "sum",  "tanh", "triad"};

template <typename Names>
bool is_one_of(const std::string& op, const Names& names) {
  return std::ranges::find(names, op) != names.end();
}

bool counts(const ClassReport& c, const Comparison& row) {
  const bool host_bound = c.mode == "eager" && c.op != "step" && row.bound < kLeastEager;
  return !row.flagged() && row.row->median_s >= kLeastTime && !host_bound;
}

std::string step(const ClassReport& c, const Comparison& row) {
  const auto gpus = row.row->dims.find("gpus");
  const bool several = gpus != row.row->dims.end() && gpus->second > 1;
  return fmt::format("{} step {} {}{}", c.phase, c.dtype, c.mode,
                     several ? fmt::format(", {} GPUs", gpus->second) : "");
}

std::string subject_of(const ClassReport& c, const Comparison& row, double bandwidth) {
  if (c.op == "step") {
    return step(c, row);
  }
  if (is_one_of(c.op, kCollectives)) {
    return fmt::format("collectives, {}", c.mode);
  }
  if (c.op == "matmul" || c.op == "grouped_matmul") {
    return fmt::format("{} {}", c.op == "matmul" ? "matmul" : "grouped matmul", c.dtype);
  }
  if (c.op == "moe") {
    return fmt::format("expert layer {}", c.dtype);
  }
  if (c.op == "attention" || c.op == "mla_attention") {
    return fmt::format("{}attention {}", c.op == "attention" ? "" : "latent ", c.phase);
  }
  return fmt::format("{} {} 1 MB", is_one_of(c.op, kStreams) ? "streams" : "row-wise ops",
                     row.memory * bandwidth > kSmall ? ">" : "<");
}

/// "aiconfigurator vllm/0.14.0 row 12" is of "aiconfigurator vllm/0.14.0".
std::string without_row(const std::string& source) {
  return source.substr(0, source.find(" row "));
}

AccuracyLine line_of(std::string subject, std::string machine,
                     const std::vector<Comparison>& rows) {
  AccuracyLine line{.subject = std::move(subject), .machine = std::move(machine)};
  std::vector<double> estimates;
  std::vector<double> measured;
  std::vector<double> widths;
  std::size_t inside = 0;
  for (const Comparison& c : rows) {
    estimates.push_back(c.estimate);
    measured.push_back(c.row->median_s);
    widths.push_back(c.high / c.low);
    inside += c.low <= c.row->median_s && c.row->median_s <= c.high ? 1 : 0;
    line.seen += c.seen ? 1 : 0;
    line.sources.insert(without_row(c.row->source));
  }
  line.rows = rows.size();
  line.errors = errors_of(estimates, measured);
  line.coverage = static_cast<double>(inside) / static_cast<double>(rows.size());
  std::sort(widths.begin(), widths.end());
  line.width = widths[widths.size() / 2];
  return line;
}

AccuracyLimit read_limit(const Node& node, Diagnostics& diagnostics) {
  Reader reader(node, diagnostics);
  AccuracyLimit limit{.subject = reader.required_string("what"),
                      .machine = reader.required_string("machine"),
                      .mean = reader.number("mean"),
                      .median = reader.number("median"),
                      .p90 = reader.number("p90"),
                      .bias = reader.number("bias"),
                      .coverage = reader.number("coverage")};
  reader.finish();
  return limit;
}

}  // namespace

std::vector<AccuracyLine> accuracy(const Report& report, const hardware::Machine& machine) {
  const double bandwidth = machine.known("main.bandwidth").value_or(0);
  std::vector<std::string> order;
  std::map<std::string, std::vector<Comparison>> rows;
  for (const ClassReport& c : report.classes) {
    for (const Comparison& row : c.comparisons) {
      if (!counts(c, row)) {
        continue;
      }
      auto& group = rows[subject_of(c, row, bandwidth)];
      if (group.empty()) {
        order.push_back(subject_of(c, row, bandwidth));
      }
      group.push_back(row);
    }
  }
  std::vector<AccuracyLine> lines;
  for (std::string& subject : order) {
    const std::vector<Comparison>& group = rows[subject];
    lines.push_back(line_of(std::move(subject), report.machine, group));
  }
  return lines;
}

Result<std::vector<AccuracyLimit>> read_limits(const Node& document) {
  Diagnostics diagnostics;
  std::vector<AccuracyLimit> result;
  Reader reader(document, diagnostics);
  reader.ignore("schema");
  if (const Node* limits = reader.sequence("limits")) {
    for (const Node& item : limits->items) {
      result.push_back(read_limit(item, diagnostics));
    }
  }
  reader.finish();
  if (!diagnostics.empty()) {
    return failure(std::move(diagnostics));
  }
  return result;
}

std::vector<std::string> exceeded(const std::vector<AccuracyLine>& lines,
                                  const std::vector<AccuracyLimit>& limits) {
  std::vector<std::string> result;
  for (const AccuracyLimit& limit : limits) {
    const auto line = std::ranges::find_if(lines, [&](const AccuracyLine& candidate) {
      return candidate.subject == limit.subject && candidate.machine == limit.machine;
    });
    if (line == lines.end()) {
      continue;
    }
    const auto check = [&](std::string_view name, double value, std::optional<double> most) {
      if (most && value > *most) {
        result.push_back(fmt::format("{} on {}: {} {:.1f} % exceeds {:.1f} %", limit.subject,
                                     limit.machine, name, 100 * value, 100 * *most));
      }
    };
    check("mean error", line->errors.mape, limit.mean);
    check("median error", line->errors.median, limit.median);
    check("90th percentile", line->errors.p90, limit.p90);
    check("bias", std::abs(line->errors.bias), limit.bias);
    if (limit.coverage && line->coverage < *limit.coverage) {
      result.push_back(fmt::format("{} on {}: {:.1f} % of rows within the interval, not {:.1f} %",
                                   limit.subject, limit.machine, 100 * line->coverage,
                                   100 * *limit.coverage));
    }
  }
  return result;
}

}  // namespace mansard::validate
