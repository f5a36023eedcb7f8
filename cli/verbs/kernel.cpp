#include "cli/views/kernel.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <cxxabi.h>
#include <fmt/format.h>

#include "cli/kernel_file.hpp"
#include "cli/kernel_launch.hpp"
#include "cli/kernel_sample.hpp"
#include "cli/options.hpp"
#include "cli/ptxas.hpp"
#include "cli/verb.hpp"
#include "frontend/ptx/lower/lower.hpp"
#include "ir/kernel_formulas.hpp"
#include "ir/kernel_name.hpp"
#include "support/suggest.hpp"

namespace mansard::cli {
namespace {

struct Options {
  MachineOptions machine;
  std::string path;
  LaunchText launch;
  std::vector<std::string> parameters;
  std::string launches;
  bool by_line = false;
  bool no_ptxas = false;
  SampleOptions sample{.blocks = 0, .buffers = {}};
  Format format = Format::kTable;
};

void append(Diagnostics& all, Diagnostics more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// A kernel of the file, lowered once.
struct Prepared {
  ir::Kernel kernel;
  ir::KernelFlow flow;
  std::shared_ptr<const ir::KernelFormulas> formulas;
};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 12; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > 12 ? text + ", ..." : text;
}

/// A profiler calls a kernel "softmax(float*, int)", its file "_Z7softmaxPfi": the one entry that
/// is meant, or the name itself.
std::string mangled(const std::string& name, const std::vector<std::string>& entries) {
  std::string found;
  for (const std::string& entry : entries) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain(
        abi::__cxa_demangle(entry.c_str(), nullptr, nullptr, &status), &std::free);
    if (plain != nullptr && ir::short_kernel_name(plain.get()) == ir::short_kernel_name(name)) {
      if (!found.empty()) {
        return name;
      }
      found = entry;
    }
  }
  return found.empty() ? name : found;
}

class KernelVerb {
 public:
  explicit KernelVerb(const Options& options) : options_(options) {}

  Outcome run() {
    auto parsed = read_kernels(options_.path);
    if (!parsed) {
      return failed(parsed.error());
    }
    module_ = std::move(parsed->module);
    auto machines = load_all(options_.machine);
    if (!machines) {
      return failed(machines.error());
    }
    std::vector<LaunchText> launches{options_.launch};
    if (!options_.launches.empty()) {
      auto read = read_launches(options_.launches);
      if (!read) {
        return failed(read.error());
      }
      launches = *std::move(read);
      for (LaunchText& each : launches) {  // what the file does not say of all of them
        each.arguments.insert(each.arguments.begin(), options_.launch.arguments.begin(),
                              options_.launch.arguments.end());
      }
    }
    if (options_.launches.empty() &&
        (options_.launch.grid.empty() || options_.launch.block.empty())) {
      return formulas_only();
    }
    std::vector<KernelAnswer> answers;
    Diagnostics errors;
    for (const LaunchText& launch : launches) {
      for (const hardware::Machine& machine : *machines) {
        auto answer = ask(launch, machine);
        if (answer) {
          answers.push_back(*std::move(answer));
        } else {
          append(errors, std::move(answer.error()));
        }
      }
    }
    return errors.empty() ? shown(answers) : failed(errors);
  }

 private:
  [[nodiscard]] Outcome shown(const std::vector<KernelAnswer>& answers) const {
    switch (options_.format) {
      case Format::kJson:
        return {.out = kernel_json(answers)};
      case Format::kCsv:
        return {.out = kernel_csv(answers)};
      case Format::kTable:
        break;
    }
    return {.out = kernel_table(answers)};
  }

  /// Without a launch there are no numbers, but formulas.
  Outcome formulas_only() {
    const auto prepared = prepare(options_.launch.kernel);
    if (!prepared) {
      return failed(prepared.error());
    }
    const ir::Kernel& kernel = (*prepared)->kernel;
    const ir::KernelFormulas& formulas = *(*prepared)->formulas;
    switch (options_.format) {
      case Format::kJson:
        return {.out = formulas_json(kernel, formulas)};
      case Format::kCsv:
        return {.out = formulas_csv(kernel, formulas)};
      case Format::kTable:
        break;
    }
    return {.out = formulas_table(kernel, formulas)};
  }

  Result<Prepared*> prepare(const std::string& wanted) {
    std::vector<std::string> entries;
    for (const std::string_view each : module_.entries()) {
      entries.emplace_back(each);
    }
    std::string name = wanted;
    if (name.empty() && entries.size() == 1) {
      name = entries[0];
    }
    if (std::ranges::find(entries, name) == entries.end()) {
      name = mangled(name, entries);
    }
    if (std::ranges::find(entries, name) == entries.end()) {
      const auto meant = name.empty() ? std::nullopt : did_you_mean(name, entries);
      return failure(
          "kernel-entry",
          name.empty() ? fmt::format("{} has {} kernels: say which by --entry", options_.path,
                                     entries.size())
                       : fmt::format("{} has no kernel '{}'", options_.path, name),
          {}, meant ? fmt::format("did you mean '{}'?", *meant) : "it has " + listed(entries));
    }
    const auto found = prepared_.find(name);
    if (found != prepared_.end()) {
      return found->second.get();
    }
    auto fresh = std::make_unique<Prepared>();
    fresh->kernel = frontend::ptx::lower(module_, *module_.find_function(name));
    fresh->flow = ir::analyse_flow(fresh->kernel);
    name_parameters(fresh->kernel, options_.parameters);
    fresh->formulas =
        std::make_shared<ir::KernelFormulas>(ir::formulas_of(fresh->kernel, fresh->flow));
    return prepared_.emplace(name, std::move(fresh)).first->second.get();
  }

  /// The architecture to assemble for: the machine's, or the file's where that is newer or is for
  /// it alone.
  [[nodiscard]] std::string target_for(const hardware::Machine& machine) const {
    std::string digits;
    std::ranges::copy_if(machine.compute_capability, std::back_inserter(digits),
                         [](char c) { return c != '.'; });
    const std::string own(module_.target.name);
    const int sm = digits.empty() ? 0 : std::stoi(digits);
    return sm < module_.target.sm || module_.target.suffix != '\0' ? own : "sm_" + digits;
  }

  model::kernel::Resources resources(const ir::Kernel& kernel, const hardware::Machine& machine,
                                     std::string& why) {
    if (!options_.no_ptxas) {
      const std::pair key{kernel.name, target_for(machine)};
      const auto known = assembled_.find(key);
      if (known != assembled_.end()) {
        return known->second;
      }
      if (const auto found = assemble(module_.source->text, kernel.name, key.second, why)) {
        return assembled_[key] = *found;
      }
    } else {
      why = "ptxas was not asked";
    }
    const std::int64_t estimate = std::clamp<std::int64_t>(kernel.live_registers, 16, 255);
    return {.registers = kernel.max_registers > 0 ? kernel.max_registers : estimate,
            .static_shared = kernel.static_shared};
  }

  Result<KernelAnswer> ask(const LaunchText& text, const hardware::Machine& machine) {
    const auto prepared = prepare(text.kernel);
    if (!prepared) {
      return failure(prepared.error());
    }
    const Prepared& at = **prepared;
    auto launch = read_launch(at.kernel, text, at.flow.loops.size(), !options_.launches.empty());
    if (!launch) {
      return failure(launch.error());
    }
    std::string sampled;
    if (options_.sample.blocks > 0) {
      auto found = sample(at, *launch);
      if (!found) {
        return failure(std::move(found.error()));
      }
      sampled = *std::move(found);
    }
    std::string why;
    const auto taken = resources(at.kernel, machine, why);
    auto report = model::kernel::analyse(at.kernel, at.flow, *launch, machine, taken);
    if (!report) {
      return failure(report.error());
    }
    if (!why.empty()) {
      report->assumptions.push_back(why);
    }
    if (!sampled.empty()) {
      report->assumptions.push_back(sampled);
    }
    KernelAnswer answer{.report = *std::move(report),
                        .case_name = text.name,
                        .measured_s = text.measured_s,
                        .formulas = at.formulas};
    if (options_.by_line) {
      answer.lines = by_line(at, *launch);
    }
    return answer;
  }

  /// Gives loops that depend on data the trip counts of a few blocks, run by the interpreter; what
  /// to say of it.
  Result<std::string> sample(const Prepared& at, model::kernel::Launch& launch) const {
    auto loops = model::kernel::count(at.kernel, at.flow, launch).findings.unknown_loops;
    std::erase_if(loops, [&](std::uint32_t loop) { return launch.trips.contains(loop); });
    if (loops.empty()) {
      return std::string();
    }
    const auto found = sample_trips(module_, at.kernel, at.flow, launch, loops, options_.sample);
    if (!found) {
      return failure(found.error());
    }
    std::string text;
    for (const auto& [loop, trips] : found->trips) {
      launch.trips[loop] = trips;
      text += fmt::format("{}trip_{} = {:.4g}", text.empty() ? "" : ", ", ir::loop_name(loop),
                          trips.count);
    }
    return fmt::format(
        "{} by running {} of {} blocks; buffers that were not given hold noise: floating point in "
        "[0, 1), integers below 1024{}",
        text, found->blocks, launch.blocks(),
        found->computed ? "" : "; not all results were computed");
  }

  static std::vector<LineDemand> by_line(const Prepared& at, const model::kernel::Launch& launch) {
    const model::kernel::Counts counts = model::kernel::count(at.kernel, at.flow, launch);
    const std::vector<double> issued = model::kernel::issued_warps(at.kernel, counts);
    std::map<std::uint32_t, LineDemand> lines;
    for (std::size_t i = 0; i < at.kernel.instructions.size(); ++i) {
      const ir::KernelInstruction& each = at.kernel.instructions[i];
      const ir::InstructionClass& kind = at.kernel.classes[each.kind];
      LineDemand& line = lines[each.line];
      line.line = each.line;
      line.warp_instructions += issued[i] * each.machine;
      line.flops += counts.thread[i] * (kind.flops_fp32 + kind.flops_fp64 + kind.flops_fp16) +
                    counts.warp[i] * kind.tensor_flops;
      if (each.access != ir::kNothing) {
        const model::kernel::AccessCounts& access = counts.accesses[each.access];
        const bool shared = access.space == ir::MemorySpace::kShared;
        line.global_sectors += shared ? 0 : access.sectors;
        line.shared_wavefronts += shared ? access.wavefronts : 0;
        line.bank_conflicts += shared ? access.wavefronts - access.ideal : 0;
      }
    }
    std::vector<LineDemand> result;
    result.reserve(lines.size());
    for (const auto& [number, line] : lines) {
      result.push_back(line);
    }
    return result;
  }

  const Options& options_;
  frontend::ptx::Module module_;
  std::map<std::string, std::unique_ptr<Prepared>> prepared_;
  std::map<std::pair<std::string, std::string>, model::kernel::Resources> assembled_;
};

void add_launch_options(CLI::App& verb, Options& options) {
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return verb.add_option(name, value, help)->type_name(type)->group("Launch");
  };
  add("--entry", options.launch.kernel, "NAME", "The kernel (default: the only one)");
  add("--grid", options.launch.grid, "X,Y,Z", "Blocks");
  add("--block", options.launch.block, "X,Y,Z", "Threads of a block");
  add("--shared", options.launch.shared, "BYTES", "Dynamic shared memory of a block");
  add("--params", options.parameters, "NAMES", "Names of the parameters in order, with commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  add("--arg", options.launch.arguments, "NAME=VALUE",
      "An argument by name or position, or the count of a loop: n=1024, 0=1024, trip_L1=12")
      ->allow_extra_args(false);
  add("--sample", options.sample.blocks, "BLOCKS",
      "Run that many blocks in the interpreter for the counts of loops that depend on data")
      ->check(CLI::PositiveNumber);
  add("--buffer", options.sample.buffers, "NAME=FILE",
      "With --sample: the bytes that a pointer points to (default: noise)")
      ->allow_extra_args(false);
  add("--launches", options.launches, "FILE.csv",
      "Launches to take from a file: kernel, grid, block, dynamic_smem, arguments; or an Nsight "
      "Compute CSV");
}

}  // namespace

Run add_kernel(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("kernel", "What a GPU kernel asks for and how long it takes");
  verb->footer(R"(Examples:
  mansard kernel saxpy.ptx -m h200-sxm --grid 1056 --block 256 --params n,a,x,y --arg n=67108864
  mansard kernel kernels.ptx -m a100-sxm-80gb,h200-sxm --entry transpose --grid 256,256 --block 32,8 --arg 0=8192
  mansard kernel kernels.ptx -m h200-sxm --launches launches.csv --format csv)");
  auto options = std::make_shared<Options>();
  verb->add_option("FILE", options->path,
                   "A .ptx file, or .ll or .bc of clang --cuda-device-only -emit-llvm")
      ->required();
  add_launch_options(*verb, *options);
  add_machine_options(*verb, options->machine);
  verb->get_option("--machine")->required(false);  // --on names them too
  verb->add_option("--on", options->machine.machines, "More machines to compare, with commas")
      ->type_name("MACHINE")
      ->delimiter(',')
      ->group("Machine");
  verb->add_flag("--by-line", options->by_line, "Also show demand by source line (.loc)")
      ->group("Output");
  verb->add_flag("--no-ptxas", options->no_ptxas, "Estimate registers instead of asking ptxas")
      ->group("Output");
  add_format_option(*verb, options->format);
  return [options] {
    if (options->machine.machines.empty()) {
      return Outcome{.err =
                         "error: mansard kernel: --machine is required [usage]\n"
                         "see: mansard kernel --help\n",
                     .exit_code = kUsage};
    }
    return KernelVerb(*options).run();
  };
}

}  // namespace mansard::cli
