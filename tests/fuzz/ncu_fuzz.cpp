#include <cstdint>

#include "tests/traces/recorder.hpp"
#include "traces/ncu/ncu.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mansard::traces::Recorder recorder;
  (void)mansard::traces::read_ncu({reinterpret_cast<const char*>(data), size}, recorder);
  return 0;
}
