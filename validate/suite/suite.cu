#include <algorithm>

#include "validate/measure/ops_file.hpp"
#include "validate/measure/shapes.hpp"
#include "validate/suite/ops.cuh"
#include "validate/suite/suite.hpp"

namespace mansard::measure {
namespace {

constexpr std::string_view kColumns[] = {
    "machine",  "implementation", "mode",     "cache",     "op",       "dtype",  "out_dtype",
    "kv_dtype", "phase",          "model",    "m",         "n",        "k",      "batch",
    "rows",     "cols",           "elements", "q_heads",   "kv_heads", "q_len",  "kv_len",
    "head_dim", "causal",         "window",   "experts",   "top_k",    "tokens", "experts_touched",
    "spread",   "context",        "vocab",    "median_us", "min_us",   "max_us", "trials",
    "calls",    "sm_mhz",         "power_w",  "temp_c",    "throttle", "flag",   "source"};

bool wanted(const Options& options, const Row& row) {
  return options.only.empty() ||
         std::ranges::find(options.only, row.text("op")) != options.only.end();
}

Job job_of(const Row& row, const SuiteOp& op, bool warm) {
  return {row.describe() + (warm ? " cache=warm" : ""),
          [row, &op, warm](Lab& lab) { op.measure(lab, row, warm); }, true};
}

/// Said in the notes: the ops of a model's graph are more than the suite's.
Job not_in_suite(const Row& row) {
  return {row.describe(), [](Lab&) { throw Unsupported("no such op in the suite"); }, true};
}

/// Every op cold, then, of those that can be, warm: a short budget loses the latter.
std::vector<Job> make_jobs(const Options& options, const std::vector<Row>& rows) {
  std::vector<Job> jobs;
  for (const bool warm : {false, true}) {
    if (warm && options.profile) {
      break;
    }
    for (const Row& row : rows) {
      const SuiteOp* const op = wanted(options, row) ? find_suite_op(row.text("op")) : nullptr;
      if (!warm && wanted(options, row) && op == nullptr) {
        jobs.push_back(not_in_suite(row));
      }
      for (const SuiteOp& runner : suite_ops()) {
        if (op != nullptr && runner.name == op->name && (!warm || runner.has_warm)) {
          jobs.push_back(job_of(row, runner, warm));
        }
      }
    }
  }
  return jobs;
}

}  // namespace

int run_suite(const Options& options) {
  const std::vector<Row> rows = options.ops.empty() ? default_ops() : read_ops(options.ops);
  return run_jobs(options, "suite.csv", kColumns, make_jobs(options, rows));
}

}  // namespace mansard::measure
