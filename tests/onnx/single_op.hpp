#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"
#include "support/result.hpp"

/// Models of one node, written as rows of a table:
///
///     {"Conv", "f[1,4,9,9] w:f[8,2,3,3]", "group=2 auto_pad='VALID'", "1x8x7x7"}
///
/// A word of `inputs` is an input: a type (f float, h half, d double, i int64, j int32, u uint8, s
/// int8, b bool, t string) and a shape (`i[2,N]`), the numbers of a constant (`i{1,2}`, `i=3` of
/// rank 0), `w:` before a weight; `-` is an input that is absent. `outputs` are the shapes expected
/// ("" of a row: one, that libonnx infers); "()" has rank 0, "?" is one that no test knows.
namespace mansard::onnx_test {

constexpr double kAny = -1;

struct Row {
  std::string_view op;  ///< "Conv"; of other domains "com.microsoft.FusedConv".
  std::string_view inputs;
  std::string_view attributes;
  std::string_view outputs;
  double flops = kAny;  ///< Of contractions and elementwise arithmetic together.
  int opset = 17;
};

/// What the importer makes of a row.
struct Seen {
  std::vector<std::string> shapes;  ///< "2x3" of each output.
  double flops = 0;
  double special = 0;  ///< exp, rsqrt...
  double bytes = 0;
  std::vector<std::string> unknown;  ///< Kinds of nodes counted as bytes only.
};

/// The file's bytes; with `probes`, nodes follow that show the shapes of the outputs.
[[nodiscard]] std::string model_of(const Row& row, bool probes);
[[nodiscard]] Result<ir::Graph> import_row(const Row& row, bool probes = true);
[[nodiscard]] Seen seen(const ir::Graph& graph, const Row& row);
/// Shapes that libonnx's own inference gives; "?" where it is not sure or does not know the op.
[[nodiscard]] std::vector<std::string> oracle(const Row& row);

/// Imports a row and checks everything it says, and libonnx's opinion where it has one.
void check(const Row& row);

}  // namespace mansard::onnx_test
