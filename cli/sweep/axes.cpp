#include "cli/sweep/axes.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "hardware/schema.hpp"
#include "support/suggest.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

using model::Axis;
using model::AxisGroup;
using model::AxisText;

constexpr std::array<std::string_view, 2> kWorkloadSymbols{"batch", "context"};

bool is_workload_symbol(const std::string& name) {
  return std::ranges::find(kWorkloadSymbols, name) != kWorkloadSymbols.end();
}

/// Whether some value of a machine axis is a change to the machine's own ("*1.4", "+1 TB/s").
bool is_relative(const std::string& values) {
  return values.starts_with('*') || values.starts_with('+');
}

void append(Diagnostics& all, Diagnostics more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

auto unknown_axis(const AxisText& text, const hardware::Machine& machine) {
  std::vector<std::string> names = hardware::known_paths(machine);
  for (const Setting& setting : settings()) {
    names.emplace_back(setting.name);
  }
  const auto meant = did_you_mean(text.name, names);
  return failure("unknown-axis",
                 fmt::format("nothing called '{}' can be varied on {}", text.name, machine.name),
                 text.name_location,
                 meant ? fmt::format("did you mean '{}'?", *meant)
                       : "batch, context, tp, weights, machine, ... or a figure of the machine");
}

/// Refuses values that the machine's figure cannot take: those below zero, and zero where it would
/// divide by it. A range grows, so that its first value tells.
Result<Axis> checked_figures(Axis axis, const AxisText& text, const hardware::Machine& machine) {
  const std::uint64_t checked = std::min<std::uint64_t>(axis.size(), 1U << 20U);
  for (std::uint64_t i = 0; i < checked; ++i) {
    if (axis.value(i) < 0) {
      return failure("axis", fmt::format("{} cannot be below zero", text.name), text.location);
    }
    if (axis.value(i) == 0) {
      auto zero = hardware::apply_setting(machine, {axis.name, setting_text(axis, i)});
      if (!zero) {
        return failure(std::move(zero.error()));
      }
    }
  }
  return axis;
}

Result<Axis> read_axis(const AxisText& text, const hardware::Machine& machine) {
  if (const Setting* setting = find_setting(text.name)) {
    return setting->whole ? model::parse_axis(text, kNumber, true) : model::parse_words(text);
  }
  const auto dimension = hardware::dimension_of(machine, machine.resolve(text.name));
  if (!dimension) {
    return unknown_axis(text, machine);
  }
  if (is_relative(text.values)) {
    return model::parse_words(text);
  }
  auto axis = model::parse_axis(text, *dimension, false);
  return axis ? checked_figures(std::move(*axis), text, machine) : axis;
}

bool same_field(const hardware::Field& a, const hardware::Field& b) {
  return a.path == b.path && a.value == b.value &&
         static_cast<bool>(a.formula) == static_cast<bool>(b.formula);
}

/// Whether two machines differ in the figure at `path` only.
bool differ_only_at(const std::string& path, const hardware::Machine& a,
                    const hardware::Machine& b) {
  const auto& left = a.fields();
  const auto& right = b.fields();
  return std::ranges::equal(left, right, [&](const hardware::Field& x, const hardware::Field& y) {
    return (x.path == path && y.path == path) || same_field(x, y);
  });
}

/// Whether only the figure itself changes along the axis. Probed at its ends and middle: what
/// follows a figure (clocks, memories) follows it over the whole range or from some value on.
Result<bool> is_plain(const Axis& axis, const hardware::Machine& machine) {
  if (!axis.words.empty()) {
    return false;
  }
  std::vector<hardware::Machine> machines;
  for (const std::uint64_t index : {std::uint64_t{0}, axis.size() / 2, axis.size() - 1}) {
    auto changed = hardware::apply_setting(machine, {axis.name, setting_text(axis, index)});
    if (!changed) {
      return failure(std::move(changed.error()));
    }
    machines.push_back(std::move(*changed));
  }
  const std::string path = machine.resolve(axis.name);
  return differ_only_at(path, machines[0], machines[1]) &&
         differ_only_at(path, machines[0], machines[2]);
}

class SpaceReader {
 public:
  explicit SpaceReader(const Question& question) : question_(question) {}

  Result<model::SweepSpace> read(const std::vector<std::string>& vary) {
    for (const std::string& name : question_.machine.machines) {
      auto machine = load(name, question_.machine);
      if (!machine) {
        append(errors_, std::move(machine.error()));
      } else {
        machines_.push_back(std::move(*machine));
      }
    }
    if (!errors_.empty()) {
      return failure(std::move(errors_));
    }
    std::vector<AxisGroup> structural;
    std::vector<AxisGroup> symbolic;
    if (question_.machine.machines.size() > 1) {
      structural.push_back({Axis::of_words("machine", question_.machine.machines)});
      names_.insert("machine");
    }
    for (const std::string& option : vary) {
      if (auto group = read_group(option)) {
        (is_symbolic(*group) ? symbolic : structural).push_back(std::move(*group));
      }
    }
    if (!errors_.empty()) {
      return failure(std::move(errors_));
    }
    return model::SweepSpace(std::move(structural), std::move(symbolic));
  }

 private:
  std::optional<AxisGroup> read_group(const std::string& option) {
    auto texts = model::split_axes(option);
    if (!texts) {
      append(errors_, std::move(texts.error()));
      return std::nullopt;
    }
    AxisGroup group;
    for (const AxisText& text : *texts) {
      auto axis = read_axis(text, machines_.front());
      if (!axis) {
        append(errors_, std::move(axis.error()));
        continue;
      }
      check(text, *axis, group);
      group.push_back(std::move(*axis));
    }
    return group.empty() ? std::nullopt : std::optional(std::move(group));
  }

  void check(const AxisText& text, const Axis& axis, const AxisGroup& group) {
    if (!names_.insert(machines_.front().resolve(text.name)).second) {
      errors_.push_back(
          {"axis", fmt::format("'{}' is varied twice", text.name), text.name_location, {}});
    }
    if (!group.empty() && group.front().size() != axis.size()) {
      errors_.push_back({"axis",
                         fmt::format("'{}' has {} values, '{}' beside it has {}", axis.name,
                                     axis.size(), group.front().name, group.front().size()),
                         text.location, "axes joined by `with` advance together"});
    }
  }

  bool is_symbolic(const AxisGroup& group) {
    return std::ranges::all_of(group, [&](const Axis& axis) {
      return is_workload_symbol(axis.name) ||
             (find_setting(axis.name) == nullptr && is_plain_everywhere(axis));
    });
  }

  bool is_plain_everywhere(const Axis& axis) {
    return std::ranges::all_of(machines_, [&](const hardware::Machine& machine) {
      auto plain = is_plain(axis, machine);
      if (!plain) {
        append(errors_, std::move(plain.error()));
        return false;
      }
      return *plain;
    });
  }

  const Question& question_;
  std::vector<hardware::Machine> machines_;
  std::set<std::string> names_;
  Diagnostics errors_;
};

}  // namespace

std::string setting_text(const Axis& axis, std::uint64_t index) {
  if (!axis.words.empty()) {
    return axis.words[index];
  }
  return fmt::format("{} {}", axis.text(index), unit_of(axis.dimension));
}

Result<model::SweepSpace> sweep_space(const std::vector<std::string>& vary,
                                      const Question& question) {
  return SpaceReader(question).read(vary);
}

}  // namespace mansard::cli
