#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "cli/measurements.hpp"
#include "cli/trace/projection.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "validate/cases.hpp"
#include "validate/class_model.hpp"

namespace mansard::cli {
namespace {

/// NeuSight's rows are timed with the host's launch of up to 63 us (data/README.md).
constexpr double kEagerFloor = 50e-6;

/// Everything of a row but the machine and the time.
std::string key_of(const ir::Measurement& row) {
  std::string text =
      fmt::format("{}/{}/{}/{}/{}", row.op, row.dtype, row.out_dtype, row.kv_dtype, row.phase);
  for (const auto& [name, value] : row.dims) {
    text += fmt::format("/{}={}", name, value);
  }
  return text;
}

/// The model's times of rows of one machine, one model a class.
class RowModels {
 public:
  RowModels(const hardware::Machine& machine, const model::Calibration& calibration)
      : machine_(machine), calibration_(calibration) {}

  std::optional<validate::Comparison> compare(const ir::Measurement& row) {
    auto [found, fresh] = models_.try_emplace(validate::case_key(row));
    if (fresh) {
      auto built = validate::ClassModel::build(row, machine_, calibration_, {});
      if (built) {
        found->second = std::move(*built);
      }
    }
    return found->second ? std::optional(found->second->compare(row)) : std::nullopt;
  }

 private:
  const hardware::Machine& machine_;
  const model::Calibration& calibration_;
  std::map<std::string, std::optional<validate::ClassModel>> models_;
};

using Errors = std::map<std::string, std::vector<double>>;

/// |projected / measured - 1| of every row that both machines have, by class and of "all".
Errors errors_of(const std::vector<ir::Measurement>& rows, const hardware::Machine& from,
                 const hardware::Machine& to, RowModels& before, RowModels& after) {
  std::map<std::string, const ir::Measurement*> measured_to;
  for (const ir::Measurement& row : rows) {
    if (row.machine == to.name && row.flags.empty()) {
      measured_to.emplace(key_of(row), &row);
    }
  }
  Errors errors;
  for (const ir::Measurement& row : rows) {
    const auto other = measured_to.find(key_of(row));
    if (row.machine != from.name || !row.flags.empty() || other == measured_to.end()) {
      continue;
    }
    const auto a = before.compare(row);
    const auto b = after.compare(*other->second);
    if (!a || !b || a->estimate <= 0 ||
        (row.mode == "eager" && std::min(a->bound, b->bound) < kEagerFloor)) {
      continue;
    }
    const auto time = model::project_time(row.median_s, {a->bound, a->low, a->estimate, a->high},
                                          {b->bound, b->low, b->estimate, b->high});
    const double error = std::abs(time.seconds / other->second->median_s - 1);
    errors[row.op + " " + row.dtype].push_back(error);
    errors["all"].push_back(error);
  }
  return errors;
}

Cell hundredths_cell(double fraction) {
  return Cell::number(fraction, fmt::format("{:.1f}", 100 * fraction));
}

Records records_of(Errors errors) {
  Records records;
  records.column({"class", "class", TextTable::Align::kLeft});
  records.column({"rows", "rows"});
  records.column({"median_ape", "median\n%"});
  records.column({"mape", "mean\n%"});
  records.column({"p90_ape", "p90\n%"});
  for (auto& [name, values] : errors) {
    std::sort(values.begin(), values.end());
    double mean = 0;
    for (const double error : values) {
      mean += error / static_cast<double>(values.size());
    }
    records.add({Cell::text(name),
                 Cell::number(static_cast<double>(values.size()), std::to_string(values.size())),
                 hundredths_cell(values[values.size() / 2]), hundredths_cell(mean),
                 hundredths_cell(values[values.size() * 9 / 10])});
  }
  return records;
}

}  // namespace

Outcome check_projection(const ProjectOptions& options) {
  const auto rows = read_measurement_files(options.measurements);
  const auto from = load(options.from, unchanged(options, options.from));
  const auto to = load(options.to, options.machine);
  if (!rows || !from || !to) {
    return failed(!rows ? rows.error() : (!from ? from.error() : to.error()));
  }
  const auto from_calibration = load_calibration(*from, unchanged(options, options.from));
  const auto to_calibration = load_calibration(*to, options.machine);
  if (!from_calibration || !to_calibration) {
    return failed(!from_calibration ? from_calibration.error() : to_calibration.error());
  }
  RowModels before(*from, *from_calibration);
  RowModels after(*to, *to_calibration);
  const Records records = records_of(errors_of(*rows, *from, *to, before, after));
  if (options.format == Format::kJson) {
    return {.out = json_text({{"schema", "mansard.projection-check/1"},
                              {"from", from->name},
                              {"to", to->name},
                              {"classes", records.json()}})};
  }
  return {.out = options.format == Format::kCsv ? records.csv() : records.table()};
}

}  // namespace mansard::cli
