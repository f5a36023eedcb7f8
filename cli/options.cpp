#include "cli/options.hpp"

#include <map>

#include <CLI/CLI.hpp>

#include "cli/validators.hpp"

namespace mansard::cli {
namespace {

/// Adds options to one group of `--help`.
class Group {
 public:
  Group(CLI::App& app, std::string name) : app_(&app), name_(std::move(name)) {}

  template <typename T>
  CLI::Option* add(const char* names, T& value, const char* type, const char* help) {
    return app_->add_option(names, value, help)->type_name(type)->group(name_);
  }
  /// A whole number from 1, whose default is shown.
  CLI::Option* count(const char* names, std::int64_t& value, const char* help) {
    return add(names, value, "N", help)->check(at_least(1))->capture_default_str();
  }
  /// A whole number from 0, which is also the default and means that there is none.
  CLI::Option* tokens(const char* names, std::int64_t& value, const char* help) {
    return add(names, value, "N", help)->check(at_least(0));
  }
  CLI::Option* choice(const char* names, std::string& value, std::vector<std::string> words,
                      const char* help) {
    return add(names, value, "WORD", help)->check(one_of(std::move(words)))->capture_default_str();
  }
  CLI::Option* flag(const char* names, bool& value, const char* help) {
    return app_->add_flag(names, value, help)->group(name_);
  }

 private:
  CLI::App* app_;
  std::string name_;
};

void add_formats(Group& group, ModelOptions& options) {
  group.add("--weights", options.weights, "DTYPE", "Weights of the layers (default: the model's)");
  group.add("--kv", options.kv, "DTYPE", "KV cache (default: the model's)");
  group.add("--activations", options.activations, "DTYPE",
            "Inputs of the layers' matmuls (default: the model's)");
}

void add_ranks(Group& group, ModelOptions& options) {
  group.count("--tp", options.tp, "Tensor parallel ranks");
  group.count("--pp", options.pp, "Pipeline stages");
  group.count("--ep", options.ep, "Expert parallel ranks");
  group.count("--dp", options.dp, "Data parallel replicas; they share the batch");
}

void add_parallelism(Group& group, ModelOptions& options) {
  add_ranks(group, options);
  group
      .add("--microbatches", options.microbatches, "N",
           "Parts of the batch in the pipeline (default: --pp)")
      ->check(at_least(1));
  group.count("--cp", options.cp, "Context parallel ranks");
  group.flag("--sequence-parallel", options.sequence_parallel,
             "Reduce-scatter and all-gather around norms instead of all-reduce");
}

void add_execution(Group& group, ModelOptions& options) {
  group.choice("--attention", options.attention, {"fused", "unfused"},
               "fused never writes the score matrix");
  group.choice("--fusion", options.fusion, {"on", "off"},
               "Of ONNX graphs: elementwise ops join the op before, scores an attention");
  group
      .add("--experts-touched", options.experts_touched, "N",
           "Distinct experts a step uses (default: expected under uniform routing)")
      ->check(at_least(1));
  group.tokens("--kv-page", options.page, "Allocate KV in pages of N tokens");
  group.tokens("--kv-window", options.window, "Keep only the last N tokens of KV");
  group.tokens("--kv-prefix", options.prefix, "All sequences share the first N tokens of KV");
  group.tokens("--draft", options.draft, "Speculative decoding: tokens drafted a step");
  group.add("--acceptance", options.acceptance, "P", "Chance that a drafted token is accepted")
      ->check(fraction())
      ->capture_default_str();
}

}  // namespace

void add_change_options(CLI::App& app, MachineOptions& options) {
  Group group(app, "Machine");
  group
      .add("--set", options.settings, "PATH=VALUE",
           "Change a figure: hbm.bandwidth='8 TB/s', sm_count='*1.5', l2.capacity='+10 MiB'")
      ->allow_extra_args(false);
  group.add("--overlay", options.overlays, "FILE", "Change the machine as this YAML file says")
      ->allow_extra_args(false);
}

void add_machine_options(CLI::App& app, MachineOptions& options) {
  Group group(app, "Machine");
  group
      .add("--machine,-m", options.machines, "MACHINE",
           "Names or YAML files, with commas; several stand side by side")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required();
  add_change_options(app, options);
  group.add("--calibration", options.calibration, "FILE",
            "Utilisations from this file (default: those of the machine)");
  group.flag("--no-calibration", options.no_calibration, "Structural utilisations only");
  group.add("--implementation", options.implementation, "NAME",
            "Whose kernels are estimated: cublaslt, cudnn, nccl, ...");
  group.choice("--mode", options.mode, {"graph", "stream", "eager"}, "How kernels are issued");
  group.choice("--regime", options.regime, {"sustained", "burst"},
               "Clocks under the power cap, or the greatest");
}

void add_model_options(CLI::App& app, ModelOptions& options) {
  app.add_option("MODEL", options.model,
                 "A built-in model (mansard models), a config.json, an .onnx or an .ir.yaml")
      ->required();
  Group work(app, "Workload");
  work.choice("--phase", options.phase, {"decode", "prefill"},
              "decode: one new token a sequence; prefill: a prompt of --context tokens");
  work.count("--batch,-b", options.batch, "Sequences in the step, over all replicas");
  work.count("--context,-c", options.context, "Tokens attended, the new one included");
  Group deployment(app, "Deployment");
  add_parallelism(deployment, options);
  deployment
      .add("--memory-utilization", options.memory_utilization, "F", "Usable share of the memory")
      ->check(fraction())
      ->capture_default_str();
  deployment.add("--price", options.price, "USD", "USD per GPU-hour (default: the machine's)")
      ->check(not_negative());
  Group formats(app, "Formats and execution");
  add_formats(formats, options);
  add_execution(formats, options);
}

void add_deployment_options(CLI::App& app, ModelOptions& options) {
  app.add_option("MODEL", options.model,
                 "A built-in model (mansard models), a config.json or an .ir.yaml")
      ->required();
  Group deployment(app, "Deployment");
  add_ranks(deployment, options);
  deployment.add("--price", options.price, "USD", "USD per GPU-hour (default: the machine's)")
      ->check(not_negative());
  Group formats(app, "Formats and execution");
  add_formats(formats, options);
}

void add_format_option(CLI::App& app, Format& format) {
  static const std::map<std::string, Format> formats{
      {"table", Format::kTable}, {"json", Format::kJson}, {"csv", Format::kCsv}};
  app.add_option_function<std::string>(
         "--format", [&format](const std::string& name) { format = formats.at(name); },
         "Of the output")
      ->check(one_of({"table", "json", "csv"}))
      ->type_name("WORD")
      ->default_str("table")
      ->group("Output");
}

}  // namespace mansard::cli
