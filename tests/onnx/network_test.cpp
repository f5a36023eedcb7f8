#include <catch2/catch.hpp>

#include "tests/onnx/single_op.hpp"

namespace mansard::onnx_test {

TEST_CASE("contractions count two FLOP per multiply-add", "[onnx]") {
  for (const Row& row : std::initializer_list<Row>{
           {"Conv", "f[1,4,9,9] w:f[8,4,3,3]", "", "1x8x7x7", 2 * 8 * 49 * 36},
           {"Conv", "f[1,4,9,9] w:f[8,2,3,3] w:f[8]", "group=2 pads=[1,1,1,1]", "1x8x9x9",
            2 * 8 * 81 * 18 + 8 * 81},
           {"Conv", "f[1,4,9,8] w:f[8,4,3,3]", "auto_pad='SAME_LOWER' strides=[2,2]", "1x8x5x4",
            2 * 8 * 20 * 36},
           {"Conv", "f[1,4,9,9] w:f[8,4,3,3]", "auto_pad='VALID' dilations=[2,2]", "1x8x5x5",
            2 * 8 * 25 * 36},
           {"Conv", "f[2,3,10] w:f[4,3,3]", "pads=[0,2]", "2x4x10", 2 * 2 * 4 * 10 * 9},
           {"Conv", "f[1,2,4,5,6] w:f[3,2,2,2,2]", "", "1x3x3x4x5", 2 * 3 * 60 * 16},
           {"ConvInteger", "u[1,1,3,3] u[1,1,2,2] u=1", "pads=[1,1,1,1]", "1x1x4x4", 2 * 16 * 4},
           {"ConvTranspose", "f[1,1,3,3] w:f[1,2,3,3]", "", "1x2x5x5", 2 * 9 * 2 * 9},
           {"ConvTranspose", "f[1,1,3,3] w:f[1,2,3,3]",
            "strides=[3,2] output_shape=[10,8] output_padding=[1,1]", "1x2x10x8", 2 * 9 * 2 * 9},
           {"ConvTranspose", "f[1,1,3,3] w:f[1,2,3,3]", "strides=[3,2] output_padding=[1,1]",
            "1x2x10x8", 2 * 9 * 2 * 9},
           {"ConvTranspose", "f[1,1,3,3] w:f[1,2,3,3]", "auto_pad='SAME_UPPER' strides=[2,2]",
            "1x2x6x6", 2 * 9 * 2 * 9},
           {"ConvTranspose", "f[1,1,3,3] w:f[1,1,2,2]", "dilations=[2,2]", "1x1x5x5", 2 * 9 * 4},
           {"ConvTranspose", "f[1,1,3] w:f[1,2,3]", "", "1x2x5", 2 * 3 * 2 * 3},
           {"ConvTranspose", "f[1,4,3,3] w:f[4,2,3,3]", "group=2", "1x4x5x5", 2 * 36 * 2 * 9},
           {"DeformConv", "f[1,1,3,3] w:f[1,1,2,2] f[1,8,2,2]", "kernel_shape=[2,2]", "1x1x2x2",
            kAny, 19},
           {"QLinearConv", "u[1,1,7,7] f=0.5 u=1 w:u[1,1,1,1] f[1] u[1] f=0.5 u=1", "", "1x1x7x7",
            2 * 49},
           {"MatMul", "f[3,4] f[4,3]", "", "3x3", 2 * 36},
           {"MatMul", "f[2,3,4] f[2,4,3]", "", "2x3x3", 2 * 72},
           {"MatMul", "f[1,2,3,4] f[5,1,4,3]", "", "5x2x3x3", 2 * 360},
           {"MatMul", "f[4] f[4]", "", "()", 8},
           {"MatMul", "f[4] f[2,4,3]", "", "2x3", 48},
           {"MatMul", "f[2,3,4] f[4]", "", "2x3", 48},
           {"MatMulInteger", "u[4,3] u[3,2] u=1 u=2", "", "4x2", 48},
           {"QLinearMatMul", "u[2,4] f=0.5 u=1 u[4,3] f=0.5 u=1 f=0.5 u=1", "", "2x3", 48},
           {"QLinearMatMul", "u[2,2,4] f=0.5 u=1 u[2,4,3] f=0.5 u=1 f=0.5 u=1", "", "2x2x3", 96},
           {"Gemm", "f[3,6] f[6,4] f[4]", "", "3x4", 2 * 72 + 12},
           {"Gemm", "f[6,3] f[4,6] f[1,4]", "transA=1 transB=1 alpha=0.5", "3x4", 2 * 72 + 12},
           {"Gemm", "f[3,6] f[6,4] f=0.5", "", "3x4", 2 * 72 + 12},
           {"Gemm", "f[3,6] f[6,4] f[3,1]", "", "3x4", 2 * 72 + 12},
           {"Gemm", "f[3,6] f[6,4]", "", "3x4", 2 * 72, 13},
           {"Gemm", "f[3,6] f[6,4] f[4]", "broadcast=1", "3x4", 2 * 72 + 12, 6},
           {"Einsum", "f[3,4]", "equation='ij->ji'", "4x3", 0},
           {"Einsum", "f[3,4]", "equation='ij->i'", "3", 12},
           {"Einsum", "f[3,5,5]", "equation='...ii->...i'", "3x5", 0},
           {"Einsum", "f[5] f[5]", "equation='i,i'", "()", 10},
           {"Einsum", "f[5,2,3] f[5,3,4]", "equation='bij,bjk->bik'", "5x2x4", 240},
           {"Det", "f[2,3,3]", "", "2"},
           {"Det", "f[3,3]", "", "()"},
       }) {
    check(row);
  }
}

TEST_CASE("pools work once per tap", "[onnx]") {
  for (const Row& row : std::initializer_list<Row>{
           {"AveragePool", "f[1,3,32,32]", "kernel_shape=[2,2]", "1x3x31x31", 3 * 961 * 4},
           {"AveragePool", "f[1,3,32,32]", "kernel_shape=[5,5] strides=[3,3]", "1x3x10x10",
            300 * 25},
           {"AveragePool", "f[1,3,28,28]", "kernel_shape=[3,3] pads=[2,2,2,2]", "1x3x30x30"},
           {"AveragePool", "f[1,1,4,4]", "kernel_shape=[3,3] strides=[2,2] ceil_mode=1", "1x1x2x2"},
           {"AveragePool", "f[1,1,4,4]", "kernel_shape=[2,2] dilations=[2,2]", "1x1x2x2", 16, 19},
           {"AveragePool", "f[1,3,32]", "kernel_shape=[2]", "1x3x31"},
           {"AveragePool", "f[1,3,8,8,8]", "kernel_shape=[2,2,2]", "1x3x7x7x7"},
           {"AveragePool", "f[1,3,32,32]", "kernel_shape=[2,2] auto_pad='SAME_LOWER'", "1x3x32x32"},
           {"MaxPool", "f[1,1,4,4]", "kernel_shape=[3,3] strides=[2,2] ceil_mode=1", "1x1x2x2"},
           {"MaxPool", "f[1,1,4,4]", "kernel_shape=[2,2] dilations=[2,2]", "1x1x2x2", 16},
           {"MaxPool", "f[1,3,32,32]", "kernel_shape=[2,2] auto_pad='SAME_UPPER'", "1x3x32x32"},
           {"MaxPool", "f[1,1,5,5]", "kernel_shape=[5,5] pads=[2,2,2,2]", "1x1x5x5 1x1x5x5"},
           // A last window that would begin in the padding is dropped.
           {"MaxPool", "f[1,1,2,2]", "kernel_shape=[1,1] strides=[2,2] ceil_mode=1", "1x1x1x1",
            kAny, 22},
           {"LpPool", "f[1,3,32,32]", "kernel_shape=[2,2] p=2", "1x3x31x31"},
           {"GlobalAveragePool", "f[1,3,5,5]", "", "1x3x1x1", 75},
           {"GlobalMaxPool", "f[1,3,5,5]", "", "1x3x1x1", 75},
           {"GlobalLpPool", "f[1,3,5,5]", "", "1x3x1x1"},
           {"MaxUnpool", "f[1,1,2,2] i[1,1,2,2]", "kernel_shape=[2,2] strides=[2,2]", "1x1x4x4", 0},
           {"MaxUnpool", "f[1,1,2,2] i[1,1,2,2] i{1,1,5,5}", "kernel_shape=[2,2] strides=[2,2]",
            "1x1x5x5", 0},
           {"com.microsoft.NhwcMaxPool", "s[1,4,4,3]", "kernel_shape=[2,2]", "1x3x3x3", 108},
           {"com.microsoft.MaxpoolWithMask", "f[1,1,4,4] j[1,1,4,4]", "kernel_shape=[2,2]",
            "1x1x3x3"},
           {"com.microsoft.QLinearAveragePool", "u[1,1,4,4] f=0.5 u=1 f=0.5 u=1",
            "kernel_shape=[2,2]", "1x1x3x3"},
           {"com.microsoft.QLinearGlobalAveragePool", "u[1,5,5,3] f=0.5 u=1 f=0.5 u=1",
            "channels_last=1", "1x1x1x3", 75},
       }) {
    check(row);
  }
}

TEST_CASE("reductions read each element once", "[onnx]") {
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                         "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"}) {
    check({op, "f[3,2,5]", "axes=[1]", "3x1x5"});
    check({op, "f[3,2,5]", "axes=[-2] keepdims=0", "3x5"});
    check({op, "f[3,2,5]", "", "1x1x1"});
    check({op, "f[3,2,5]", "keepdims=0", "()"});
    check({op, "f[3,2,5] i{0,2}", "keepdims=0", "2", kAny, 20});
    check({op, "f[3,2,5] i{}", "noop_with_empty_axes=1", "3x2x5", kAny, 20});
    check({op, "f[2,0,4] i{1}", "keepdims=1", "2x1x4", 0, 20});
  }
  check({"ReduceSum", "f[3,2,5] i{1}", "keepdims=0", "3x5", 30});
  check({"ReduceSum", "f[3,2,5]", "axes=[1]", "3x1x5", 30, 11});
  check({"ReduceMax", "f[3,2,5]", "axes=[1]", "3x1x5", 30});
  const Row sum{"ReduceSum", "f[3,2,5] i{1}", "", "3x1x5"};
  CHECK(seen(*import_row(sum), sum).bytes == (30 + 15) * 4);
  check({"ArgMax", "f[2,3,4]", "axis=1", "2x1x4", 24});
  check({"ArgMin", "f[2,3,4]", "axis=-1 keepdims=0 select_last_index=1", "2x3", 24});
  check({"CumSum", "f[2,3] i=1", "reverse=1", "2x3", 6});
  check({"CumProd", "f[2,3] i=1", "exclusive=1", "2x3", 6, 26});
  check({"TopK", "f[3,4] i{2}", "axis=1", "3x2 3x2", 12});
  check({"TopK", "f[3,4]", "axis=1 k=2", "3x2 3x2", 12, 1});
}

TEST_CASE("norms and softmaxes keep the shape", "[onnx]") {
  for (const Row& row : std::initializer_list<Row>{
           {"BatchNormalization", "f[2,3,4,5] w:f[3] w:f[3] w:f[3] w:f[3]", "", "2x3x4x5", 240},
           {"BatchNormalization", "f[2,3,4,5] w:f[3] w:f[3] w:f[3] w:f[3]", "training_mode=1",
            "2x3x4x5 3 3"},
           {"BatchNormalization", "f[2,3,4,5] w:f[3] w:f[3] w:f[3] w:f[3]", "is_test=1", "2x3x4x5",
            240, 6},
           {"GroupNormalization", "f[3,4,2,2] w:f[2] w:f[2]", "num_groups=2", "3x4x2x2", kAny, 18},
           {"GroupNormalization", "f[3,4,2,2] w:f[4] w:f[4]", "num_groups=2", "3x4x2x2", kAny, 21},
           {"InstanceNormalization", "f[1,2,1,3] w:f[2] w:f[2]", "", "1x2x1x3"},
           {"LRN", "f[5,5,5,5]", "size=3 alpha=0.5", "5x5x5x5"},
           {"LayerNormalization", "f[2,3,4] w:f[4] w:f[4]", "", "2x3x4 2x3x1 2x3x1"},
           {"LayerNormalization", "f[2,3,4] w:f[3,4]", "axis=1", "2x3x4 2x1x1 2x1x1"},
           {"LpNormalization", "f[2,3]", "axis=1 p=2", "2x3"},
           {"MeanVarianceNormalization", "f[3,3,3,1]", "", "3x3x3x1"},
           {"RMSNormalization", "f[2,3,4] w:f[4]", "axis=-1", "2x3x4", kAny, 23},
           {"SimplifiedLayerNormalization", "f[2,3,4] w:f[4]", "", "2x3x4 2x3x1"},
           {"Softmax", "f[2,3,4]", "", "2x3x4"},
           {"Softmax", "f[2,3,4]", "axis=0", "2x3x4"},
           {"Softmax", "f[2,3,4]", "axis=1", "2x3x4", kAny, 11},
           {"LogSoftmax", "f[2,3,4]", "axis=-2", "2x3x4"},
           {"Hardmax", "f[2,3,4]", "", "2x3x4", 24},
           {"Dropout", "f[3,4,5] f=0.5 b=0", "seed=0", "3x4x5 3x4x5", 0},
           {"SoftmaxCrossEntropyLoss", "f[3,5] i[3]", "reduction='mean'", "()"},
           {"SoftmaxCrossEntropyLoss", "f[3,5,2] i[3,2] f[5]", "reduction='none'", "3x2 3x5x2"},
           {"NegativeLogLikelihoodLoss", "f[3,5,6,6] i[3,6,6] f[5]", "reduction='sum'", "()"},
           {"NegativeLogLikelihoodLoss", "f[3,5] i[3]", "reduction='none'", "3"},
       }) {
    check(row);
  }
}

TEST_CASE("recurrent layers multiply their gates at every step", "[onnx]") {
  // 2 FLOP x gates x hidden x (input + hidden) a step and sample, and a few more per hidden unit.
  check({"LSTM", "f[7,3,2] w:f[1,20,2] w:f[1,20,5] w:f[1,40]", "hidden_size=5",
         "7x1x3x5 1x3x5 1x3x5"});
  check({"LSTM", "f[7,3,2] w:f[2,20,2] w:f[2,20,5]", "hidden_size=5 direction='bidirectional'",
         "7x2x3x5 2x3x5 2x3x5"});
  check({"GRU", "f[7,3,2] w:f[1,15,2] w:f[1,15,5]", "hidden_size=5", "7x1x3x5 1x3x5"});
  check({"GRU", "f[3,7,2] w:f[1,15,2] w:f[1,15,5]", "hidden_size=5 layout=1", "3x7x1x5 3x1x5"});
  check({"RNN", "f[7,3,2] w:f[1,5,2] w:f[1,5,5]", "hidden_size=5", "7x1x3x5 1x3x5"});
  const Row row{"LSTM", "f[7,3,2] w:f[1,20,2] w:f[1,20,5]", "hidden_size=5", "7x1x3x5"};
  CHECK(seen(*import_row(row), row).flops >= 2 * 7 * 3 * 20 * (2 + 5));
  check({"com.microsoft.DynamicQuantizeLSTM",
         "f[7,3,2] w:s[1,2,20] w:s[1,5,20] - - - - - f[1] s[1] f[1] s[1]", "hidden_size=5",
         "7x1x3x5 1x3x5 1x3x5"});
}

TEST_CASE("random tensors, windows and transforms", "[onnx]") {
  check({"RandomNormal", "", "shape=[3,4]", "3x4"});
  check({"RandomUniform", "", "shape=[3,4] low=0.5", "3x4"});
  check({"RandomNormalLike", "f[3,4]", "", "3x4"});
  check({"RandomUniformLike", "f[3,4]", "dtype=10", "3x4"});
  check({"Multinomial", "f[3,4]", "sample_size=7", "3x7"});
  check({"HannWindow", "i=10", "", "10"});
  check({"HammingWindow", "i=10", "periodic=0", "10"});
  check({"BlackmanWindow", "i=10", "", "10"});
  check({"MelWeightMatrix", "i=8 i=16 i=8192 f=0.0 f=4096.0", "", "9x8"});
  check({"DFT", "f[1,10,10,1]", "axis=1", "1x10x10x2"});
  check({"DFT", "f[1,10,10,1]", "axis=1 onesided=1", "1x6x10x2"});
  check({"DFT", "f[1,10,10,2] - i=2", "", "1x10x10x2", kAny, 20});
  check({"STFT", "f[1,128,1] i=8 f[16]", "onesided=1", "1x15x9x2"});
  check({"STFT", "f[1,128,1] i=8 - i=16", "onesided=0", "1x15x16x2"});
  check({"com.microsoft.Rfft", "f[2,16]", "signal_ndim=1 normalized=0 onesided=1", "2x9x2"});
  check({"com.microsoft.Irfft", "f[2,9,2]", "signal_ndim=1 normalized=0 onesided=1", "2x16"});
}

TEST_CASE("strings are moved, never computed with", "[onnx]") {
  check({"StringNormalizer", "t[4]", "case_change_action='LOWER'", "4"});
  check({"StringConcat", "t[2,3] t[3]", "", "2x3", 0, 20});
  check({"RegexFullMatch", "t[2,3]", "pattern='a+'", "2x3", kAny, 20});
  check({"TfIdfVectorizer", "i[2,6]",
         "max_gram_length=2 max_skip_count=0 min_gram_length=1 mode='TF' ngram_counts=[0,4] "
         "ngram_indexes=[0,1,2,3,4,5,6] pool_int64s=[2,3,5,4,5,6,7,8,6,7]",
         "2x7"});
  check({"ImageDecoder", "u[100]", "", "y0.0xy0.1x3", kAny, 20});
  check({"StringSplit", "t[2]", "delimiter=','", "2xy0.parts 2", kAny, 20});
}

}  // namespace mansard::onnx_test
