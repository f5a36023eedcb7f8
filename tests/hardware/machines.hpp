#pragma once

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "hardware/catalog.hpp"
#include "support/document.hpp"

namespace mansard::hardware {

inline Node parsed(const std::string& text, const std::string& name = "test.yaml") {
  auto document = parse_yaml(std::make_shared<const SourceFile>(SourceFile{name, text}));
  INFO((document ? std::string() : render(document.error())));
  REQUIRE(document.has_value());
  return *document;
}

inline Machine value_of(Result<Machine> machine) {
  INFO((machine ? std::string() : render(machine.error())));
  REQUIRE(machine.has_value());
  return std::move(*machine);
}

inline Machine machine_named(const std::string& name, const std::vector<Setting>& settings = {}) {
  return value_of(load_machine(name, {}, settings));
}

inline double value_at(const Machine& machine, const std::string& path) {
  auto value = machine.value(path);
  INFO((value ? std::string() : render(value.error())));
  REQUIRE(value.has_value());
  return *value;
}

/// The greatest rate that a bound may use.
inline double peak_at(const Machine& machine, const std::string& path) {
  ir::ExprPool pool;
  auto peak = machine.peak(path, pool);
  REQUIRE(peak.has_value());
  return ir::value(*peak, machine.bindings());
}

inline std::string error_of(const Result<Machine>& machine) {
  REQUIRE_FALSE(machine.has_value());
  return render(machine.error());
}

}  // namespace mansard::hardware
