#include "cli/sweep/sweep.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/sweep/axes.hpp"
#include "cli/sweep/interrupt.hpp"
#include "cli/sweep/objectives.hpp"
#include "cli/sweep/point_table.hpp"
#include "cli/sweep/progress.hpp"
#include "cli/sweep/stream_sink.hpp"
#include "cli/sweep/team.hpp"
#include "cli/sweep/variants.hpp"
#include "cli/views/sweep.hpp"
#include "model/sweep/sinks.hpp"

namespace mansard::cli {
namespace {

/// Rows of a table that a person may want to read.
constexpr double kLargestTable = 10'000;
/// Points that are written one by one; beyond, only what is kept in memory makes sense.
constexpr double kLargestStream = 1e12;
/// Points that can be told apart.
constexpr double kLargestSweep = 9e18;

/// The place of a field among the outputs, which it joins if need be.
std::size_t place_of(const std::string& field, std::vector<std::string>& outputs) {
  const auto found = std::ranges::find(outputs, field);
  if (found != outputs.end()) {
    return static_cast<std::size_t>(found - outputs.begin());
  }
  outputs.push_back(field);
  return outputs.size() - 1;
}

Result<void> check_size(const model::SweepSpace& space, const SweepRequest& request) {
  const double points = space.points();
  const auto refuse = [&](const char* label) {
    return failure("sweep-size", fmt::format("this is a sweep of {:.6g} points", points), {},
                   label);
  };
  if (points > kLargestSweep || (points > kLargestStream && !request.keeps_little())) {
    return refuse("keep the best with --top N --by FIELD, or --aggregate, and shorten axes");
  }
  if (points > kLargestTable && !request.keeps_little() && !request.streams()) {
    return refuse(
        "write them with -o FILE.csv, .jsonl or .sqlite, or keep the best with --top N --by FIELD");
  }
  return {};
}

SweepColumn column_of(const model::Axis& axis) {
  const Setting* setting = find_setting(axis.name);
  return {axis.name, axis.dimension, !axis.words.empty(), setting != nullptr && setting->whole};
}

std::vector<SweepColumn> axis_columns(const model::SweepSpace& space) {
  std::vector<SweepColumn> columns;
  for (const auto* groups : {&space.structural, &space.symbolic}) {
    for (const model::AxisGroup& group : *groups) {
      std::ranges::transform(group, std::back_inserter(columns), column_of);
    }
  }
  return columns;
}

/// What a file is, by its name.
bool is_database(const std::string& file) {
  return file.ends_with(".sqlite") || file.ends_with(".db");
}
bool is_json_lines(const std::string& file) {
  return file.ends_with(".jsonl");
}
bool is_json(const std::string& file) {
  return file.ends_with(".json");
}

Outcome cannot_write(const std::string& file, const std::string& why) {
  return failed({{"output-file", fmt::format("-o: cannot write '{}': {}", file, why), {}, {}}});
}

class Sweep {
 public:
  /// `team` is null where this process is alone.
  Sweep(const SweepRequest& request, model::SweepSpace space, const model::Team* team)
      : request_(request), space_(std::move(space)), team_(team), wanted_(request.outputs) {}

  Outcome run() {
    auto part = part_of(request_.shard, space_.variants() * space_.per_variant());
    if (!part) {
      return failed(part.error());
    }
    std::tie(run_options_.begin, run_options_.end) = *part;
    run_options_.threads = request_.threads;
    if (!request_.aggregates.empty()) {
      return aggregate();
    }
    if (!request_.pareto.empty()) {
      return pareto();
    }
    if (request_.top > 0) {
      return top();
    }
    if (!request_.streams()) {
      return collect();
    }
    return is_database(request_.file) ? stream_table() : stream_text();
  }

 private:
  Outcome aggregate() {
    SweepReport report{.aggregates = request_.aggregates};
    std::vector<const model::Axis*> axes;
    for (const std::string& name : request_.group_by) {
      axes.push_back(model::find_axis(space_, name));
      if (axes.back() == nullptr) {
        return failed({{"group-by", fmt::format("--group-by: '{}' is not varied", name), {}, {}}});
      }
      report.group_by.push_back(column_of(*axes.back()));
    }
    model::AggregateSink sink(request_.group_by);
    const auto counts = evaluate(sink);
    if (!counts) {
      return failed(errors_);
    }
    for (const auto& [places, group] : sink.groups()) {
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < axes.size(); ++i) {
        texts.push_back(axes[i]->text(places[i]));
      }
      report.groups.emplace_back(std::move(texts), group);
    }
    return shown(std::move(report), *counts);
  }

  Outcome pareto() {
    const auto objectives = parse_objectives("--pareto", request_.pareto);
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
    const auto objective = parse_objective("--by", request_.by);
    if (!objective) {
      return failed(objective.error());
    }
    model::TopSink sink(request_.top, place_of(objective->field, wanted_), objective->greatest);
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

  /// The first process of a team, or the only one, writes.
  [[nodiscard]] bool writes() const { return team_ == nullptr || team_->rank() == 0; }

  Outcome stream_text() {
    const bool to_file = writes() && !request_.file.empty();
    std::FILE* file = to_file ? std::fopen(request_.file.c_str(), "wb") : stdout;
    if (file == nullptr) {
      return cannot_write(request_.file, std::generic_category().message(errno));
    }
    bool written = true;
    const auto write = [&](std::string_view text) {
      written = written && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    };
    StreamSink sink(
        is_json_lines(request_.file) ? StreamSink::Form::kJsonLines : StreamSink::Form::kCsv,
        wanted_, write);
    if (run_options_.begin == 0 && writes()) {
      write(sink.heading(space_));
    }
    const auto counts = evaluate(sink);
    written = (to_file ? std::fclose(file) : std::fflush(file)) == 0 && written;
    if (counts && !written) {
      return cannot_write(request_.file, "it is full or gone");
    }
    return counts ? streamed(*counts) : failed(errors_);
  }

  Outcome stream_table() {
    std::vector<SweepColumn> columns = axis_columns(space_);
    for (const std::string& output : wanted_) {
      columns.push_back({.name = output});
    }
    std::unique_ptr<PointTable> table;
    if (writes()) {
      auto created = PointTable::create(request_.file, columns);
      if (!created) {
        return failed(created.error());
      }
      table = std::move(*created);
    }
    TableSink sink(table.get());
    const auto counts = evaluate(sink);
    if (table && counts) {
      if (auto finished = table->finish(*counts); !finished) {
        return failed(finished.error());
      }
    }
    return counts ? streamed(*counts) : failed(errors_);
  }

  [[nodiscard]] Outcome streamed(const model::SweepCounts& counts) const {
    const std::string summary = sweep_counts(counts) + interruption();
    Outcome outcome{.exit_code = interrupted ? kBadInput : kOk};
    (request_.file.empty() ? outcome.err : outcome.out) = summary;
    return outcome;
  }

  std::optional<model::SweepCounts> evaluate(model::SweepSink& sink) {
    const InterruptGuard guard;
    VariantMaker maker(
        space_, request_.question,
        {.outputs = wanted_, .where = request_.where, .interpret = request_.interpret});
    Progress progress(static_cast<double>(run_options_.end - run_options_.begin));
    run_options_.stop = &interrupted;
    run_options_.progress = [&](std::uint64_t done) { progress(done); };
    const model::VariantSource source = [&](std::span<const std::uint64_t> places) {
      auto variant = maker.make(places);
      if (!maker.errors().empty()) {
        interrupted = true;
      }
      return variant;
    };
    const auto counts = team_ == nullptr ? model::run_sweep(space_, source, sink, run_options_)
                                         : share(maker, source, sink);
    for (const Diagnostic& error : maker.errors()) {
      errors_.push_back(error);
    }
    outputs_ = outputs_.empty() ? maker.outputs() : outputs_;
    if (errors_.empty()) {
      return counts;
    }
    interrupted = false;
    return std::nullopt;
  }

  model::SweepCounts share(const VariantMaker& maker, const model::VariantSource& source,
                           model::SweepSink& sink) {
    Diagnostics found;
    const model::TeamNotes notes{.write = [&] { return pack_notes(maker); },
                                 .read =
                                     [&](std::string_view bytes) {
                                       VariantNotes heard = unpack_notes(bytes);
                                       outputs_ =
                                           outputs_.empty() ? std::move(heard.outputs) : outputs_;
                                       found = found.empty() ? std::move(heard.errors) : found;
                                       return found.empty();
                                     }};
    auto counts = model::run_sweep_as_team(space_, source, sink, run_options_, *team_, notes);
    errors_ = maker.errors().empty() ? std::move(found) : Diagnostics{};
    return counts;
  }

  Outcome shown(SweepReport report, const model::SweepCounts& counts) {
    report.model = request_.question.model.model;
    report.axes = axis_columns(space_);
    for (const OutputName& output : outputs_) {
      report.outputs.push_back({output.name, output.dimension});
    }
    report.counts = counts;
    Outcome outcome{.err = interruption(), .exit_code = interrupted ? kBadInput : kOk};
    if (request_.file.empty()) {
      outcome.out = as_format(report);
    } else if (auto written = writes() ? write(report) : Result<void>(); !written) {
      return failed(written.error());
    } else {
      outcome.out = sweep_counts(counts);
    }
    return outcome;
  }

  [[nodiscard]] std::string as_format(const SweepReport& report) const {
    return request_.format == Format::kJson  ? sweep_json(report)
           : request_.format == Format::kCsv ? sweep_csv(report)
                                             : sweep_table(report);
  }

  /// In the form that the file's name says, else that of --format.
  [[nodiscard]] Result<void> write(const SweepReport& report) const {
    const std::string& file = request_.file;
    if (is_database(file)) {
      const SweepRows flat = sweep_rows(report);
      auto table = PointTable::create(file, flat.columns);
      if (!table) {
        return failure(std::move(table.error()));
      }
      for (const SweepReport::Row& row : flat.rows) {
        (*table)->add(row);
      }
      return (*table)->finish(report.counts);
    }
    return write_file("-o", file,
                      file.ends_with(".csv") ? sweep_csv(report)
                      : is_json_lines(file)  ? sweep_json_lines(report)
                      : is_json(file)        ? sweep_json(report)
                                             : as_format(report));
  }

  [[nodiscard]] static std::string interruption() {
    return interrupted ? "interrupted: only the first points were evaluated\n" : "";
  }

  const SweepRequest& request_;
  model::SweepSpace space_;
  const model::Team* team_;
  std::vector<std::string> wanted_;
  std::vector<OutputName> outputs_;
  model::SweepOptions run_options_;
  Diagnostics errors_;
};

}  // namespace

Outcome sweep(const SweepRequest& request) {
  auto space = sweep_space(request.vary, request.question);
  if (!space) {
    return failed(space.error());
  }
  if (const auto checked = check_size(*space, request); !checked) {
    return failed(checked.error());
  }
  const auto team = join_team();
  if (!team) {
    return failed(team.error());
  }
  Outcome outcome = Sweep(request, std::move(*space), *team).run();
  return *team == nullptr || (*team)->rank() == 0 ? outcome : Outcome{};
}

}  // namespace mansard::cli
