#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validate/measure/protocol.hpp"
#include "validate/measure/row.hpp"

namespace mansard::measure {

enum class Verb { kHelp, kProbes, kSuite, kKernel };

struct Dim3 {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;
};

/// A user's own kernel: `kernel FILE.ptx --entry NAME --grid X,Y,Z --block X,Y,Z [--shared BYTES]
/// [--params a,b]
/// --args "n=1024;x=f32[1024]"`.
struct KernelOptions {
  std::filesystem::path file;
  std::string entry;
  Dim3 grid;
  Dim3 block;
  std::int64_t shared_bytes = 0;
  std::vector<std::string> params;
  std::string args;
};

struct Options {
  Verb verb = Verb::kHelp;
  std::filesystem::path out;
  /// Zero: no limit.
  Seconds budget{0};
  std::vector<std::string> only;
  bool list = false;
  bool resume = false;
  /// Run each op once, for a profiler, instead of timing it.
  bool profile = false;
  int device = 0;
  /// Machine id for the rows; empty: from the device's name.
  std::string machine;
  /// Ops for `suite` (CSV or JSON, see ops_file.hpp); empty: the built-in list.
  std::filesystem::path ops;
  KernelOptions kernel;
};

/// What `mansard-measure --help` prints.
[[nodiscard]] std::string_view usage();

/// Reads the arguments behind the program's name. Throws UsageError.
[[nodiscard]] Options parse_options(std::span<const char* const> arguments);

/// "120s", "2min", "500ms", "90" (seconds). Throws UsageError.
[[nodiscard]] Seconds parse_duration(std::string_view text);

/// "4", "4,2", "4x2x1": absent parts are 1. Throws UsageError.
[[nodiscard]] Dim3 parse_dim3(std::string_view text);

/// The parts between separators; none of an empty text.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

}  // namespace mansard::measure
