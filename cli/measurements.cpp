#include "cli/measurements.hpp"

#include <iterator>
#include <map>
#include <memory>

#include "frontend/frontend.hpp"
#include "support/document.hpp"
#include "validate/manifest.hpp"
#include "validate/measurements.hpp"

namespace mansard::cli {

namespace {

Result<std::vector<ir::Measurement>> with_manifest(std::vector<ir::Measurement> rows) {
  if (auto there = validate::require_manifest(rows); !there) {
    return failure(std::move(there.error()));
  }
  return rows;
}

}  // namespace

Result<std::vector<ir::Measurement>> read_measurement_files(const std::vector<std::string>& paths) {
  std::vector<ir::Measurement> rows;
  Diagnostics errors;
  for (const std::string& path : paths) {
    auto read = read_file(path)
                    .and_then([](const std::shared_ptr<const SourceFile>& file) {
                      return validate::read_measurements(file);
                    })
                    .and_then(with_manifest);
    if (read) {
      std::move(read->begin(), read->end(), std::back_inserter(rows));
    } else {
      errors.insert(errors.end(), read.error().begin(), read.error().end());
    }
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  return rows;
}

validate::ModelSource step_models(const std::vector<std::string>& given) {
  std::map<std::string, std::string> paths;
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    paths[text.substr(0, equals)] = equals == std::string::npos ? text : text.substr(equals + 1);
  }
  return [paths](const std::string& model, const std::string& phase) {
    const auto found = paths.find(model);
    return frontend::import_model(
        found == paths.end() ? model : found->second,
        phase == "prefill" ? frontend::Phase::kPrefill : frontend::Phase::kDecode);
  };
}

}  // namespace mansard::cli
