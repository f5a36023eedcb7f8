#include "support/plugin.hpp"

#include <catch2/catch.hpp>

#include "support/version.hpp"

namespace mansard {
namespace {

TEST_CASE("the library that holds LLVM is found beside the program and is of its version",
          "[support][plugin]") {
  const auto symbol = llvm_symbol("mansard_llvm_library_version");
  REQUIRE(symbol);
  CHECK(reinterpret_cast<const char* (*)()>(*symbol)() == kVersion);
}

TEST_CASE("an entry that the library lacks is an error that names it", "[support][plugin]") {
  const auto symbol = llvm_symbol("mansard_no_such_entry");
  REQUIRE_FALSE(symbol);
  CHECK(symbol.error().front().message.find("mansard_no_such_entry") != std::string::npos);
}

}  // namespace
}  // namespace mansard
