#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "tests/traces/recorder.hpp"
#include "traces/importers.hpp"

/// SQLite reads files, so the bytes become one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("mansard-fuzz-" + std::to_string(::getpid()) + ".sqlite");
  if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
    std::fwrite(data, 1, size, file);
    std::fclose(file);
  }
  mansard::traces::Recorder recorder;
  (void)mansard::traces::import_nsys(path, recorder);
  std::filesystem::remove(path);
  return 0;
}
