#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/dimension.hpp"
#include "support/result.hpp"

namespace mansard::model {

/// The values that one thing takes in a sweep, in order. A linear range is kept as such, whatever
/// its length.
///
///     batch=1,2,4            a list
///     tp=1..8                by one
///     hbm.bandwidth=1..20+0.5 TB/s    linear
///     batch=1..512*2         geometric
///     hbm.bandwidth=1..20~50 TB/s     50 values evenly apart in their logarithm
///     weights=bf16,fp8       words
class Axis {
 public:
  std::string name;
  Dimension dimension;
  std::vector<std::string> words;  ///< As written; of lists only.

  [[nodiscard]] std::uint64_t size() const { return count_; }
  /// In SI base units; not of words.
  [[nodiscard]] double value(std::uint64_t index) const {
    return list_.empty() ? first_ + static_cast<double>(index) * step_ : list_[index];
  }
  /// Words are those written, numbers the shortest text that reads back as the same double.
  [[nodiscard]] std::string text(std::uint64_t index) const;

  [[nodiscard]] static Axis of_words(std::string name, std::vector<std::string> words);
  [[nodiscard]] static Axis of_values(std::string name, const Dimension& dimension,
                                      std::vector<double> values);
  [[nodiscard]] static Axis of_range(std::string name, const Dimension& dimension, double first,
                                     double step, std::uint64_t count);

 private:
  std::uint64_t count_ = 0;
  std::vector<double> list_;
  double first_ = 0;
  double step_ = 0;
};

/// What `--vary` was given: a name and the text of its values, with where they stand.
struct AxisText {
  std::string name;
  std::string values;
  Location name_location;
  Location location;
};

/// Axes of one `--vary`: one, or several zipped: "batch=1,2,4 with context=4096,2048,1024". Errors:
/// no name, no '=', no values.
[[nodiscard]] Result<std::vector<AxisText>> split_axes(const std::string& option);

/// Reads numbers of `dimension`. A unit behind the last value of a list or a range holds for all of
/// it. Errors: syntax, units, a range that is empty, endless or too long, fractions where `whole`.
[[nodiscard]] Result<Axis> parse_axis(const AxisText& text, const Dimension& dimension, bool whole);

/// Reads words with commas between.
[[nodiscard]] Result<Axis> parse_words(const AxisText& text);

}  // namespace mansard::model
