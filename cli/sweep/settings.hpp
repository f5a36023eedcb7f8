#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/options.hpp"

/// The options of a prediction by name, so that a sweep can vary them.
namespace mansard::cli {

/// What a sweep changes from point to point.
struct Question {
  ModelOptions model;
  MachineOptions machine;
};

/// An option that a sweep may vary.
struct Setting {
  std::string_view name;  ///< As on the command line: "tp", "weights", "machine".
  bool whole = false;     ///< Takes whole numbers from 1; otherwise words.
  /// Sets it; false if the text is no value for it.
  bool (*set)(Question& question, const std::string& text) = nullptr;
};

[[nodiscard]] std::span<const Setting> settings();
[[nodiscard]] const Setting* find_setting(std::string_view name);

}  // namespace mansard::cli
