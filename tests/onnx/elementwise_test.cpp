#include <catch2/catch.hpp>

#include "tests/onnx/single_op.hpp"

namespace mansard::onnx_test {
namespace {

/// Operations per output, arithmetic and special (exp, log, roots, trigonometry) together.
struct PerOutput {
  const char* op;
  double operations;
  int opset = 17;
  const char* attributes = "";
};

constexpr double kElements = 2 * 3 * 40;
constexpr const char* kShape = "2x3x40";

void check_elementwise(const PerOutput& one, std::string_view inputs, double bytes) {
  const Row row{one.op, inputs, one.attributes, kShape, kAny, one.opset};
  check(row);
  const auto graph = import_row(row);
  REQUIRE(graph);
  const Seen result = seen(*graph, row);
  CAPTURE(one.op);
  CHECK(result.flops + result.special == one.operations * kElements);
  CHECK(result.bytes == bytes);
}

}  // namespace

TEST_CASE("functions of one number work once per element and move it twice", "[onnx]") {
  for (const PerOutput& one : std::initializer_list<PerOutput>{
           {"Abs", 1},
           {"Acos", 1},
           {"Acosh", 1},
           {"Asin", 1},
           {"Asinh", 1},
           {"Atan", 1},
           {"Atanh", 1},
           {"Ceil", 1},
           {"Celu", 4},
           {"Clip", 2},
           {"Clip", 2, 6, "min=0.0 max=6.0"},
           {"Cos", 1},
           {"Cosh", 1},
           {"Elu", 3},
           {"Erf", 1},
           {"Exp", 1},
           {"Floor", 1},
           {"Gelu", 5, 20},
           {"Gelu", 9, 20, "approximate='tanh'"},
           {"HardSigmoid", 3},
           {"HardSwish", 4},
           {"LeakyRelu", 2},
           {"Log", 1},
           {"Mish", 5, 18},
           {"Neg", 1},
           {"Reciprocal", 1},
           {"Relu", 1},
           {"Round", 1},
           {"Selu", 4},
           {"Shrink", 2},
           {"Sigmoid", 3},
           {"Sign", 1},
           {"Sin", 1},
           {"Sinh", 1},
           {"Softplus", 3},
           {"Softsign", 2},
           {"Sqrt", 1},
           {"Swish", 3, 24},
           {"Tan", 1},
           {"Tanh", 1},
           {"ThresholdedRelu", 1},
           {"Bernoulli", 2},
           {"com.microsoft.QuickGelu", 4},
           {"com.microsoft.FastGelu", 9},
           {"com.microsoft.Gelu", 5},
       }) {
    check_elementwise(one, "f[2,3,40]", 2 * 4 * kElements);
  }
}

TEST_CASE("predicates write one byte", "[onnx]") {
  check_elementwise({"IsInf", 1}, "f[2,3,40]", 5 * kElements);
  check_elementwise({"IsNaN", 1}, "f[2,3,40]", 5 * kElements);
  check_elementwise({"Not", 1}, "b[2,3,40]", 2 * kElements);
  for (const char* op : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    check_elementwise({op, 1}, "f[2,3,40] f[2,3,40]", 9 * kElements);
  }
  for (const char* op : {"And", "Or", "Xor"}) {
    check_elementwise({op, 1}, "b[2,3,40] b[2,3,40]", 3 * kElements);
  }
}

TEST_CASE("functions of two numbers broadcast and read each input once", "[onnx]") {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum"}) {
    check_elementwise({op, 1}, "f[2,3,40] f[2,3,40]", 12 * kElements);
    check_elementwise({op, 1}, "f[2,1,40] f[3,1]", 4 * (kElements + 80 + 3));
    check_elementwise({op, 1}, "f[40] f[2,3,1]", 4 * (kElements + 40 + 6));
  }
  check_elementwise({"Mean", 2}, "f[2,3,40] f[2,3,40]", 12 * kElements);
  check_elementwise({"Sum", 2}, "f[2,3,40] f[2,3,40] f[40]", 12 * kElements + 160);
  check_elementwise({"PRelu", 2}, "f[2,3,40] f[3,1]", 4 * (2 * kElements + 3));
  check_elementwise({"Mod", 1, 17, "fmod=1"}, "f[2,3,40] f[2,3,40]", 12 * kElements);
  check_elementwise({"BitShift", 1, 17, "direction='LEFT'"}, "u[2,3,40] u[2,3,40]", 3 * kElements);
  for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    check_elementwise({op, 1, 18}, "j[2,3,40] j[2,3,40]", 12 * kElements);
  }
  check_elementwise({"BitwiseNot", 1, 18}, "j[2,3,40]", 8 * kElements);
  check_elementwise({"Where", 1}, "b[2,3,40] f[2,3,40] f[40]", 9 * kElements + 160);
}

TEST_CASE("operators of the first opsets take shapes as those opsets do", "[onnx]") {
  // Before opset 7 `broadcast` and `axis` say where the second operand stands.
  check({"Add", "f[2,3,4,5] f[3,4]", "broadcast=1 axis=1", "2x3x4x5", 120, 6});
  check({"Mul", "f[2,3,4,5] f[3]", "broadcast=1 axis=1", "2x3x4x5", 120, 6});
  check({"Sub", "f[2,3] f[2,3]", "", "2x3", 6, 6});
  check({"PRelu", "f[2,3,4,5] f[3]", "", "2x3x4x5", kAny, 6});
  check({"Sum", "f[2,3] f[2,3] f[2,3]", "", "2x3", 12, 6});
  check({"Dropout", "f[2,3]", "ratio=0.5 is_test=1", "2x3", 0, 6});
  check({"Cast", "f[2,3]", "to=7", "2x3", kAny, 9});
}

TEST_CASE("casts and quantisation change the bytes of an element", "[onnx]") {
  const Row half{"Cast", "f[2,3,40]", "to=10", "2x3x40", 240};
  check(half);
  CHECK(seen(*import_row(half), half).bytes == 240 * 6);
  check({"CastLike", "f[2,3] h[1]", "", "2x3", 6});
  check({"BitCast", "f[2,3]", "to=6", "2x3", 0, 26});
  const Row quantised{"QuantizeLinear", "f[2,3,40] f=0.5 u=3", "", "2x3x40"};
  check(quantised);
  CHECK(seen(*import_row(quantised), quantised).bytes == 240 * 5);
  check({"QuantizeLinear", "f[2,3,40] f[3] u[3]", "axis=1", "2x3x40"});
  check({"DequantizeLinear", "u[2,3,40] f=0.5 u=3", "", "2x3x40"});
  check({"DequantizeLinear", "s[2,3,40] f[2,3,2]", "axis=2 block_size=20", "2x3x40", kAny, 21});
  check({"DynamicQuantizeLinear", "f[2,3,40]", "", "2x3x40 () ()"});
}

}  // namespace mansard::onnx_test
