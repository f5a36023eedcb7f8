#include "cli/views/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/sweep/axes.hpp"
#include "cli/sweep/progress.hpp"
#include "cli/sweep/stream_sink.hpp"
#include "cli/sweep/variants.hpp"
#include "cli/validators.hpp"
#include "cli/verb.hpp"
#include "model/sweep/sinks.hpp"

namespace mansard::cli {
namespace {

/// Rows of a table that a person may want to read.
constexpr double kLargestTable = 10'000;
/// Points that are written one by one; beyond, only what is kept in memory makes sense.
constexpr double kLargestStream = 1e12;
/// Points that can be told apart.
constexpr double kLargestSweep = 9e18;

struct Options {
  Question question;
  std::vector<std::string> vary;
  std::vector<std::string> outputs;
  std::string where;
  std::string pareto;
  std::size_t top = 0;
  std::string by;
  std::vector<std::string> aggregates;
  std::vector<std::string> group_by;
  std::string file;
  std::string shard;
  unsigned threads = 0;
  bool interpret = false;
  Format format = Format::kTable;

  [[nodiscard]] bool keeps_little() const {
    return top > 0 || !pareto.empty() || !aggregates.empty();
  }
};

/// A field with the end that is better: "tokens_per_second:max".
struct Objective {
  std::string field;
  bool greatest = false;
};

Result<Objective> parse_objective(const std::string& option, const std::string& text) {
  const std::size_t colon = text.find(':');
  Objective result{text.substr(0, colon)};
  result.greatest = result.field.find("per_second") != std::string::npos;
  if (colon != std::string::npos) {
    const std::string end = text.substr(colon + 1);
    if (end != "min" && end != "max") {
      return failure("objective", fmt::format("{}: expected min or max, found '{}'", option, end));
    }
    result.greatest = end == "max";
  }
  return result;
}

Result<std::vector<Objective>> parse_objectives(const std::string& option,
                                                const std::string& text) {
  std::vector<Objective> result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    auto objective = parse_objective(option, text.substr(begin, end - begin));
    if (!objective) {
      return failure(std::move(objective.error()));
    }
    result.push_back(std::move(*objective));
    begin = end + 1;
  }
  return result;
}

/// The place of a field among the outputs, which it joins if need be.
std::size_t place_of(const std::string& field, std::vector<std::string>& outputs) {
  const auto found = std::ranges::find(outputs, field);
  if (found != outputs.end()) {
    return static_cast<std::size_t>(found - outputs.begin());
  }
  outputs.push_back(field);
  return outputs.size() - 1;
}

/// "2/4": the second of four parts.
Result<std::pair<std::uint64_t, std::uint64_t>> part_of(const std::string& shard,
                                                        std::uint64_t points) {
  if (shard.empty()) {
    return std::pair(std::uint64_t{0}, points);
  }
  std::uint64_t part = 0;
  std::uint64_t parts = 0;
  const char* end = shard.data() + shard.size();
  const auto [slash, bad_part] = std::from_chars(shard.data(), end, part);
  const bool has_slash = slash != end && *slash == '/';
  const auto [last, bad_parts] = std::from_chars(has_slash ? slash + 1 : end, end, parts);
  if (bad_part != std::errc() || bad_parts != std::errc() || last != end || part < 1 ||
      part > parts) {
    return failure("shard", fmt::format("--shard takes I/N with I from 1 to N, found '{}'", shard));
  }
  const auto boundary = [&](std::uint64_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(points) * i / parts);
  };
  return std::pair(boundary(part - 1), boundary(part));
}

Result<void> check_size(const model::SweepSpace& space, const Options& options) {
  const double points = space.points();
  const auto refuse = [&](const char* label) {
    return failure("sweep-size", fmt::format("this is a sweep of {:.6g} points", points), {},
                   label);
  };
  if (points > kLargestSweep || (points > kLargestStream && !options.keeps_little())) {
    return refuse("keep the best with --top N --by FIELD, or --aggregate, and shorten axes");
  }
  const bool streams = !options.file.empty() || options.format == Format::kCsv;
  if (points > kLargestTable && !options.keeps_little() && !streams) {
    return refuse("write them with -o FILE.csv, or keep the best with --top N --by FIELD");
  }
  return {};
}

std::atomic<bool> interrupted{false};

extern "C" void interrupt(int /*signal*/) {
  interrupted = true;
}

/// While it lives, Ctrl-C ends the sweep in good order.
class InterruptGuard {
 public:
  InterruptGuard() : before_(std::signal(SIGINT, interrupt)) {}
  ~InterruptGuard() { std::signal(SIGINT, before_); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  void (*before_)(int);
};

std::vector<SweepColumn> axis_columns(const model::SweepSpace& space) {
  std::vector<SweepColumn> columns;
  for (const auto* groups : {&space.structural, &space.symbolic}) {
    for (const model::AxisGroup& group : *groups) {
      for (const model::Axis& axis : group) {
        columns.push_back({axis.name, axis.dimension, !axis.words.empty()});
      }
    }
  }
  return columns;
}

class Sweep {
 public:
  Sweep(const Options& options, model::SweepSpace space)
      : options_(options), space_(std::move(space)), wanted_(options.outputs) {}

  Outcome run() {
    auto part = part_of(options_.shard, space_.variants() * space_.per_variant());
    if (!part) {
      return failed(part.error());
    }
    std::tie(run_options_.begin, run_options_.end) = *part;
    run_options_.threads = options_.threads;
    if (!options_.aggregates.empty()) {
      return aggregate();
    }
    if (!options_.pareto.empty()) {
      return pareto();
    }
    if (options_.top > 0) {
      return top();
    }
    const bool streams = !options_.file.empty() || options_.format == Format::kCsv;
    return streams ? stream() : collect();
  }

 private:
  Outcome aggregate() {
    const auto columns = axis_columns(space_);
    SweepReport report{.aggregates = options_.aggregates};
    for (const std::string& name : options_.group_by) {
      const auto axis = std::ranges::find(columns, name, &SweepColumn::name);
      if (axis == columns.end()) {
        return failed({{"group-by", fmt::format("--group-by: '{}' is not varied", name), {}, {}}});
      }
      report.group_by.push_back(*axis);
    }
    model::AggregateSink sink(options_.group_by);
    if (auto counts = evaluate(sink)) {
      report.groups = sink.groups();
      return shown(std::move(report), *counts);
    }
    return failed(errors_);
  }

  Outcome pareto() {
    const auto objectives = parse_objectives("--pareto", options_.pareto);
    if (!objectives) {
      return failed(objectives.error());
    }
    std::vector<model::ParetoSink::Objective> places;
    for (const Objective& objective : *objectives) {
      places.push_back({place_of(objective.field, wanted_), objective.greatest});
    }
    model::ParetoSink sink(std::move(places));
    return points(sink);
  }

  Outcome top() {
    const auto objective = parse_objective("--by", options_.by);
    if (!objective) {
      return failed(objective.error());
    }
    model::TopSink sink(options_.top, place_of(objective->field, wanted_), objective->greatest);
    return points(sink);
  }

  Outcome collect() {
    model::CollectSink sink;
    return points(sink);
  }

  template <typename Sink>
  Outcome points(Sink& sink) {
    auto counts = evaluate(sink);
    if (!counts) {
      return failed(errors_);
    }
    SweepReport report;
    for (const model::SweepPoint& point : sink.points()) {
      report.rows.push_back({model::axis_texts(space_, point.labels, point.index), point.outputs});
    }
    return shown(std::move(report), *counts);
  }

  Outcome stream() {
    std::FILE* file = options_.file.empty() ? stdout : std::fopen(options_.file.c_str(), "wb");
    if (file == nullptr) {
      return failed({{"output-file",
                      fmt::format("-o: cannot write '{}': {}", options_.file,
                                  std::generic_category().message(errno)),
                      {},
                      {}}});
    }
    bool written = true;
    const auto write = [&](std::string_view text) {
      written = written && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    };
    const bool json_lines = options_.file.ends_with(".jsonl");
    StreamSink sink(json_lines ? StreamSink::Form::kJsonLines : StreamSink::Form::kCsv, wanted_,
                    write);
    if (run_options_.begin == 0) {
      write(sink.heading(space_));
    }
    const auto counts = evaluate(sink);
    written = (file == stdout ? std::fflush(file) : std::fclose(file)) == 0 && written;
    if (!counts) {
      return failed(errors_);
    }
    if (!written) {
      return failed(
          {{"output-file", fmt::format("-o: '{}' could not be written", options_.file), {}, {}}});
    }
    const std::string summary = sweep_counts(*counts) + interruption();
    Outcome outcome{.exit_code = interrupted ? kBadInput : kOk};
    (file == stdout ? outcome.err : outcome.out) = summary;
    return outcome;
  }

  std::optional<model::SweepCounts> evaluate(model::SweepSink& sink) {
    const InterruptGuard guard;
    VariantMaker maker(
        space_, options_.question,
        {.outputs = wanted_, .where = options_.where, .interpret = options_.interpret});
    Progress progress(static_cast<double>(run_options_.end - run_options_.begin));
    run_options_.stop = &interrupted;
    run_options_.progress = [&](std::uint64_t done) { progress(done); };
    auto counts = model::run_sweep(
        space_,
        [&](std::span<const std::uint64_t> places) {
          auto variant = maker.make(places);
          if (!maker.errors().empty()) {
            interrupted = true;
          }
          return variant;
        },
        sink, run_options_);
    outputs_ = maker.outputs();
    errors_ = maker.errors();
    if (errors_.empty()) {
      return counts;
    }
    interrupted = false;
    return std::nullopt;
  }

  Outcome shown(SweepReport report, const model::SweepCounts& counts) {
    report.model = options_.question.model.model;
    report.axes = axis_columns(space_);
    for (const OutputName& output : outputs_) {
      report.outputs.push_back({output.name, output.dimension});
    }
    report.counts = counts;
    const std::string text = options_.format == Format::kJson  ? sweep_json(report)
                             : options_.format == Format::kCsv ? sweep_csv(report)
                                                               : sweep_table(report);
    Outcome outcome{.err = interruption(), .exit_code = interrupted ? kBadInput : kOk};
    if (options_.file.empty()) {
      outcome.out = text;
    } else if (auto written = write_file(
                   "-o", options_.file, options_.file.ends_with(".csv") ? sweep_csv(report) : text);
               !written) {
      return failed(written.error());
    }
    return outcome;
  }

  [[nodiscard]] static std::string interruption() {
    return interrupted ? "interrupted: only the first points were evaluated\n" : "";
  }

  const Options& options_;
  model::SweepSpace space_;
  std::vector<std::string> wanted_;
  std::vector<OutputName> outputs_;
  model::SweepOptions run_options_;
  Diagnostics errors_;
};

Outcome sweep(const Options& options) {
  auto space = sweep_space(options.vary, options.question);
  if (!space) {
    return failed(space.error());
  }
  if (const auto checked = check_size(*space, options); !checked) {
    return failed(checked.error());
  }
  return Sweep(options, std::move(*space)).run();
}

void add_output_options(CLI::App& verb, Options& options) {
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
  add("-o", options.file, "FILE", "Write points to FILE.csv or FILE.jsonl as they come");
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
  auto options = std::make_shared<Options>();
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
    return sweep(*options);
  };
}

}  // namespace mansard::cli
