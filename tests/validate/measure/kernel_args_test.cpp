#include "validate/measure/kernel_args.hpp"

#include <cstring>

#include <catch2/catch.hpp>

namespace mansard::measure {
namespace {

constexpr std::string_view kPtx = R"(
.version 8.4
.target sm_90
.visible .entry saxpy(
	.param .u32 saxpy_param_0,
	.param .f32 saxpy_param_1,
	.param .u64 saxpy_param_2,
	.param .u64 .ptr .global .align 16 saxpy_param_3
)
{ ret; }
.visible .entry empty_kernel()
{ ret; }
)";

template <typename T>
T as(const KernelArgument& argument) {
  T value{};
  REQUIRE(argument.scalar.size() == sizeof value);
  std::memcpy(&value, argument.scalar.data(), sizeof value);
  return value;
}

TEST_CASE("the parameters of an entry are found in the PTX") {
  const std::vector<KernelParam> params = entry_params(kPtx, "saxpy");
  REQUIRE(params.size() == 4);
  CHECK(params[1].name == "saxpy_param_1");
  CHECK(params[1].type == "f32");
  CHECK(params[1].bytes == 4);
  CHECK(params[3].name == "saxpy_param_3");
  CHECK(params[3].bytes == 8);
  CHECK(entry_params(kPtx, "empty_kernel").empty());
}

TEST_CASE("an entry that is not there is refused with those that are") {
  CHECK_THROWS_WITH(entry_params(kPtx, "axpy"), Catch::Contains("saxpy, empty_kernel"));
}

TEST_CASE("arguments in order bind to the parameters in order") {
  const auto bound =
      bind_arguments(entry_params(kPtx, "saxpy"), "n=1024;a=2.0f;x=f32[1024];y=f32[2048]", {});
  REQUIRE(bound.size() == 4);
  CHECK(as<std::int32_t>(bound[0]) == 1024);
  CHECK(as<float>(bound[1]) == 2.0f);
  CHECK(bound[2].is_buffer);
  CHECK(bound[2].element == "f32");
  CHECK(bound[3].count == 2048);
}

TEST_CASE(
    "a launches row that names only the scalars binds by the source's names, buffers by default") {
  const std::vector<std::string> names = {"n", "a", "x", "y"};
  const auto bound = bind_arguments(entry_params(kPtx, "saxpy"), "n=67108864", names);
  CHECK(as<std::int32_t>(bound[0]) == 67108864);
  CHECK(as<float>(bound[1]) == 0.5f);
  CHECK(bound[2].is_buffer);
  CHECK(bound[2].count * 4 == std::int64_t{1} << 30);
}

TEST_CASE("arguments bind by position and by PTX name") {
  const auto bound =
      bind_arguments(entry_params(kPtx, "saxpy"), "saxpy_param_1=-1e-3;0=0x10;2=u32[64]%1024", {});
  CHECK(as<std::int32_t>(bound[0]) == 16);
  CHECK(as<float>(bound[1]) == -1e-3f);
  CHECK(bound[2].limit == 1024);
}

TEST_CASE("arguments that fit no parameter are refused") {
  const std::vector<KernelParam> params = entry_params(kPtx, "saxpy");
  CHECK_THROWS_AS(bind_arguments(params, "z=1", {}), UsageError);
  CHECK_THROWS_AS(bind_arguments(params, "0=one", {}), UsageError);
  CHECK_THROWS_AS(bind_arguments(params, "0=f32[4]", {}), UsageError);
  CHECK_THROWS_AS(bind_arguments(params, "1=2", {}), UsageError);
}

}  // namespace
}  // namespace mansard::measure
