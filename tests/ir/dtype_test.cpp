#include "ir/dtype.hpp"

#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

std::string bytes(std::string_view dtype, double elements) {
  ExprPool pool;
  return exact(bytes_of(*find_dtype(dtype), pool.constant(elements)));
}

double bits_per_element(std::string_view dtype) {
  ExprPool pool;
  const double elements = 1 << 20;
  return value(bytes_of(*find_dtype(dtype), pool.constant(elements)), {}) * 8 / elements;
}

}  // namespace

TEST_CASE("block formats take their published bits with scales", "[ir][dtype]") {
  CHECK(bits_per_element("mxfp8") == 8.25);  // OCP MX 1.0: 8 bits of scale per 32
  CHECK(bits_per_element("mxfp6") == 6.25);
  CHECK(bits_per_element("mxfp4") == 4.25);
  CHECK(bits_per_element("nvfp4") == 4.5);               // 8 bits per 16
  CHECK(bits_per_element("int4_wo") == 4 + 20.0 / 128);  // fp16 scale and 4-bit zero per 128
  CHECK(bits_per_element("nf4") == Approx(4.127).epsilon(1e-4));  // QLoRA, section 3: 0.127 bit
  CHECK(bits_per_element("fp8_block") == 8 + 32.0 / (128 * 128));
}

TEST_CASE("bytes are whole and round partly filled bytes and blocks up", "[ir][dtype]") {
  CHECK(bytes("bf16", 3) == "6");
  CHECK(bytes("fp4", 3) == "2");
  CHECK(bytes("fp6", 3) == "3");                // 18 bits
  CHECK(bytes("mxfp4", 33) == "19");            // 132 bits and 2 scales
  CHECK(bytes("int4_wo", 129) == "70");         // 516 bits are 65 bytes, 2 x 20 bits are 5
  CHECK(bytes("fp8_block", 16385) == "16393");  // 2 blocks
  CHECK(bytes("bf16", 0) == "0");
}

TEST_CASE("a 7168 x 2048 fp8 expert has 896 scales of 4 bytes", "[ir][dtype]") {
  // DeepSeek-V3: ceil(7168/128) * ceil(2048/128) = 56 * 16
  CHECK(bytes("fp8_block", 7168.0 * 2048) == std::to_string(7168 * 2048 + 896 * 4));
}

TEST_CASE("bytes of the largest tensors stay exact", "[ir][dtype]") {
  CHECK(bytes("int4_wo", 1099511627776) == std::to_string((1LL << 39) + (1LL << 33) * 20 / 8));
}

TEST_CASE("bytes have the dimension of bytes", "[ir][dtype]") {
  ExprPool pool;
  for (const Dtype& dtype : dtypes()) {
    CAPTURE(dtype.name);
    CHECK(bytes_of(dtype, pool.symbol("n")).dimension() == kByte);
  }
}

TEST_CASE("every dtype is found by its name and computes as one that exists", "[ir][dtype]") {
  std::set<std::string_view> names;
  for (const Dtype& dtype : dtypes()) {
    CAPTURE(dtype.name);
    CHECK(names.insert(dtype.name).second);
    CHECK(find_dtype(dtype.name) == &dtype);
    CHECK_FALSE(dtype.description.empty());
    CHECK((dtype.arithmetic.empty() || find_dtype(dtype.arithmetic) != nullptr));
  }
}

TEST_CASE("dtypes are found by the names of frameworks", "[ir][dtype]") {
  CHECK(find_dtype("bfloat16")->name == "bf16");
  CHECK(find_dtype("float8_e4m3fn")->name == "fp8");
  CHECK(find_dtype("awq")->name == "int4_wo");
  CHECK(find_dtype("fp5") == nullptr);
}

}  // namespace mansard::ir
