#include "cli/views/kernel_formulas.hpp"

#include <fmt/format.h>

#include "cli/views/json.hpp"
#include "cli/views/kernel.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "ir/expr_text.hpp"

namespace mansard::cli {
namespace {

std::string text_of(ir::Expr expression) {
  return expression ? ir::print(expression) : "depends on data";
}

std::string signature(const ir::Kernel& kernel) {
  std::string text;
  for (const std::string& name : kernel.signature) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

/// Symbols of the formulas, which a launch and arguments give.
std::vector<std::string> missing(const ir::KernelFormulas& formulas) {
  std::vector<std::string> names{"grid", "block"};
  for (const ir::Expr symbol : ir::symbols_of(formulas.thread_instructions)) {
    const std::string name(symbol->symbol);
    const bool special = name.starts_with("tid.") || name.starts_with("ctaid.") ||
                         name.starts_with("ntid.") || name.starts_with("nctaid.") ||
                         name.starts_with("iteration_");
    if (!special) {
      names.push_back(name);
    }
  }
  return names;
}

Cell amount(double value) {
  return value > 0 ? Cell::number(value, grouped(value)) : Cell::none();
}

Records records(const ir::KernelFormulas& formulas) {
  Records records;
  records.column({"region", "region", TextTable::Align::kLeft});
  records.column({"thread_instructions", "instr."});
  records.column({"flops", "FLOP"});
  records.column({"global_load_bytes", "loads\nB"});
  records.column({"global_store_bytes", "stores\nB"});
  records.column({"shared_bytes", "shared\nB"});
  records.column({"trips", "times entered code runs", TextTable::Align::kLeft});
  for (const ir::KernelRegion& each : formulas.regions) {
    records.add(
        {Cell::text(each.name), amount(each.instructions),
         amount(each.flops_fp32 + each.flops_fp64 + each.flops_fp16 + each.tensor_flops / 32),
         amount(each.global_load_bytes), amount(each.global_store_bytes), amount(each.shared_bytes),
         Cell::text(text_of(each.trips))});
  }
  return records;
}

}  // namespace

Json loops_json(const ir::KernelFormulas& formulas) {
  Json loops = Json::array();
  for (const ir::KernelRegion& each : formulas.regions) {
    if (each.loop != ir::kNothing) {
      loops.push_back({{"name", each.name},
                       {"trips", each.trips ? Json(ir::print(each.trips)) : Json(nullptr)}});
    }
  }
  return loops;
}

std::string formulas_table(const ir::Kernel& kernel, const ir::KernelFormulas& formulas) {
  std::string names;
  for (const std::string& each : missing(formulas)) {
    names += (names.empty() ? "" : ", ") + each;
  }
  std::string text =
      fmt::format("{}({})\n\n{}\n", kernel.name, signature(kernel), records(formulas).table());
  text += "instructions, FLOP and bytes are of one thread and one run of the region\n\n";
  text += paragraph("a thread's FLOP = " + ir::print(formulas.flops), 4);
  text += paragraph("a thread's global bytes = " + ir::print(formulas.global_bytes), 4);
  text += "\n" + paragraph("for numbers give: " + names, 4);
  for (const std::string& each : formulas.assumptions) {
    text += paragraph("- assumed: " + each, 2);
  }
  return text;
}

std::string formulas_json(const ir::Kernel& kernel, const ir::KernelFormulas& formulas) {
  Json json = {{"schema", "mansard.kernel/1"},
               {"kernel", kernel.name},
               {"assumptions", formulas.assumptions},
               {"unknowns", missing(formulas)},
               {"counts", nullptr},
               {"per_thread",
                {{"thread_instructions", ir::print(formulas.thread_instructions)},
                 {"flops", ir::print(formulas.flops)},
                 {"global_bytes", ir::print(formulas.global_bytes)}}},
               {"loops", loops_json(formulas)},
               {"regions", records(formulas).json()}};
  return json_text(json);
}

std::string formulas_csv(const ir::Kernel&, const ir::KernelFormulas& formulas) {
  return records(formulas).csv();
}

}  // namespace mansard::cli
