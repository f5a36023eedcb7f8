#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "model/sweep/axis.hpp"
#include "support/units.hpp"

namespace mansard::model {
namespace {

/// Longest range that is kept value by value (geometric and logarithmic ones).
constexpr double kLongestList = 1e6;
/// Longest linear range: indices stay exact as doubles.
constexpr double kLongestRange = 0x1p53;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = text.find_last_not_of(' ');
  return end == std::string_view::npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

/// One part of an axis between commas: "8 TB/s", "1..20+0.5 TB/s".
struct Part {
  double first = 0;
  std::optional<double> last;
  char step_kind = '+';
  double step = 1;
  std::string_view unit;
};

class AxisParser {
 public:
  AxisParser(const AxisText& text, const Dimension& dimension, bool whole)
      : text_(text), dimension_(dimension), whole_(whole) {}

  Result<Axis> parse() {
    std::vector<Part> parts;
    std::string_view rest = text_.values;
    while (true) {
      const std::size_t comma = rest.find(',');
      auto part = parse_part(rest.substr(0, comma));
      if (!part) {
        return failure(std::move(part.error()));
      }
      parts.push_back(*part);
      if (comma == std::string_view::npos) {
        break;
      }
      rest.remove_prefix(comma + 1);
    }
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->unit.empty() && part != parts.rbegin()) {
        part->unit = std::prev(part)->unit;
      }
    }
    return of_parts(parts);
  }

 private:
  tl::unexpected<Diagnostics> error(std::string_view at, const std::string& message,
                                    std::string label = {}) const {
    Location location = text_.location;
    if (at.data() >= text_.values.data() &&
        at.data() <= text_.values.data() + text_.values.size()) {
      location.begin += static_cast<std::size_t>(at.data() - text_.values.data());
      location.end = location.begin + at.size();
    }
    return failure("axis", message, location, std::move(label));
  }

  Result<double> number(std::string_view& rest) const {
    rest = trimmed(rest);
    // "1..8": the number ends before the two dots, which from_chars would read half of.
    const std::string_view until_dots = rest.substr(0, rest.find(".."));
    double value = 0;
    const auto [end, problem] =
        std::from_chars(until_dots.data(), until_dots.data() + until_dots.size(), value);
    if (problem != std::errc() || !std::isfinite(value)) {
      return error(rest, fmt::format("{}: expected a number, found '{}'", text_.name, rest),
                   "write values as 1,2,4 or 1..8 or 1..8+0.5 or 1..512*2 or 1..20~50");
    }
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return value;
  }

  Result<Part> parse_part(std::string_view text) const {
    Part part;
    std::string_view rest = text;
    const auto first = number(rest);
    if (!first) {
      return failure(first.error());
    }
    part.first = *first;
    if (rest.starts_with("..")) {
      rest.remove_prefix(2);
      const auto last = number(rest);
      if (!last) {
        return failure(last.error());
      }
      part.last = *last;
      if (!rest.empty() && std::string_view("+*~").find(rest[0]) != std::string_view::npos) {
        part.step_kind = rest[0];
        rest.remove_prefix(1);
        const auto step = number(rest);
        if (!step) {
          return failure(step.error());
        }
        part.step = *step;
      }
    }
    part.unit = trimmed(rest);
    return part;
  }

  Result<double> scale(const Part& part) const {
    return parse_measure(fmt::format("1 {}", part.unit), dimension_, {});
  }

  Result<Axis> of_parts(const std::vector<Part>& parts) const {
    std::vector<double> values;
    for (const Part& part : parts) {
      const auto unit = scale(part);
      if (!unit) {
        Diagnostic first = unit.error().front();
        return error(part.unit, fmt::format("{}: {}", text_.name, first.message), first.label);
      }
      if (auto problem = check(part)) {
        return failure(std::move(*problem));
      }
      if (part.last && part.step_kind == '+' && parts.size() == 1) {
        return whole_values(Axis::of_range(text_.name, dimension_, part.first * *unit,
                                           part.step * *unit, length(part)));
      }
      append(part, *unit, values);
    }
    return whole_values(Axis::of_values(text_.name, dimension_, std::move(values)));
  }

  [[nodiscard]] static std::uint64_t length(const Part& part) {
    const double steps = (*part.last - part.first) / part.step;
    return static_cast<std::uint64_t>(std::floor(steps + std::max(1e-9, steps * 0x1p-50))) + 1;
  }

  [[nodiscard]] std::optional<Diagnostics> check(const Part& part) const {
    const auto refuse = [&](const std::string& message, std::string label) {
      return std::optional(error(part.unit, message, std::move(label)).value());
    };
    if (!part.last) {
      return std::nullopt;
    }
    if (*part.last < part.first) {
      return refuse(
          fmt::format("{}: the range {}..{} is empty", text_.name, part.first, *part.last),
          "the first value comes first");
    }
    const bool grows = part.step_kind == '+'   ? part.step > 0
                       : part.step_kind == '*' ? part.step > 1 && part.first > 0
                                               : part.step >= 2 && part.first > 0;
    if (!grows) {
      return refuse(fmt::format("{}: a range from {} by {}{} never ends", text_.name, part.first,
                                part.step_kind, part.step),
                    "steps are + above 0, * above 1, ~ at least 2 values, from above 0");
    }
    const double steps = part.step_kind == '+' ? (*part.last - part.first) / part.step
                         : part.step_kind == '*'
                             ? std::log(*part.last / part.first) / std::log(part.step)
                             : part.step;
    const double limit = part.step_kind == '+' ? kLongestRange : kLongestList;
    if (steps >= limit) {
      return refuse(fmt::format("{}: a range of {:.3g} values is too long", text_.name, steps),
                    fmt::format("at most {:.3g}", limit));
    }
    return std::nullopt;
  }

  void append(const Part& part, double unit, std::vector<double>& values) const {
    if (!part.last) {
      values.push_back(part.first * unit);
    } else if (part.step_kind == '+') {
      for (std::uint64_t i = 0; i < length(part); ++i) {
        values.push_back((part.first + static_cast<double>(i) * part.step) * unit);
      }
    } else if (part.step_kind == '*') {
      for (double value = part.first; value <= *part.last * (1 + 1e-12); value *= part.step) {
        values.push_back(value * unit);
      }
    } else {
      append_logarithmic(part, unit, values);
    }
  }

  void append_logarithmic(const Part& part, double unit, std::vector<double>& values) const {
    const auto count = static_cast<std::size_t>(part.step);
    for (std::size_t i = 0; i < count; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(count - 1);
      double value =
          i + 1 == count ? *part.last : part.first * std::pow(*part.last / part.first, share);
      value = whole_ ? std::round(value) : value;
      if (values.empty() || values.back() != value * unit) {
        values.push_back(value * unit);
      }
    }
  }

  Result<Axis> whole_values(Axis axis) const {
    if (!whole_) {
      return axis;
    }
    const std::uint64_t checked = std::min<std::uint64_t>(axis.size(), 1U << 20U);
    for (std::uint64_t i = 0; i < checked; ++i) {
      if (axis.value(i) < 1 || std::floor(axis.value(i)) != axis.value(i)) {
        return error(text_.values, fmt::format("{} takes whole numbers from 1, found {}",
                                               text_.name, axis.value(i)));
      }
    }
    return axis;
  }

  const AxisText& text_;
  const Dimension& dimension_;
  bool whole_;
};

}  // namespace

Result<std::vector<AxisText>> split_axes(const std::string& option) {
  constexpr std::string_view kWith = " with ";
  const auto file = std::make_shared<const SourceFile>(SourceFile{"--vary", option});
  std::vector<AxisText> axes;
  for (std::size_t begin = 0; begin <= option.size();) {
    const std::size_t end = std::min(option.find(kWith, begin), option.size());
    const std::size_t equals = option.find('=', begin);
    const Location whole{file, begin, end};
    if (equals == std::string::npos || equals >= end || equals == begin) {
      return failure("axis", "expected an axis NAME=VALUES", whole,
                     "write batch=1..512*2 or hbm.bandwidth=1..20+0.5 TB/s");
    }
    const std::string_view values =
        trimmed(std::string_view(option).substr(equals + 1, end - equals - 1));
    const auto at =
        values.empty() ? equals + 1 : static_cast<std::size_t>(values.data() - option.data());
    if (values.empty()) {
      return failure("axis", "an axis without values", whole);
    }
    axes.push_back({std::string(trimmed(option.substr(begin, equals - begin))),
                    std::string(values),
                    {file, begin, equals},
                    {file, at, at + values.size()}});
    begin = end + kWith.size();
  }
  return axes;
}

Result<Axis> parse_axis(const AxisText& text, const Dimension& dimension, bool whole) {
  return AxisParser(text, dimension, whole).parse();
}

Result<Axis> parse_words(const AxisText& text) {
  std::vector<std::string> words;
  std::string_view rest = text.values;
  while (true) {
    const std::size_t comma = rest.find(',');
    words.emplace_back(trimmed(rest.substr(0, comma)));
    if (words.back().empty()) {
      return failure("axis", fmt::format("{}: an empty value", text.name), text.location);
    }
    if (comma == std::string_view::npos) {
      return Axis::of_words(text.name, std::move(words));
    }
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace mansard::model
