#include <algorithm>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/trace/kernel_models.hpp"
#include "cli/trace/open_trace.hpp"
#include "cli/trace/trace.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/plot/heat_map.hpp"
#include "cli/views/records.hpp"
#include "model/project/ceilings.hpp"
#include "support/text.hpp"
#include "traces/analysis/counters.hpp"
#include "traces/dataset/timeline.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::string dataset;
  MachineOptions machine;
  TraceModel model;
  std::string plot;
  std::size_t rows = 25;
  Format format = Format::kTable;
};

std::string hundredths(double fraction) {
  return fmt::format("{:.1f}", 100 * fraction);
}

Cell intensity(const std::optional<double>& value) {
  return value ? Cell::number(*value, ratio(*value)) : Cell::none();
}

/// What the work of every kernel is: by counters where there are any, else by ops and shapes.
Result<std::vector<ir::KernelWork>> work_of(traces::Database& database,
                                            const ir::Timeline& timeline,
                                            const hardware::Machine& machine,
                                            const Options& options) {
  const auto recognised = recognise(timeline, options.model);
  if (!recognised) {
    return failure(recognised.error());
  }
  auto work = matched_work(timeline, *recognised, machine, options.machine, options.model);
  if (!work) {
    return work;
  }
  std::map<std::int64_t, ir::KernelWork> counted;
  for (ir::KernelWork& kernel : traces::counted_work(database)) {
    counted.emplace(kernel.kernel, std::move(kernel));
  }
  for (ir::KernelWork& kernel : *work) {
    if (auto found = counted.find(kernel.kernel); found != counted.end()) {
      found->second.op = kernel.op;
      kernel = found->second;
    }
  }
  return work;
}

Records records_of(const std::vector<model::KernelRoofline>& kernels, std::size_t rows) {
  constexpr auto kLeft = TextTable::Align::kLeft;
  Records records;
  records.column({"kernel", ""});
  records.column({"name", "kernel", kLeft});
  records.column({"op", "op", kLeft});
  records.column({"seconds", "us"});
  records.column({"flops", "FLOP"});
  records.column({"bytes", "bytes"});
  records.column({"intensity", "FLOP/B"});
  records.column({"l2_intensity", "at L2"});
  records.column({"l1_intensity", "at L1"});
  records.column({"instruction_intensity", "inst/\nsector"});
  records.column({"ridge", ""});
  records.column({"side", "side", kLeft});
  records.column({"binding", "ceiling", kLeft});
  records.column({"attained", "of it\n%"});
  records.column({"bound", "bound by", kLeft});
  records.column({"headroom_s", "saves\nus"});
  for (std::size_t i = 0; i < std::min(rows, kernels.size()); ++i) {
    const model::KernelRoofline& k = kernels[i];
    const ir::KernelWork& w = *k.work;
    const double flop = w.total_flops();
    records.add({Cell::number(static_cast<double>(w.kernel), std::to_string(w.kernel)),
                 Cell{printable(w.name), abbreviated(printable(w.name), 22)}, Cell::text(w.op),
                 Cell::number(w.seconds, microseconds(w.seconds)), Cell::number(flop, flops(flop)),
                 w.main_bytes ? Cell::number(*w.main_bytes, bytes(*w.main_bytes)) : Cell::none(),
                 intensity(k.intensity), intensity(k.l2_intensity), intensity(k.l1_intensity),
                 intensity(k.instruction_intensity),
                 k.ridge > 0 ? Cell::number(k.ridge, ratio(k.ridge)) : Cell::none(),
                 Cell::text(k.ceilings.empty() ? "" : (k.above_ridge ? "compute" : "memory")),
                 Cell::text(k.binding()), Cell::number(k.attained, hundredths(k.attained)),
                 Cell::text(model::name_of(k.bound)),
                 Cell::number(k.headroom_s, microseconds(k.headroom_s))});
  }
  return records;
}

/// Shares of the time by what binds.
std::map<std::string, double> shares(const std::vector<model::KernelRoofline>& kernels) {
  std::map<std::string, double> result;
  double total = 0;
  for (const model::KernelRoofline& k : kernels) {
    result[std::string(model::name_of(k.bound))] += k.work->seconds;
    total += k.work->seconds;
  }
  for (auto& [bound, seconds] : result) {
    seconds = total > 0 ? seconds / total : 0;
  }
  return result;
}

double classified_share(const std::vector<model::KernelRoofline>& kernels) {
  double total = 0;
  double known = 0;
  for (const model::KernelRoofline& k : kernels) {
    total += k.work->seconds;
    known += k.work->op.empty() ? 0 : k.work->seconds;
  }
  return total > 0 ? known / total : 0;
}

HeatMap heat_map(const hardware::Machine& machine,
                 const std::vector<model::KernelRoofline>& kernels) {
  HeatMap map{.title = "time over the roofline of " + machine.name};
  std::map<std::string, double> rates;
  for (const model::KernelRoofline& k : kernels) {
    if (k.intensity && k.work->seconds > 0) {
      map.points.push_back(
          {*k.intensity, k.work->total_flops() / k.work->seconds, k.work->seconds});
    }
    for (const auto& [rate, amount] : k.work->flops) {
      if (const auto value = machine.find(rate) != nullptr ? machine.known(rate) : std::nullopt) {
        rates[rate] = *value;
      }
    }
  }
  for (const auto& [rate, value] : rates) {
    map.rates.push_back({rate, value});
  }
  for (const std::string& tier : {machine.main().name, std::string("l2"), std::string("shared")}) {
    for (const char* figure : {".bandwidth", ".measured_bandwidth"}) {
      if (const auto value = machine.known(tier + figure)) {
        map.bandwidths.push_back({tier, *value});
        break;
      }
    }
  }
  return map;
}

Outcome show(const Options& options) {
  auto database = open_trace(options.dataset);
  if (!database) {
    return failed(database.error());
  }
  const auto timeline = traces::read_timeline(**database);
  if (!timeline) {
    return failed(timeline.error());
  }
  const auto machine = machine_of(*timeline, options.machine);
  if (!machine) {
    return failed(machine.error());
  }
  const auto work = work_of(**database, *timeline, *machine, options);
  if (!work) {
    return failed(work.error());
  }
  std::vector<model::KernelRoofline> kernels;
  for (const ir::KernelWork& kernel : *work) {
    kernels.push_back(model::kernel_roofline(*machine, kernel));
  }
  std::sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
    return a.headroom_s != b.headroom_s ? a.headroom_s > b.headroom_s
                                        : a.work->kernel < b.work->kernel;
  });
  if (!options.plot.empty()) {
    const auto written =
        write_file("--plot", options.plot, heat_map_svg(heat_map(*machine, kernels)));
    if (!written) {
      return failed(written.error());
    }
  }
  const auto by_bound = shares(kernels);
  if (options.format == Format::kJson) {
    Json share = Json::object();
    for (const auto& [bound, part] : by_bound) {
      share[bound] = part;
    }
    return {.out = json_text({{"schema", "mansard.trace-roofline/1"},
                              {"machine", machine->name},
                              {"classified_share", classified_share(kernels)},
                              {"share_of_time", share},
                              {"kernels", records_of(kernels, kernels.size()).json()}})};
  }
  if (options.format == Format::kCsv) {
    return {.out = records_of(kernels, kernels.size()).csv()};
  }
  std::string text =
      fmt::format("{} kernels on {}, those first that would save most at their ceiling\n\n",
                  kernels.size(), machine->name);
  text += records_of(kernels, options.rows).table(130) + "\ntime bound by:";
  for (const auto& [bound, part] : by_bound) {
    text += fmt::format(" {} {} %", bound, hundredths(part));
  }
  return {.out =
              text +
              fmt::format("; op class known for {} % of the time\n\n",
                          hundredths(classified_share(kernels))) +
              paragraph("side: of the ridge, whether its rates (FLOP, instructions) or device "
                        "memory take longer; ceiling: the resource that alone would take longest; "
                        "of it: that time over the measured; bound by latency: below 75 % of every "
                        "ceiling; launch: that, and shorter than two launches")};
}

}  // namespace

Run add_trace_roofline(CLI::App& verb) {
  CLI::App* command = verb.add_subcommand(
      "roofline", "Which ceiling binds each kernel, and what it would save at that ceiling");
  command->footer(
      R"(Work is that of counters where the dataset has any, else that of the ops of MODEL at the workload given,
else of the shapes that the trace recorded. The machine is the one that the trace names, or --machine.
Examples:
  mansard trace roofline counters.db --plot heat.svg
  mansard trace roofline step.db llama3-8b --batch 1 --context 2048)");
  auto options = std::make_shared<Options>();
  command
      ->add_option("DB", options->dataset,
                   "A dataset of mansard trace import, or a profiler's file")
      ->required();
  add_trace_model_options(*command, options->model);
  add_machine_options(*command, options->machine);
  command->get_option("--machine")->required(false);
  command->add_option("--rows", options->rows, "Rows of the table")->type_name("N");
  command
      ->add_option("--plot", options->plot,
                   "Also draw the time as a heat map over the roofline (SVG)")
      ->type_name("FILE");
  add_format_option(*command, options->format);
  return [options] { return show(*options); };
}

}  // namespace mansard::cli
