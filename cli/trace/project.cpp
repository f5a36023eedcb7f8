#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/measurements.hpp"
#include "cli/trace/kernel_models.hpp"
#include "cli/trace/trace.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "ir/kernel_name.hpp"
#include "support/text.hpp"
#include "traces/dataset/schema.hpp"
#include "traces/dataset/timeline.hpp"
#include "validate/cases.hpp"
#include "validate/class_model.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::string dataset;
  std::string from;
  std::string to;
  MachineOptions machine;
  TraceModel model;
  std::vector<std::string> measurements;
  std::string output;
  std::string chrome;
  double host_scale = 1;
  std::size_t rows = 25;
  Format format = Format::kTable;
};

constexpr double kNanosecond = 1e-9;

std::string hundredths(double fraction) {
  return fmt::format("{:.1f}", 100 * fraction);
}

/// `--set` and `--overlay` change the machine that is projected to.
MachineOptions unchanged(const Options& options, const std::string& name) {
  MachineOptions result = options.machine;
  result.machines = {name};
  result.settings.clear();
  result.overlays.clear();
  return result;
}

struct Sum {
  std::string kind;
  std::string how;
  std::string binding;
  std::int64_t kernels = 0;
  double measured = 0;
  double projected = 0;
  double low = 0;
  double high = 0;
};

struct Projection {
  std::string from;
  std::string to;
  ir::Timeline timeline;
  std::vector<traces::PredictionRow> rows;
  std::map<std::pair<std::string, std::string>, Sum> sums;  ///< By short name and way.
  std::map<std::string, double> unknown;  ///< Measured seconds of unclassified kernels.
  double measured_span = 0;
  double projected_span = 0;
  Sum total;
};

double span(const ir::Timeline& timeline) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> runs;
  for (const ir::Activity& a : timeline.activities) {
    auto [found, fresh] = runs.try_emplace(a.run, a.start_ns, a.end_ns());
    found->second.first = std::min(found->second.first, a.start_ns);
    found->second.second = std::max(found->second.second, a.end_ns());
  }
  double total = 0;
  for (const auto& [run, ends] : runs) {
    total += static_cast<double>(ends.second - ends.first) * kNanosecond;
  }
  return total;
}

Result<Projection> project(const ir::Timeline& timeline, const Options& options) {
  MachineOptions from_options = unchanged(options, options.from);
  if (options.from.empty()) {
    from_options.machines.clear();
  }
  const auto from = machine_of(timeline, from_options);
  const auto to = load(options.to, options.machine);
  const auto recognised = recognise(timeline, options.model);
  if (!from || !to || !recognised) {
    return failure(!from ? from.error() : (!to ? to.error() : recognised.error()));
  }
  const auto before = kernel_models(timeline, *recognised, *from, from_options, options.model);
  const auto after = kernel_models(timeline, *recognised, *to, options.machine, options.model);
  if (!before || !after) {
    return failure(!before ? before.error() : after.error());
  }
  Projection result{.from = from->name, .to = to->name};
  std::vector<std::int64_t> durations;
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const ir::Activity& a = timeline.activities[i];
    const KernelModel& b = (*before)[i];
    KernelModel t = (*after)[i];
    const double measured = static_cast<double>(a.duration_ns) * kNanosecond;
    const bool comparable = b.how == t.how && b.times.estimate > 0 && t.times.estimate > 0;
    const model::ProjectedTime time =
        comparable ? model::project_time(measured, b.times, t.times)
                   : model::ProjectedTime{measured, measured / 2, measured * 2};
    durations.push_back(std::llround(time.seconds / kNanosecond));
    const std::string kind = recognised->classes[i].kind();
    Sum& sum = result.sums[{abbreviated(printable(ir::short_kernel_name(a.name)), 36), t.how}];
    for (Sum* s : {&sum, &result.total}) {
      s->kind = kind;
      s->how = t.how;
      s->binding = t.binding;
      ++s->kernels;
      s->measured += measured;
      s->projected += time.seconds;
      s->low += time.low;
      s->high += time.high;
    }
    if (t.how == "unknown") {
      result.unknown[printable(a.name)] += measured;
    }
    if (a.kind == ir::TraceEventKind::kKernel) {
      result.rows.push_back({a.id, to->name, 0, durations.back(),
                             std::llround(time.low / kNanosecond),
                             std::llround(time.high / kNanosecond), t.binding, kind, t.how});
    }
  }
  result.timeline = model::replay(timeline, durations, {.host_scale = options.host_scale});
  std::size_t row = 0;
  for (const ir::Activity& a : result.timeline.activities) {
    if (a.kind == ir::TraceEventKind::kKernel) {
      result.rows[row++].start_ns = a.start_ns;
    }
  }
  result.measured_span = span(timeline);
  result.projected_span = span(result.timeline);
  return result;
}

Records records_of(const Projection& p, std::size_t rows) {
  constexpr auto kLeft = TextTable::Align::kLeft;
  Records records;
  records.column({"name", "kernel", kLeft});
  records.column({"class", "class", kLeft});
  records.column({"how", "model of", kLeft});
  records.column({"kernels", "x"});
  records.column({"measured_s", "measured\nus"});
  records.column({"low_s", "low\nus"});
  records.column({"projected_s", "projected\nus"});
  records.column({"high_s", "high\nus"});
  records.column({"speedup", "speed-up"});
  std::vector<std::pair<std::string, const Sum*>> sorted;
  for (const auto& [key, sum] : p.sums) {
    sorted.emplace_back(key.first, &sum);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.second->measured, a.first, a.second->how) <
           std::tuple(-b.second->measured, b.first, b.second->how);
  });
  for (std::size_t i = 0; i < std::min(rows, sorted.size()); ++i) {
    const Sum& s = *sorted[i].second;
    const double speedup = s.projected > 0 ? s.measured / s.projected : 0;
    records.add({Cell::text(sorted[i].first), Cell::text(s.kind), Cell::text(s.how),
                 Cell::number(static_cast<double>(s.kernels), std::to_string(s.kernels)),
                 Cell::number(s.measured, microseconds(s.measured)),
                 Cell::number(s.low, microseconds(s.low)),
                 Cell::number(s.projected, microseconds(s.projected)),
                 Cell::number(s.high, microseconds(s.high)),
                 Cell::number(speedup, ratio(speedup))});
  }
  return records;
}

Outcome shown(const Projection& p, const Options& options) {
  Json unknown = Json::array();
  for (const auto& [name, seconds] : p.unknown) {
    unknown.push_back({{"name", name}, {"measured_s", seconds}});
  }
  if (options.format == Format::kJson) {
    return {.out = json_text({{"schema", "mansard.projection/1"},
                              {"from", p.from},
                              {"to", p.to},
                              {"totals",
                               {{"measured_s", p.total.measured},
                                {"projected_s", p.total.projected},
                                {"low_s", p.total.low},
                                {"high_s", p.total.high},
                                {"measured_span_s", p.measured_span},
                                {"projected_span_s", p.projected_span}}},
                              {"kernels", records_of(p, p.sums.size()).json()},
                              {"unclassified", unknown}})};
  }
  if (options.format == Format::kCsv) {
    return {.out = records_of(p, p.sums.size()).csv()};
  }
  std::string text = fmt::format("from {} to {}\n\n", p.from, p.to) +
                     records_of(p, options.rows).table(120) + "\n";
  text += fmt::format("device time {} -> {}, between {} and {}; first to last {} -> {}\n",
                      seconds(p.total.measured), seconds(p.total.projected), seconds(p.total.low),
                      seconds(p.total.high), seconds(p.measured_span), seconds(p.projected_span));
  for (const auto& [name, measured] : p.unknown) {
    text += fmt::format("not classified, scaled by device memory's bandwidth: {} ({})\n",
                        abbreviated(name, 60), seconds(measured));
  }
  return {.out =
              text + "\n" +
              paragraph("projected: measured x model on the new machine / model on the old one; "
                        "model of: an op of the model, recorded shapes, or the class alone, whose "
                        "times scale with the capacity it leans on (interval: half to twice); "
                        "first to last: streams, launches and waits replayed")};
}

/// Rows measured on both machines, each projected from one to the other.
Outcome check_rows(const Options& options) {
  const auto rows = read_measurement_files(options.measurements);
  const auto from = load(options.from, unchanged(options, options.from));
  const auto to = load(options.to, options.machine);
  if (!rows || !from || !to) {
    return failed(!rows ? rows.error() : (!from ? from.error() : to.error()));
  }
  const auto from_calibration = load_calibration(*from, unchanged(options, options.from));
  const auto to_calibration = load_calibration(*to, options.machine);
  if (!from_calibration || !to_calibration) {
    return failed(!from_calibration ? from_calibration.error() : to_calibration.error());
  }
  const auto key = [](const ir::Measurement& row) {
    std::string text =
        fmt::format("{}/{}/{}/{}/{}", row.op, row.dtype, row.out_dtype, row.kv_dtype, row.phase);
    for (const auto& [name, value] : row.dims) {
      text += fmt::format("/{}={}", name, value);
    }
    return text;
  };
  std::map<std::string, const ir::Measurement*> measured_to;
  for (const ir::Measurement& row : *rows) {
    if (row.machine == to->name && row.flags.empty()) {
      measured_to.emplace(key(row), &row);
    }
  }
  std::map<std::string, std::optional<validate::ClassModel>> models;
  const auto comparison =
      [&](const ir::Measurement& row, const hardware::Machine& machine,
          const model::Calibration& calibration) -> std::optional<validate::Comparison> {
    auto [found, fresh] = models.try_emplace(machine.name + validate::case_key(row));
    if (fresh) {
      auto built = validate::ClassModel::build(row, machine, calibration, {});
      if (built) {
        found->second = std::move(*built);
      }
    }
    return found->second ? std::optional(found->second->compare(row)) : std::nullopt;
  };
  /// NeuSight's rows are timed with the host's launch of up to 63 us (data/README.md).
  constexpr double kEagerFloor = 50e-6;
  std::map<std::string, std::vector<double>> errors;
  for (const ir::Measurement& row : *rows) {
    const auto other = measured_to.find(key(row));
    if (row.machine != from->name || !row.flags.empty() || other == measured_to.end()) {
      continue;
    }
    const auto a = comparison(row, *from, *from_calibration);
    const auto b = comparison(*other->second, *to, *to_calibration);
    if (!a || !b || a->estimate <= 0 ||
        (row.mode == "eager" && std::min(a->bound, b->bound) < kEagerFloor)) {
      continue;
    }
    const auto time = model::project_time(row.median_s, {a->bound, a->low, a->estimate, a->high},
                                          {b->bound, b->low, b->estimate, b->high});
    const double error = std::abs(time.seconds / other->second->median_s - 1);
    errors[row.op + " " + row.dtype].push_back(error);
    errors["all"].push_back(error);
  }
  Records records;
  records.column({"class", "class", TextTable::Align::kLeft});
  records.column({"rows", "rows"});
  records.column({"median_ape", "median\n%"});
  records.column({"mape", "mean\n%"});
  records.column({"p90_ape", "p90\n%"});
  for (auto& [name, values] : errors) {
    std::sort(values.begin(), values.end());
    double mean = 0;
    for (const double error : values) {
      mean += error / static_cast<double>(values.size());
    }
    const double median = values[values.size() / 2];
    const double p90 = values[values.size() * 9 / 10];
    records.add({Cell::text(name),
                 Cell::number(static_cast<double>(values.size()), std::to_string(values.size())),
                 Cell::number(median, hundredths(median)), Cell::number(mean, hundredths(mean)),
                 Cell::number(p90, hundredths(p90))});
  }
  if (options.format == Format::kJson) {
    return {.out = json_text({{"schema", "mansard.projection-check/1"},
                              {"from", from->name},
                              {"to", to->name},
                              {"classes", records.json()}})};
  }
  return {.out = options.format == Format::kCsv ? records.csv() : records.table()};
}

Outcome run_project(const Options& options) {
  if (!options.measurements.empty()) {
    return check_rows(options);
  }
  if (options.dataset.empty()) {
    return failed(
        {Diagnostic{.id = "trace-dataset", .message = "expected a dataset, or --measurements"}});
  }
  auto database = traces::open_dataset(options.dataset);
  if (!database) {
    return failed(database.error());
  }
  const auto timeline = traces::read_timeline(**database);
  if (!timeline) {
    return failed(timeline.error());
  }
  const auto projection = project(*timeline, options);
  if (!projection) {
    return failed(projection.error());
  }
  if (!options.output.empty()) {
    const auto written = traces::write_projected(options.dataset, options.output,
                                                 projection->timeline, projection->rows);
    if (!written) {
      return failed(written.error());
    }
  }
  if (!options.chrome.empty()) {
    const auto written =
        write_file("--chrome", options.chrome, traces::chrome_trace(projection->timeline));
    if (!written) {
      return failed(written.error());
    }
  }
  return shown(*projection, options);
}

}  // namespace

Run add_trace_project(CLI::App& verb) {
  CLI::App* command = verb.add_subcommand("project", "The same trace on another machine");
  command->footer(R"(Examples:
  mansard trace project step.db --from h200-sxm --to b200-sxm
  mansard trace project step.db llama3-8b --context 2048 --to h200-sxm --set hbm.bandwidth='8 TB/s' -o next.db --chrome next.json
  mansard trace project --measurements a100.csv h100.csv --from a100-sxm-80gb --to h100-sxm)");
  auto options = std::make_shared<Options>();
  command->add_option("DB", options->dataset, "A dataset of mansard trace import");
  add_trace_model_options(*command, options->model);
  command->add_option("--from", options->from, "The machine of the trace; else the one it names");
  command->add_option("--to", options->to, "The machine to project to")->required();
  add_machine_options(*command, options->machine);
  command->remove_option(command->get_option("--machine"));
  command
      ->add_option("--host-scale", options->host_scale, "Time of the host there over its time here")
      ->type_name("X")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--measurements", options->measurements,
                   "Instead of a trace: rows measured on both machines; prints the error")
      ->type_name("FILE");
  command->add_option("-o,--output", options->output, "Also write the projected dataset")
      ->type_name("DB");
  command->add_option("--chrome", options->chrome, "Also write it as Chrome trace JSON (Perfetto)")
      ->type_name("FILE");
  command->add_option("--rows", options->rows, "Rows of the table")->type_name("N");
  add_format_option(*command, options->format);
  return [options] { return run_project(*options); };
}

}  // namespace mansard::cli
