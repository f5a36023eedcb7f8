#include <catch2/catch.hpp>

#include "tests/onnx/single_op.hpp"

namespace mansard::onnx_test {

TEST_CASE("data movement computes nothing and gives the shape that libonnx infers", "[onnx]") {
  for (const Row& row : std::initializer_list<Row>{
           {"Concat", "f[2,3] f[2,5] f[2,1]", "axis=1", "", 0},
           {"Concat", "f[2,3] f[4,3]", "axis=-2", "", 0},
           {"DepthToSpace", "f[1,8,2,3]", "blocksize=2", "1x2x4x6", 0},
           {"DepthToSpace", "f[1,8,2,3]", "blocksize=2 mode='CRD'", "1x2x4x6", 0},
           {"SpaceToDepth", "f[1,2,4,6]", "blocksize=2", "1x8x2x3", 0},
           {"Expand", "f[3,1] i{2,1,6}", "", "2x3x6", 0},
           {"Flatten", "f[2,3,4,5]", "axis=2", "6x20", 0},
           {"Flatten", "f[2,3,4,5]", "axis=-1", "24x5", 0},
           {"Flatten", "f[2,3,4,5]", "axis=0", "1x120", 0},
           {"Flatten", "f[2,3,4,5]", "axis=4", "120x1", 0},
           {"Gather", "f[5,4,3] i[2,6]", "axis=1", "5x2x6x3", 0},
           {"Gather", "f[5,4] i=2", "", "4", 0},
           {"GatherElements", "f[5,4] i[2,4]", "axis=0", "2x4", 0},
           {"GatherND", "f[2,3,4] i[5,2]", "", "5x4", 0},
           {"GatherND", "f[2,3,4] i[2,1]", "batch_dims=1", "2x4", 0},
           {"Identity", "f[2,3]", "", "2x3", 0},
           {"Pad", "f[2,3] i{0,1,2,3} f=0.5", "mode='constant'", "4x7", 0},
           {"Pad", "f[2,3] i{0,-1,2,0}", "mode='reflect'", "4x2", 0},
           {"Pad", "f[2,3]", "pads=[0,1,2,3] mode='edge'", "4x7", 0, 2},
           {"Pad", "f[2,3,4] i{1,2} - i{1}", "", "2x6x4", 0, 18},
           {"Pad", "f[2,3,4] i{1,2} f=0.0 i{-1}", "mode='wrap'", "2x3x7", 0, 19},
           {"Reshape", "f[2,3,4] i{0,-1}", "", "2x12", 0},
           {"Reshape", "f[2,3,4] i{4,6}", "", "4x6", 0},
           {"Reshape", "f[0,3,4] i{3,4,0}", "allowzero=1", "3x4x0", 0},
           {"Reshape", "f[2,3,4]", "shape=[4,-1]", "4x6", 0, 1},
           {"ReverseSequence", "f[4,3] i[3]", "time_axis=0 batch_axis=1", "4x3", 0},
           {"Scatter", "f[3,4] i[2,4] f[2,4]", "axis=0", "3x4", 0, 9},
           {"ScatterElements", "f[3,4] i[2,4] f[2,4]", "axis=1", "3x4", 0},
           {"ScatterND", "f[8,4] i[2,1] f[2,4]", "", "8x4", 0},
           {"ScatterND", "f[8,4] i[2,1] f[2,4]", "reduction='add'", "8x4", 8, 18},
           {"ScatterElements", "f[3,4] i[2,4] f[2,4]", "axis=0 reduction='mul'", "3x4", 8, 18},
           {"Slice", "f[20,10,5] i{0,0} i{3,10} i{0,1} i{1,1}", "", "3x10x5", 0},
           {"Slice", "f[20,10,5] i{-1} i{-9999} i{0} i{-1}", "", "20x10x5", 0},
           {"Slice", "f[20,10,5] i{1} i{1000} i{1}", "", "20x9x5", 0},
           {"Slice", "f[20,10,5] i{1000} i{1000} i{1}", "", "20x0x5", 0},
           {"Slice", "f[20,10,5] i{0,0,3} i{20,10,4}", "", "20x10x1", 0},
           {"Slice", "f[20,10]", "starts=[1,0] ends=[-1,5] axes=[0,1]", "18x5", 0, 9},
           {"Slice", "f[20,10] i{19} i{-20} i{0} i{-2}", "", "10x10", 0},
           {"Split", "f[6,4]", "axis=0", "2x4 2x4 2x4", 0},
           {"Split", "f[7,4]", "axis=0 num_outputs=3", "3x4 3x4 1x4", 0, 18},
           {"Split", "f[6,4] i{2,4}", "axis=0", "2x4 4x4", 0},
           {"Split", "f[6,4]", "axis=1 split=[1,3]", "6x1 6x3", 0, 11},
           {"Split", "f[0]", "axis=0", "0 0", 0, 13},
           {"Squeeze", "f[1,3,1,5]", "", "3x5", 0},
           {"Squeeze", "f[1,3,1,5] i{0}", "", "3x1x5", 0},
           {"Squeeze", "f[1,3,1,5] i{-2}", "", "1x3x5", 0},
           {"Squeeze", "f[1,3,1,5]", "axes=[0,2]", "3x5", 0, 11},
           {"TensorScatter", "f[2,4,8,3] f[2,4,1,3] i[2]", "axis=-2", "2x4x8x3", 0, 24},
           {"Tile", "f[2,3] i{2,4}", "", "4x12", 0},
           {"Transpose", "f[2,3,4]", "", "4x3x2", 0},
           {"Transpose", "f[2,3,4]", "perm=[1,0,2]", "3x2x4", 0},
           {"Trilu", "f[3,4]", "upper=0", "3x4", 0},
           {"Unsqueeze", "f[3,4] i{0,3}", "", "1x3x4x1", 0},
           {"Unsqueeze", "f[3,4]", "axes=[-1]", "3x4x1", 0, 11},
           {"CenterCropPad", "f[20,10,3] i{10,7,9}", "", "10x7x9", 0, 18},
           {"CenterCropPad", "f[3,20,10] i{10,9}", "axes=[1,2]", "3x10x9", 0, 18},
           {"OneHot", "i[3] i=10 f{0,1}", "", "3x10", 0},
           {"OneHot", "i[3,2] i=10 f{0,1}", "axis=1", "3x10x2", 0},
           {"Upsample", "f[1,1,2,2] f{1,1,2,3}", "mode='nearest'", "1x1x4x6", 0, 9},
           {"Upsample", "f[1,1,2,2]", "scales=[1.0,1.0,2.0,3.0]", "1x1x4x6", 0, 7},
           {"Resize", "f[1,1,4,4] - f{1,1,0.6,0.6}", "", "1x1x2x2", 0},
           {"Resize", "f[1,1,2,2] - - i{1,1,7,8}", "mode='nearest'", "1x1x7x8", 0},
           {"Resize", "f[1,1,2,4] - f{2,3}", "axes=[2,3] mode='nearest'", "1x1x4x12", 0, 18},
           {"Resize", "f[1,1,2,4] f{1,1,2,2}", "", "1x1x4x8", 0, 10},
           {"Resize", "f[1,1,2,4] - - i{7,8}",
            "axes=[2,3] mode='nearest' keep_aspect_ratio_policy='not_larger'", "1x1x4x8", 0, 18},
           {"Resize", "f[1,1,2,4] - - i{7,8}",
            "axes=[2,3] mode='nearest' keep_aspect_ratio_policy='not_smaller'", "1x1x7x14", 0, 18},
           {"com.microsoft.ExpandDims", "f[3,4] j=1", "", "3x1x4", 0},
           {"com.microsoft.Pad", "f[2,3] i{0,1,2,3}", "mode='constant'", "4x7", 0},
           {"com.microsoft.GatherND", "f[2,3,4] i[5,2]", "", "5x4", 0},
           {"com.microsoft.TorchEmbedding", "f[100,16] i[2,7]", "", "2x7x16", 0},
           {"com.microsoft.UnfoldTensor", "f[2,10,3]", "dim=1 size=4 step=2", "2x4x3x4", 0},
           {"com.microsoft.Trilu", "f[3,4]", "upper=1", "3x4", 0},
       }) {
    check(row);
  }
}

TEST_CASE("a gather reads what it writes, a scatter copies its tensor", "[onnx]") {
  const Row gather{"Gather", "f[1000,64] i[8]", "", "8x64"};
  CHECK(seen(*import_row(gather), gather).bytes == 2 * 8 * 64 * 4 + 8 * 8);
  const Row scatter{"ScatterND", "f[1000,64] i[8,1] f[8,64]", "", "1000x64"};
  CHECK(seen(*import_row(scatter), scatter).bytes == 2 * 64000 * 4 + 8 * 8 + 512 * 4);
}

TEST_CASE("shapes become numbers", "[onnx]") {
  check({"Shape", "f[2,3,4]", "", "3", 0});
  check({"Shape", "f[2,3,4]", "start=1 end=-1", "1", 0});
  check({"Size", "f[2,3,4]", "", "()", 0});
  check({"Range", "i=1 i=10 i=3", "", "3", 0});
  check({"Range", "f=0.0 f=1.0 f=0.25", "", "4", 0});
  check({"Range", "i=10 i=4 i=-2", "", "3", 0});
  check({"com.microsoft.Range", "i=0 i=10", "", "10", 0});
  check({"ConstantOfShape", "i{3,4}", "", "3x4", 0});
  check({"Constant", "", "value_ints=[1,2,3]", "3", 0});
  check({"Constant", "", "value_float=1.0", "()", 0});
  check({"Constant", "", "value_string='a'", "()", 0});
  check({"Constant", "", "value_strings=['a','b']", "2", 0});
  check({"EyeLike", "f[3,4]", "k=1", "3x4"});
}

TEST_CASE("interpolation costs a multiply-add a neighbour", "[onnx]") {
  check({"Resize", "f[1,1,2,4] - f{1,1,2,2}", "mode='linear'", "1x1x4x8", 32 * 2 * 4});
  check({"Resize", "f[1,1,4,4] - f{1,1,2,2}", "mode='cubic'", "1x1x8x8", 64 * 2 * 16});
  check({"Upsample", "f[1,1,2,2] f{1,1,2,2}", "mode='linear'", "1x1x4x4", 16 * 2 * 4, 9});
  check({"GridSample", "f[1,2,4,4] f[1,6,6,2]", "", "1x2x6x6"});
  check({"GridSample", "f[1,1,3,2,2] f[1,2,4,2,3]", "", "1x1x2x4x2", kAny, 20});
  check({"AffineGrid", "f[2,2,3] i{2,3,5,6}", "", "2x5x6x2", kAny, 20});
  check({"AffineGrid", "f[2,3,4] i{2,3,4,5,6}", "", "2x4x5x6x3", kAny, 20});
  check({"RoiAlign", "f[1,2,10,10] f[3,4] i[3]", "output_height=5 output_width=4", "3x2x5x4"});
  check({"MaxRoiPool", "f[1,2,10,10] f[3,5]", "pooled_shape=[5,4]", "3x2x5x4"});
  check({"com.microsoft.CropAndResize", "f[1,2,10,10] f[3,4] j[3] j{5,4}", "", "3x2x5x4"});
  check({"Col2Im", "f[1,5,5] i{5,5} i{1,5}", "", "1x1x5x5", kAny, 18});
  check({"com.microsoft.GridSample", "f[1,2,4,4] f[1,6,6,2]", "", "1x2x6x6"});
}

}  // namespace mansard::onnx_test
