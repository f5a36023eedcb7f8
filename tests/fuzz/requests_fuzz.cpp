#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "traces/requests/requests.hpp"

/// Whatever a file holds, reading it ends, counts every row once and never goes back in time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mansard::traces::requests;
  const std::string text(data, data + size);
  auto reader = read_requests("fuzz", text);
  if (!reader) {
    static_cast<void>(mansard::render(reader.error()));
    return 0;
  }
  double before = 0;
  std::uint64_t requests = 0;
  while (const auto request = (*reader)->next()) {
    if (!(request->arrival >= before)) {
      std::abort();
    }
    before = request->arrival;
    ++requests;
  }
  const ReadReport& report = (*reader)->report();
  static_cast<void>(mansard::render(report.problems));
  if (report.rows != requests + report.unreadable) {
    std::abort();
  }
  return 0;
}
