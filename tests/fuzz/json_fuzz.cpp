#include "support/document.hpp"
#include "tests/support/check_document.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mansard::check_parse(mansard::parse_json, data, size);
  return 0;
}
