#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/source.hpp"

namespace mansard::ir {

/// One measured configuration: a row of a measurement file. Times in seconds, of one call on one
/// device.
struct Measurement {
  std::string machine;
  std::string implementation;
  std::string mode;  ///< "graph", "stream", "eager", or "kernel" (a profiler's kernel time).
  std::string op;
  std::string phase;  ///< "" where the op has none.
  std::string model;  ///< Steps: which model.
  std::string dtype;
  std::string out_dtype;  ///< "" stands for `dtype`.
  std::string kv_dtype;
  std::string source;                               ///< Where the row comes from.
  std::map<std::string, double, std::less<>> dims;  ///< Numeric columns by name: "m", "kv_len".
  double median_s = 0;
  double resolution_s = 0;  ///< The clock's step, 0 where it is fine.
  std::vector<std::string> flags;
  Location location;
};

}  // namespace mansard::ir
