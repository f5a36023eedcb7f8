#include "cli/sweep/sweep.hpp"

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/validators.hpp"
#include "cli/verb.hpp"

namespace mansard::cli {
namespace {

void add_output_options(CLI::App& verb, SweepRequest& options) {
  const auto add = [&verb](const char* names, auto& value, const char* type, const char* help) {
    return verb.add_option(names, value, help)->type_name(type)->group("Output");
  };
  add("--output", options.outputs, "FIELD",
      "Fields of the prediction, with commas: bound_s, tpot_s, memory.bytes, ops.NAME.estimate_s")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("bound_s,low_s,estimate_s,high_s");
  add("--where", options.where, "CONDITION", "Only these: 'memory.fits and tpot < 50 ms'");
  add("--top", options.top, "N", "Only the N best by --by")->check(at_least(1));
  add("--by", options.by, "FIELD[:min|max]", "What is best (default end: max of rates, else min)");
  add("--pareto", options.pareto, "FIELD[:min|max],...", "Only points that no other beats in all");
  add("--aggregate", options.aggregates, "WORD", "What all points come to, with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of({"sum", "min", "max", "mean"}));
  add("--group-by", options.group_by, "AXIS", "Aggregate apart for each value of these axes")
      ->delimiter(',')
      ->allow_extra_args(false);
  add("-o", options.file, "FILE", "Write points to FILE.csv, .jsonl or .sqlite as they come");
  add("--shard", options.shard, "I/N", "Only the I-th of N parts, which together are the whole");
  add("--threads", options.threads, "N", "Threads (default: all processors)");
  verb.add_flag("--interpret", options.interpret, "Evaluate without machine code")->group("Output");
}

}  // namespace

Run add_sweep(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("sweep", "A model at every point of a product of axes");
  verb->footer(R"(Axes: batch=1,2,4 a list; tp=1..8 by one; batch=1..512*2 geometric;
hbm.bandwidth=1..20+0.5 TB/s linear; hbm.bandwidth=1..20~50 TB/s 50 values evenly apart in their
logarithm; weights=bf16,fp8 words; 'batch=1,2 with context=8192,4096' together. Points come in the
order of the axes, those that change the expression (tp, weights, machine) first.
Examples:
  mansard sweep llama3-8b -m h200-sxm --vary batch=1..256*2 --vary hbm.bandwidth='2..8+2 TB/s'
  mansard sweep llama3-70b -m h200-sxm,b200-sxm --vary tp=1..8*2 --vary batch=1..512*2 \
    --where 'tpot < 30 ms' --top 5 --by usd_per_million_tokens
  mansard sweep llama3-8b -m h200-sxm --vary batch=1..1000 --output tpot_s -o points.csv)");
  auto options = std::make_shared<SweepRequest>();
  add_model_options(*verb, options->question.model);
  add_machine_options(*verb, options->question.machine);
  verb->add_option("--vary", options->vary, "An axis: NAME=VALUES, see below")
      ->type_name("AXIS")
      ->allow_extra_args(false)
      ->required();
  add_output_options(*verb, *options);
  add_format_option(*verb, options->format);
  return [options] {
    if (options->outputs.empty()) {
      options->outputs = {"bound_s", "low_s", "estimate_s", "high_s"};
    }
    if ((options->top > 0) != !options->by.empty()) {
      return failed({{"top", "--top and --by go together", {}, {}}});
    }
    if (!options->group_by.empty() && options->aggregates.empty()) {
      return failed(
          {{"group-by", "--group-by says how to --aggregate", {}, "add --aggregate mean"}});
    }
    return sweep(*options);
  };
}

}  // namespace mansard::cli
