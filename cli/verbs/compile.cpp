#include <filesystem>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/options.hpp"
#include "cli/predictor.hpp"
#include "cli/process.hpp"
#include "cli/sweep/settings.hpp"
#include "cli/validators.hpp"
#include "cli/verb.hpp"
#include "model/outputs.hpp"
#include "model/program/batch.hpp"
#include "model/program/kernel.hpp"
#include "support/plugin.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

using model::ArtefactForm;

struct Options {
  ModelOptions model;
  MachineOptions machine;
  std::string emit;
  std::string file;
  std::string cpu = "native";
  bool contract = false;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// What is emitted, with the names that its header documents.
struct Artefact {
  std::string code;
  std::vector<std::string> inputs;  ///< "batch", "hbm.bandwidth [B/s]".
  std::vector<std::string> outputs;
};

ArtefactForm form_of(const std::string& name) {
  static const std::map<std::string, ArtefactForm> forms{{"llvm-ir", ArtefactForm::kLlvmIr},
                                                         {"object", ArtefactForm::kObject},
                                                         {"wasm", ArtefactForm::kWasm},
                                                         {"ptx", ArtefactForm::kPtx}};
  return forms.at(name);
}

std::string with_unit(const std::string& name, const Dimension& dimension) {
  return dimension == kNumber ? name : fmt::format("{} [{}]", name, unit_of(dimension));
}

Result<Artefact> emit(const model::Predictor& predictor, const Options& options) {
  const model::Workload workload = workload_of(options.model);
  const auto all = model::outputs_of(predictor, workload);
  ir::ExprPool& pool = predictor.cost().graph->pool();
  Artefact artefact;
  std::vector<ir::Expr> roots;
  Diagnostics errors;
  for (const std::string& name : options.outputs) {
    const auto output = model::find_output(all, name);
    if (!output) {
      errors.insert(errors.end(), output.error().begin(), output.error().end());
      continue;
    }
    roots.push_back(output->expr);
    artefact.outputs.push_back(with_unit(output->name, output->expr.dimension()));
  }
  model::Program::Symbols symbols;
  for (const std::string& name : options.inputs) {
    const std::string path = predictor.machine().resolve(name);
    const ir::Expr symbol = pool.find_symbol(path);
    if (!symbol) {
      errors.push_back({"unknown-input",
                        fmt::format("the model reads no symbol '{}'", name),
                        {},
                        "batch, context or a figure of the machine that is not derived"});
      continue;
    }
    symbols.point.push_back(path);
    artefact.inputs.push_back(with_unit(path, symbol.dimension()));
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  const auto compiler = llvm_interface<model::KernelCompiler>();
  if (!compiler) {
    return failure(compiler.error());
  }
  const auto function = model::BatchFunction::make(
      roots, symbols, model::output_bindings(predictor, workload), {.interpret = true});
  if (!function) {
    return failure(function.error());
  }
  auto code = (*compiler)->emit(
      function->program(), function->fixed(),
      {.form = form_of(options.emit), .cpu = options.cpu, .contract = options.contract});
  if (!code) {
    return failure(std::move(code.error()));
  }
  artefact.code = std::move(*code);
  return artefact;
}

std::string header(const Artefact& artefact, const Options& options) {
  std::string text = fmt::format(
      "/* {} {} on {}, by mansard compile. Values are in base units, {}\n\n", options.model.model,
      options.model.phase, options.machine.machines.front(),
      options.contract
          ? "products may be contracted into sums:\n"
            "   each multiply-add is within half an ulp of its product of mansard's interpreter."
          : "results have the bits of\n   mansard's interpreter (0 ulp).");
  const auto list = [&](const char* array, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += fmt::format("   {}[{}][j]  {}\n", array, i, names[i]);
    }
  };
  list("in", artefact.inputs);
  list("out", artefact.outputs);
  return text + fmt::format(R"(*/
#ifndef MANSARD_EVALUATE_H
#define MANSARD_EVALUATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

enum {{ MANSARD_INPUTS = {}, MANSARD_OUTPUTS = {} }};

/* Evaluates n points: in[i][j] is input i at point j, out[k][j] becomes output k there. */
void mansard_evaluate(const double* const* in, double* const* out, int64_t n);

#ifdef __cplusplus
}}
#endif

#endif
)",
                            artefact.inputs.size(), artefact.outputs.size());
}

/// Links an object of WebAssembly into a module that exports the function and its memory.
Result<void> link_wasm(const std::string& object, const std::string& file) {
  for (const char* linker : {"wasm-ld-19", "wasm-ld"}) {
    const auto linked = run_program({linker, "--no-entry", "--export=mansard_evaluate",
                                     "--export=__heap_base", object, "-o", file});
    if (!linked) {
      continue;
    }
    if (linked->code == 0) {
      return {};
    }
    return failure("wasm-link", fmt::format("{} could not link {}", linker, file));
  }
  return failure("wasm-link", "there is no wasm-ld-19 to link WebAssembly with", {},
                 "install lld-19");
}

/// The machine with figures that stay variable taken as changed, as a sweep over them takes them:
/// what was fitted to the value they have does not hold for others.
MachineOptions varied(const Options& options) {
  MachineOptions machine = options.machine;
  for (const std::string& name : options.inputs) {
    if (find_setting(name) == nullptr) {
      machine.settings.push_back(name + "=*1");
    }
  }
  return machine;
}

Outcome compile(const Options& options) {
  const auto predictor = build_predictor(options.model, varied(options));
  if (!predictor) {
    return failed(predictor.error());
  }
  const auto artefact = emit(*predictor, options);
  if (!artefact) {
    return failed(artefact.error());
  }
  const bool wasm = options.emit == "wasm";
  const std::string code_file = wasm ? options.file + ".o" : options.file;
  if (auto written = write_file("-o", code_file, artefact->code); !written) {
    return failed(written.error());
  }
  if (wasm) {
    const auto linked = link_wasm(code_file, options.file);
    std::error_code ignored;
    std::filesystem::remove(code_file, ignored);
    if (!linked) {
      return failed(linked.error());
    }
  }
  const std::string header_file =
      std::filesystem::path(options.file).replace_extension(".h").string();
  if (auto written = write_file("-o", header_file, header(*artefact, options)); !written) {
    return failed(written.error());
  }
  return {.out = fmt::format("{} ({}), {}\n", options.file, options.emit, header_file)};
}

}  // namespace

Run add_compile(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "compile", "A model on a machine as an object, LLVM IR, WebAssembly or PTX");
  verb->footer(R"(Writes FILE and a C header beside it, which documents the one function:
mansard_evaluate(in, out, n), arrays of inputs to arrays of outputs.
Examples:
  mansard compile llama3-8b -m h200-sxm --emit object -o llama.o
  mansard compile llama3-8b -m h200-sxm --emit ptx --cpu sm_90 --input batch,hbm.bandwidth -o llama.ptx
  mansard compile llama3-8b -m h200-sxm --emit wasm -o llama.wasm)");
  auto options = std::make_shared<Options>();
  add_model_options(*verb, options->model);
  add_machine_options(*verb, options->machine);
  verb->add_option("--emit", options->emit, "What to write")
      ->check(one_of({"llvm-ir", "object", "wasm", "ptx"}))
      ->type_name("WORD")
      ->group("Output")
      ->required();
  verb->add_option("-o", options->file, "Where to write it")
      ->type_name("FILE")
      ->group("Output")
      ->required();
  verb->add_option("--cpu", options->cpu, "Processor as LLVM calls it: x86-64-v3, sm_90")
      ->type_name("NAME")
      ->group("Output")
      ->capture_default_str();
  verb->add_flag("--contract", options->contract,
                 "Let a product and a sum become one multiply-add, which rounds once")
      ->group("Output");
  verb->add_option("--input", options->inputs, "Symbols that stay variable, with commas")
      ->type_name("PATH")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("batch,context")
      ->group("Output");
  verb->add_option("--output", options->outputs, "Fields of the prediction, with commas")
      ->type_name("FIELD")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("bound_s,low_s,estimate_s,high_s")
      ->group("Output");
  return [options] {
    if (options->inputs.empty()) {
      options->inputs = {"batch", "context"};
    }
    if (options->outputs.empty()) {
      options->outputs = {"bound_s", "low_s", "estimate_s", "high_s"};
    }
    return compile(*options);
  };
}

}  // namespace mansard::cli
