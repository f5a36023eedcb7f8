#include "validate/counts.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "validate/cases.hpp"
#include "validate/class_model.hpp"

namespace mansard::validate {
namespace {

CountClass& class_of(std::vector<CountClass>& classes, const ir::Measurement& row) {
  const auto found = std::find_if(classes.begin(), classes.end(), [&](const CountClass& one) {
    return one.op == row.op && one.dtype == row.dtype && one.implementation == row.implementation &&
           one.phase == row.phase;
  });
  return found != classes.end() ? *found
                                : classes.emplace_back(CountClass{
                                      row.op, row.dtype, row.implementation, row.phase, {}, 0});
}

}  // namespace

double CountComparison::flop_ratio() const {
  if (flops > 0) {
    return (counted.tensor_flops > 0 ? counted.tensor_flops : counted.scalar_flops) / flops;
  }
  return vector_flops > 0 ? counted.scalar_flops / vector_flops : 0;
}

double CountComparison::read_ratio() const {
  return bytes_read > 0 ? counted.dram_read / bytes_read : 0;
}

double CountComparison::write_ratio() const {
  constexpr double kLeast = 1e6;
  return bytes_written >= kLeast ? counted.dram_written / bytes_written : 0;
}

Result<std::vector<CountClass>> compare_counts(const std::vector<ir::Measurement>& rows,
                                               const std::vector<Counted>& counted,
                                               const hardware::Machine& machine,
                                               const model::Calibration& calibration,
                                               const ValidateOptions& options) {
  std::vector<CountClass> classes;
  std::map<std::string, Result<ClassModel>> models;
  for (const Counted& one : counted) {
    if (one.row == 0 || one.row > rows.size()) {
      return failure("profile",
                     fmt::format("the profile marks row {}, the measurement file has {}", one.row,
                                 rows.size()),
                     {}, "give the file that the profiled run wrote");
    }
    const ir::Measurement& row = rows[one.row - 1];
    const std::string key = case_key(row);
    auto model = models.find(key);
    if (model == models.end()) {
      model = models.emplace(key, ClassModel::build(row, machine, calibration, options)).first;
    }
    CountClass& its_class = class_of(classes, row);
    if (!model->second) {
      ++its_class.skipped;
      continue;
    }
    const ClassModel::Counts counts = model->second->counts(row);
    its_class.rows.push_back(
        {&row, one, counts.flops, counts.vector_flops, counts.bytes_read, counts.bytes_written});
  }
  return classes;
}

}  // namespace mansard::validate
