#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/trace/open_trace.hpp"
#include "cli/trace/trace.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "ir/kernel_name.hpp"
#include "support/text.hpp"
#include "traces/analysis/counters.hpp"

namespace mansard::cli {
namespace {

struct Options {
  std::string dataset;
  Format format = Format::kTable;
};

std::string hundredths(double fraction) {
  return fmt::format("{:.1f}", 100 * fraction);
}

std::string shown_name(const std::string& name) {
  constexpr std::size_t kWidth = 24;
  return abbreviated(printable(ir::short_kernel_name(name)), kWidth);
}

Cell fraction(const std::optional<double>& value) {
  return value ? Cell::number(*value, hundredths(*value)) : Cell::none();
}

Cell plain(const std::optional<double>& value) {
  return value ? Cell::number(*value, ratio(*value)) : Cell::none();
}

Records records_of(const std::vector<traces::KernelStalls>& kernels) {
  Records records;
  records.column({"kernel", ""});
  records.column({"name", "kernel", TextTable::Align::kLeft});
  records.column({"seconds", "us"});
  records.column({"ipc", "IPC"});
  records.column({"issue_active", "issuing\n%"});
  records.column({"warps_per_scheduler", "warps"});
  records.column({"throughput", "units\n%"});
  records.column({"latency", "latency\n%"});
  records.column({"clock_locked", ""});
  records.column({"reasons", "waits for, % of the waiting", TextTable::Align::kLeft});
  for (const traces::KernelStalls& k : kernels) {
    double total = 0;
    double throughput = 0;
    for (const traces::Stall& stall : k.stalls) {
      total += stall.per_issue;
      throughput += stall.throughput ? stall.per_issue : 0;
    }
    std::string reasons;
    constexpr std::size_t kMost = 3;
    for (std::size_t i = 0; i < std::min(kMost, k.stalls.size()) && total > 0; ++i) {
      reasons += fmt::format("{}{} {:.0f}", i == 0 ? "" : ", ", k.stalls[i].reason,
                             100 * k.stalls[i].per_issue / total);
    }
    const auto share = [&](double part) {
      return total > 0 ? fraction(part / total) : Cell::none();
    };
    records.add(
        {Cell::number(static_cast<double>(k.kernel), std::to_string(k.kernel)),
         Cell{printable(k.name), shown_name(k.name)},
         Cell::number(k.seconds, microseconds(k.seconds)), plain(k.ipc), fraction(k.issue_active),
         plain(k.warps_per_scheduler), share(throughput), share(total - throughput),
         Cell::number(k.clock_locked ? 1 : 0, k.clock_locked ? "1" : "0"), Cell::text(reasons)});
  }
  return records;
}

Json mixes_json(const std::vector<traces::InstructionMix>& mixes) {
  Json result = Json::array();
  for (const traces::InstructionMix& mix : mixes) {
    Json shares = Json::object();
    for (const auto& [name, share] : mix.shares) {
      shares[name] = share;
    }
    result.push_back({{"kernel", mix.kernel},
                      {"name", printable(mix.name)},
                      {"warp_instructions", json_number(mix.warp_instructions)},
                      {"shares", shares}});
  }
  return result;
}

Outcome show(const Options& options) {
  auto database = open_trace(options.dataset);
  if (!database) {
    return failed(database.error());
  }
  const auto kernels = traces::stalls(**database);
  const auto mixes = traces::instruction_mixes(**database);
  if (const auto status = (*database)->status(); !status) {
    return failed(status.error());
  }
  if (kernels.empty()) {
    return failed({Diagnostic{.id = "trace-counters",
                              .message = "the dataset holds no counters",
                              .label = "import a CSV of Nsight Compute"}});
  }
  const Records records = records_of(kernels);
  switch (options.format) {
    case Format::kJson:
      return {.out = json_text({{"schema", "mansard.stalls/1"},
                                {"kernels", records.json()},
                                {"instructions", mixes_json(mixes)}})};
    case Format::kCsv:
      return {.out = records.csv()};
    case Format::kTable:
      break;
  }
  std::string text = records.table() + "\n";
  for (const traces::InstructionMix& mix : mixes) {
    text += fmt::format("instructions {} {}: ", mix.kernel, shown_name(mix.name));
    bool first = true;
    for (const auto& [name, share] : mix.shares) {
      text += fmt::format("{}{} {} %", first ? "" : ", ", name, hundredths(share));
      first = false;
    }
    text += "\n";
  }
  const auto locked = std::count_if(kernels.begin(), kernels.end(),
                                    [](const auto& kernel) { return kernel.clock_locked; });
  if (locked > 0) {
    text += "\n" + paragraph(fmt::format("{} kernels ran with the clocks held by the profiler: of "
                                         "them only counts and shares hold for a free run, not "
                                         "times",
                                         locked));
  }
  return {.out =
              text + "\n" +
              paragraph("units: warps wait for a unit that is busy (throttle, not selected, "
                        "dispatch) or are the one selected; latency: for a result; IPC: warp "
                        "instructions a cycle and processor; issuing: cycles in which a scheduler "
                        "issues; warps: resident a scheduler")};
}

}  // namespace

Run add_trace_stalls(CLI::App& verb) {
  CLI::App* command =
      verb.add_subcommand("stalls", "Why warps wait, by counters of Nsight Compute");
  command->footer("Example:\n  mansard trace stalls counters.db");
  auto options = std::make_shared<Options>();
  command
      ->add_option("DB", options->dataset,
                   "A dataset of mansard trace import, or a profiler's file")
      ->required();
  add_format_option(*command, options->format);
  return [options] { return show(*options); };
}

}  // namespace mansard::cli
