#include "cli/trace/projection.hpp"

#include <algorithm>
#include <cmath>

#include "ir/kernel_name.hpp"
#include "support/text.hpp"

namespace mansard::cli {
namespace {

constexpr double kNanosecond = 1e-9;

/// Sum over runs of the time from the first activity to the end of the last.
double span_of(const ir::Timeline& timeline) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> runs;
  for (const ir::Activity& a : timeline.activities) {
    auto [found, fresh] = runs.try_emplace(a.run, a.start_ns, a.end_ns());
    found->second.first = std::min(found->second.first, a.start_ns);
    found->second.second = std::max(found->second.second, a.end_ns());
  }
  double total = 0;
  for (const auto& [run, ends] : runs) {
    total += static_cast<double>(ends.second - ends.first) * kNanosecond;
  }
  return total;
}

std::string short_name(const ir::Activity& a) {
  return printable(ir::short_kernel_name(a.name));
}

/// Times of all activities on the new machine.
class Times {
 public:
  Times(const ir::Timeline& timeline, const std::vector<KernelModel>& before,
        const std::vector<KernelModel>& after)
      : timeline_(timeline), before_(before), after_(after) {
    for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
      times_.push_back(time(i));
      if (after[i].how != "message") {
        others_ += measured(i);
        others_projected_ += times_[i].seconds;
      }
    }
    for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
      if (comparable(i) && after[i].how == "message") {
        times_[i] = message(i);
      }
    }
  }

  [[nodiscard]] double measured(std::size_t i) const {
    return static_cast<double>(timeline_.activities[i].duration_ns) * kNanosecond;
  }
  [[nodiscard]] const model::ProjectedTime& operator[](std::size_t i) const { return times_[i]; }

  enum class End { kLow, kMiddle, kHigh };
  [[nodiscard]] std::vector<std::int64_t> nanoseconds(End end) const {
    std::vector<std::int64_t> result;
    for (const model::ProjectedTime& t : times_) {
      const double seconds = end == End::kLow ? t.low : (end == End::kHigh ? t.high : t.seconds);
      result.push_back(std::llround(seconds / kNanosecond));
    }
    return result;
  }

 private:
  [[nodiscard]] bool comparable(std::size_t i) const {
    return before_[i].how == after_[i].how && before_[i].times.estimate > 0 &&
           after_[i].times.estimate > 0;
  }

  [[nodiscard]] model::ProjectedTime time(std::size_t i) const {
    if (comparable(i)) {
      return model::project_time(measured(i), before_[i].times, after_[i].times);
    }
    // A machine without the link that the other one has: nothing more is known.
    constexpr double kWide = 2;
    return {measured(i), measured(i) / kWide, measured(i) * kWide};
  }

  /// A communication kernel that took longer than its message can explain waited for its peers,
  /// which compute: that part goes as the rest of the trace does.
  [[nodiscard]] model::ProjectedTime message(std::size_t i) const {
    const double sent = std::min(measured(i), before_[i].times.high);
    const double waited = (measured(i) - sent) * (others_ > 0 ? others_projected_ / others_ : 1);
    model::ProjectedTime result = model::project_time(sent, before_[i].times, after_[i].times);
    result.seconds += waited;
    result.low += waited;
    result.high += waited;
    return result;
  }

  const ir::Timeline& timeline_;
  const std::vector<KernelModel>& before_;
  const std::vector<KernelModel>& after_;
  std::vector<model::ProjectedTime> times_;
  double others_ = 0;
  double others_projected_ = 0;
};

void add_sums(const ir::Timeline& timeline, const Recognised& recognised,
              const std::vector<KernelModel>& after, const Times& times, Projection& result) {
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const ir::Activity& a = timeline.activities[i];
    const KernelModel& model = after[i];
    const std::string kind = recognised.classes[i].kind();
    ProjectedSum& sum = result.sums[{short_name(a), model.how}];
    for (ProjectedSum* s : {&sum, &result.total}) {
      s->kind = kind;
      s->how = model.how;
      s->binding = model.binding;
      ++s->kernels;
      s->measured += times.measured(i);
      s->projected += times[i].seconds;
      s->low += times[i].low;
      s->high += times[i].high;
    }
    if (model.how == "unknown") {
      result.unknown[printable(a.name)] += times.measured(i);
    }
  }
}

void add_rows(const Recognised& recognised, const std::vector<KernelModel>& after,
              const Times& times, const model::Replayed& replayed, Projection& result) {
  std::vector<bool> critical(replayed.timeline.activities.size());
  for (const model::PathStep& step : replayed.path) {
    if (step.cause == model::Cause::kActivity) {
      critical[step.index] = true;
    }
  }
  for (std::size_t i = 0; i < critical.size(); ++i) {
    const ir::Activity& a = replayed.timeline.activities[i];
    if (a.kind == ir::TraceEventKind::kKernel) {
      result.rows.push_back({.kernel = a.id,
                             .machine = result.to,
                             .start_ns = a.start_ns,
                             .duration_ns = a.duration_ns,
                             .low_ns = std::llround(times[i].low / kNanosecond),
                             .high_ns = std::llround(times[i].high / kNanosecond),
                             .binding = after[i].binding,
                             .kind = recognised.classes[i].kind(),
                             .how = after[i].how,
                             .critical = critical[i]});
    }
  }
}

void add_path(const model::Replayed& replayed, double PathSum::* side, Projection& result) {
  for (const model::PathStep& step : replayed.path) {
    const double seconds = static_cast<double>(step.time_ns) * kNanosecond;
    result.path[std::string(model::name_of(step.cause))].*side += seconds;
    if (step.cause == model::Cause::kActivity) {
      result.path_kernels[short_name(replayed.timeline.activities[step.index])].*side += seconds;
    }
  }
}

}  // namespace

MachineOptions unchanged(const ProjectOptions& options, const std::string& name) {
  MachineOptions result = options.machine;
  result.machines = {name};
  result.settings.clear();
  result.overlays.clear();
  return result;
}

Result<Projection> project(const ir::Timeline& timeline, const ProjectOptions& options) {
  MachineOptions from_options = unchanged(options, options.from);
  if (options.from.empty()) {
    from_options.machines.clear();
  }
  const auto from = machine_of(timeline, from_options);
  const auto to = load(options.to, options.machine);
  const auto recognised = recognise(timeline, options.model);
  if (!from || !to || !recognised) {
    return failure(!from ? from.error() : (!to ? to.error() : recognised.error()));
  }
  const auto before = kernel_models(timeline, *recognised, *from, from_options, options.model);
  const auto after = kernel_models(timeline, *recognised, *to, options.machine, options.model);
  if (!before || !after) {
    return failure(!before ? before.error() : after.error());
  }
  Projection result{.from = from->name, .to = to->name, .host_scale = options.host_scale};
  const Times times(timeline, *before, *after);
  add_sums(timeline, *recognised, *after, times, result);
  const model::ReplayOptions replaying{.host_scale = options.host_scale, .queue = options.queue};
  const auto replayed = [&](Times::End end) {
    return model::replay(timeline, times.nanoseconds(end), replaying);
  };
  model::Replayed middle = replayed(Times::End::kMiddle);
  add_rows(*recognised, *after, times, middle, result);
  add_path(middle, &PathSum::projected, result);
  result.projected_span = span_of(middle.timeline);
  result.timeline = std::move(middle.timeline);
  result.low_span = span_of(replayed(Times::End::kLow).timeline);
  result.high_span = span_of(replayed(Times::End::kHigh).timeline);
  std::vector<std::int64_t> as_measured;
  for (const ir::Activity& a : timeline.activities) {
    as_measured.push_back(a.duration_ns);
  }
  add_path(model::replay(timeline, as_measured, {.queue = options.queue}), &PathSum::measured,
           result);
  result.measured_span = span_of(timeline);
  return result;
}

}  // namespace mansard::cli
