#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "cli/views/kernel.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "cli/views/text_table.hpp"
#include "ir/expr_text.hpp"

namespace mansard::cli {
namespace {

using model::kernel::GlobalTotals;
using model::kernel::Report;
using model::kernel::SharedTotals;
using model::kernel::Totals;
using Part = std::function<double(const Totals&)>;

/// "1,024", or "1,024 + 512 * trip_L1" where an unknown count decides.
std::string amount(const Report& report, const Part& part) {
  std::string text;
  double base = part(report.totals);
  for (const model::kernel::Slope& slope : report.slopes) {
    const double more = part(slope.totals);
    if (more != 0) {
      base -= more;
      text += fmt::format(" + {} * {}", grouped(more), slope.name);
    }
  }
  return grouped(base) + text;
}

std::string sides(const std::array<std::int64_t, 3>& all) {
  return fmt::format("{} x {} x {}", all[0], all[1], all[2]);
}

/// Two columns of names and what they say.
class Sheet {
 public:
  Sheet() {
    table_.column("", TextTable::Align::kLeft);
    table_.column("", TextTable::Align::kLeft);
  }
  void line(const std::string& name, const std::string& value) { table_.row({name, value}); }
  [[nodiscard]] std::string text() const {
    std::string all = table_.render();
    return all.substr(all.find_first_not_of('\n'));
  }

 private:
  TextTable table_;
};

void flop_lines(Sheet& sheet, const Report& r) {
  const std::pair<const char*, Part> kinds[] = {
      {"fp32", [](const Totals& t) { return t.flops_fp32; }},
      {"fp64", [](const Totals& t) { return t.flops_fp64; }},
      {"fp16", [](const Totals& t) { return t.flops_fp16; }},
      {"tensor", [](const Totals& t) { return t.flops_tensor; }}};
  for (const auto& [name, part] : kinds) {
    const bool any =
        part(r.totals) != 0 || std::any_of(r.slopes.begin(), r.slopes.end(),
                                           [&](const auto& s) { return part(s.totals) != 0; });
    if (any) {
      sheet.line(fmt::format("FLOP {}", name), amount(r, part));
    }
  }
}

void global_line(Sheet& sheet, const Report& r, const char* name, GlobalTotals Totals::* of) {
  const GlobalTotals& t = r.totals.*of;
  if (t.requests > 0) {
    sheet.line(name, fmt::format("{} requests, {} sectors ({:.2f} a request), {}",
                                 amount(r, [of](const Totals& x) { return (x.*of).requests; }),
                                 amount(r, [of](const Totals& x) { return (x.*of).sectors; }),
                                 t.sectors / t.requests, bytes(t.bytes)));
  }
}

void shared_line(Sheet& sheet, const Report& r, const char* name, SharedTotals Totals::* of) {
  if ((r.totals.*of).requests > 0) {
    sheet.line(name,
               fmt::format("{} requests, {} wavefronts, {} bank conflicts",
                           amount(r, [of](const Totals& x) { return (x.*of).requests; }),
                           amount(r, [of](const Totals& x) { return (x.*of).wavefronts; }),
                           amount(r, [of](const Totals& x) { return (x.*of).bank_conflicts; })));
  }
}

std::string pipes(const Report& r) {
  std::string text;
  for (std::size_t p = 0; p < ir::kPipes; ++p) {
    if (r.totals.pipes[p] > 0 && r.totals.warp_instructions > 0) {
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", ir::name_of(static_cast<ir::Pipe>(p)),
                      percent(r.totals.pipes[p] / r.totals.warp_instructions));
    }
  }
  return text;
}

void time_lines(Sheet& sheet, const Report& r) {
  if (!r.unknowns.empty()) {
    std::string names;
    for (const std::string& each : r.unknowns) {
      names += (names.empty() ? "" : ", ") + each;
    }
    sheet.line("unknown", names + ": give them by --arg NAME=VALUE");
    return;
  }
  sheet.line("time",
             fmt::format("{}, between {} and {}, at least {}; bound by {}", seconds(r.estimate_s),
                         seconds(r.low_s), seconds(r.high_s), seconds(r.bound_s), r.binding));
  std::vector<model::kernel::Term> terms = r.terms;
  std::sort(terms.begin(), terms.end(),
            [](const auto& a, const auto& b) { return a.estimate_s > b.estimate_s; });
  std::string text;
  for (const model::kernel::Term& each : terms) {
    if (each.estimate_s > 0.02 * r.estimate_s) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.name, seconds(each.estimate_s));
    }
  }
  sheet.line("terms", text + fmt::format(", launch {}", seconds(r.launch_s)));
}

void roofline_lines(Sheet& sheet, const Report& r) {
  std::string text;
  for (const model::kernel::Ceiling& each : r.roofline) {
    text += fmt::format("{}{} {} (ridge {})", text.empty() ? "" : ", ", each.name,
                        ratio(each.intensity), ratio(each.ridge));
  }
  if (!text.empty()) {
    sheet.line("FLOP/byte", text);
  }
  if (r.instructions) {
    sheet.line("instructions",
               fmt::format("{} a DRAM sector (ridge {}); {} of {} G/s",
                           ratio(r.instructions->intensity), ratio(r.instructions->ridge),
                           ratio(r.instruction_rate / 1e9), ratio(r.instruction_ceiling / 1e9)));
  }
}

std::string sheet_of(const Report& r) {
  Sheet sheet;
  sheet.line("thread instr.",
             amount(r, [](const Totals& t) { return t.thread_instructions; }) + " (PTX)");
  sheet.line("warp instr.", amount(r, [](const Totals& t) { return t.warp_instructions; }) +
                                fmt::format(" (machine, {} to {}; PTX {})",
                                            mansard::cli::flops(r.totals.warp_instructions_low),
                                            mansard::cli::flops(r.totals.warp_instructions_high),
                                            mansard::cli::flops(r.totals.ptx_warp_instructions)));
  sheet.line("by pipe", pipes(r));
  flop_lines(sheet, r);
  global_line(sheet, r, "global loads", &Totals::global_load);
  global_line(sheet, r, "global stores", &Totals::global_store);
  global_line(sheet, r, "local loads", &Totals::local_load);
  global_line(sheet, r, "local stores", &Totals::local_store);
  global_line(sheet, r, "atomics", &Totals::atomics);
  shared_line(sheet, r, "shared loads", &Totals::shared_load);
  shared_line(sheet, r, "shared stores", &Totals::shared_store);
  sheet.line("memory", fmt::format("L2 {} read, {} written; DRAM {} read, {} written",
                                   bytes(r.traffic.l2_read), bytes(r.traffic.l2_write),
                                   bytes(r.traffic.dram_read), bytes(r.traffic.dram_write)));
  sheet.line("footprint",
             fmt::format("block {}, wave {}, grid {} read and {} written",
                         bytes(r.traffic.block_footprint), bytes(r.traffic.wave_footprint),
                         bytes(r.traffic.read_footprint), bytes(r.traffic.write_footprint)));
  sheet.line(
      "occupancy",
      fmt::format("{} ({} blocks an SM, limited by {}), {} registers ({}), {} shared; {} waves",
                  percent(r.occupancy.fraction), r.occupancy.blocks_per_sm, r.occupancy.limiter,
                  r.resources.registers, r.resources.assembled ? "ptxas" : "estimate",
                  bytes(static_cast<double>(r.resources.static_shared + r.launch.dynamic_shared)),
                  ratio(r.occupancy.waves)));
  roofline_lines(sheet, r);
  time_lines(sheet, r);
  return sheet.text();
}

std::string findings(const Report& r) {
  std::string text;
  for (const model::kernel::Finding& each : r.diagnosis) {
    text += "\n" + paragraph("- " + each.what, 2) + "\n" +
            paragraph("  confirm by: " + each.metric, 4) + "\n";
    if (!each.rewrite.empty()) {
      text += paragraph("  instead: " + each.rewrite, 4) + "\n";
    }
  }
  return text;
}

std::string lines_of(const std::vector<LineDemand>& lines) {
  TextTable table;
  table.column("line");
  table.column("warp instr.");
  table.column("FLOP");
  table.column("sectors");
  table.column("wavefronts");
  table.column("conflicts");
  for (const LineDemand& each : lines) {
    table.row({std::to_string(each.line), grouped(each.warp_instructions), grouped(each.flops),
               grouped(each.global_sectors), grouped(each.shared_wavefronts),
               grouped(each.bank_conflicts)});
  }
  return "\n" + table.render();
}

std::string one(const KernelAnswer& answer) {
  const Report& r = answer.report;
  std::string text = fmt::format("{} on {}, grid {}, block {}\n\n", r.kernel, r.machine,
                                 sides(r.launch.grid), sides(r.launch.block));
  text += sheet_of(r) + findings(r);
  if (!answer.lines.empty()) {
    text += lines_of(answer.lines);
  }
  if (answer.formulas && !r.unknowns.empty()) {
    text += "\nloops:\n";
    for (const ir::KernelRegion& each : answer.formulas->regions) {
      if (each.loop != ir::kNothing) {
        text += paragraph(fmt::format("{} runs {} times", each.name,
                                      each.trips ? ir::print(each.trips) : "trip_" + each.name),
                          4);
      }
    }
  }
  text += "\nassumed:\n";
  for (const std::string& each : r.assumptions) {
    text += paragraph("- " + each, 2);
  }
  return text;
}

Records records(const std::vector<KernelAnswer>& answers) {
  Records records;
  using Align = TextTable::Align;
  records.column({"case", "case", Align::kLeft});
  records.column({"kernel", "kernel", Align::kLeft});
  records.column({"machine", "machine", Align::kLeft});
  records.column({"thread_instructions", ""});
  records.column({"warp_instructions", "warp\ninstr."});
  records.column({"flops_fp32", ""});
  records.column({"flops_fp64", ""});
  records.column({"flops_fp16", ""});
  records.column({"flops_tensor", ""});
  records.column({"flops", "FLOP"});
  records.column({"global_load_requests", ""});
  records.column({"global_load_sectors", "load\nsectors"});
  records.column({"global_store_requests", ""});
  records.column({"global_store_sectors", "store\nsectors"});
  records.column({"bank_conflicts", "bank\nconflicts"});
  records.column({"dram_bytes", "DRAM"});
  records.column({"registers", ""});
  records.column({"occupancy", "occ.\n%"});
  records.column({"waves", "waves"});
  records.column({"bound_s", "bound\nus"});
  records.column({"estimate_s", "estimate\nus"});
  records.column({"low_s", ""});
  records.column({"high_s", ""});
  records.column({"measured_s", "measured\nus"});
  records.column({"binding", "bound by", Align::kLeft});
  for (const KernelAnswer& answer : answers) {
    const Report& r = answer.report;
    const auto known = [&](double value, std::string shown) {
      return r.unknowns.empty() ? Cell::number(value, std::move(shown)) : Cell::unknown();
    };
    const auto count = [&](double value) { return known(value, mansard::cli::flops(value)); };
    const Totals& t = r.totals;
    const double all = t.flops_fp32 + t.flops_fp64 + t.flops_fp16 + t.flops_tensor;
    records.add({Cell::text(answer.case_name),
                 Cell::text(r.kernel),
                 Cell::text(r.machine),
                 count(t.thread_instructions),
                 count(t.warp_instructions),
                 count(t.flops_fp32),
                 count(t.flops_fp64),
                 count(t.flops_fp16),
                 count(t.flops_tensor),
                 count(all),
                 count(t.global_load.requests),
                 count(t.global_load.sectors),
                 count(t.global_store.requests),
                 count(t.global_store.sectors),
                 count(t.shared_load.bank_conflicts + t.shared_store.bank_conflicts),
                 known(r.dram_bytes, bytes(r.dram_bytes)),
                 Cell::number(static_cast<double>(r.resources.registers),
                              std::to_string(r.resources.registers)),
                 Cell::number(r.occupancy.fraction, ratio(100 * r.occupancy.fraction)),
                 Cell::number(r.occupancy.waves, ratio(r.occupancy.waves)),
                 known(r.bound_s, microseconds(r.bound_s)),
                 known(r.estimate_s, microseconds(r.estimate_s)),
                 known(r.low_s, ""),
                 known(r.high_s, ""),
                 answer.measured_s
                     ? Cell::number(*answer.measured_s, microseconds(*answer.measured_s))
                     : Cell::none(),
                 Cell::text(r.binding)});
  }
  return records;
}

}  // namespace

std::string kernel_table(const std::vector<KernelAnswer>& answers) {
  if (answers.size() == 1) {
    return one(answers[0]);
  }
  std::string text = records(answers).table(160);
  return text;
}

std::string kernel_csv(const std::vector<KernelAnswer>& answers) {
  return records(answers).csv();
}

}  // namespace mansard::cli
