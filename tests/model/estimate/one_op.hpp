#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "hardware/catalog.hpp"
#include "ir/graph.hpp"
#include "model/cost_model.hpp"

/// Graphs of one op with numbers for dims, and their costs.
namespace mansard::model::test {

struct OneOp {
  std::string kind;
  std::map<std::string, double> dims;
  std::string dtype = "bf16";
  std::map<std::string, std::string> dtypes;  ///< Of operands that have another one.
  std::map<std::string, std::string> attributes;
};

[[nodiscard]] ir::Graph graph_of(const std::vector<OneOp>& ops);

/// A single op repeated alone, as measurement rows are.
[[nodiscard]] CostOptions alone(std::string implementation = "");

[[nodiscard]] CostModel cost_of(const std::vector<OneOp>& ops, const std::string& machine,
                                const CostOptions& options = alone(),
                                const std::vector<hardware::Setting>& settings = {});

/// The same with a calibration of one's own instead of the machine's.
[[nodiscard]] CostModel cost_with(const std::vector<OneOp>& ops, const std::string& machine,
                                  const std::string& calibration, const CostOptions& options);

/// Seconds.
[[nodiscard]] double estimate_of(const OneOp& op, const std::string& machine,
                                 const CostOptions& options = alone(),
                                 const std::vector<hardware::Setting>& settings = {});

}  // namespace mansard::model::test
