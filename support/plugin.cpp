#include "support/plugin.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/install_dirs.hpp"
#include "support/version.hpp"

namespace mansard {
namespace {

constexpr const char* kLibrary = "libmansard_llvm.so";
constexpr const char* kEnvironment = "MANSARD_LLVM";
constexpr const char* kVersionEntry = "mansard_llvm_library_version";

std::vector<std::string> places() {
  if (const char* given = std::getenv(kEnvironment); given != nullptr && *given != '\0') {
    return {given};
  }
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  return {folder / kLibrary, folder / ".." / "lib" / kLibrary,
          folder / kLibraryDirBesideBin / kLibrary,
          std::filesystem::path(kInstalledLibraryDir) / kLibrary, kLibrary};
}

tl::unexpected<Diagnostics> cannot_open(const std::vector<std::string>& tried,
                                        const std::string& reason) {
  return failure("llvm-library",
                 fmt::format("cannot open {}, which holds what needs LLVM: {} (looked in {})",
                             kLibrary, reason, fmt::join(tried, ", ")),
                 {},
                 fmt::format("install libLLVM 19, or set {} to the library's path", kEnvironment));
}

Result<void*> check_version(void* library, const std::vector<std::string>& tried) {
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(library, kVersionEntry));
  if (version == nullptr || version() != kVersion) {
    return cannot_open(tried, fmt::format("it is not of mansard {}", kVersion));
  }
  return library;
}

Result<void*> open_library() {
  std::vector<std::string> tried;
  std::string reason;
  for (const std::string& place : places()) {
    tried.push_back(place);
    if (place.find('/') != std::string::npos && !std::filesystem::exists(place)) {
      reason = reason.empty() ? "no such file" : reason;
      continue;
    }
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return check_version(library, tried);
    }
    reason = dlerror();
  }
  return cannot_open(tried, reason);
}

}  // namespace

Result<void*> llvm_symbol(const char* name) {
  static const Result<void*> library = open_library();
  if (!library) {
    return failure(library.error());
  }
  void* symbol = dlsym(*library, name);
  if (symbol == nullptr) {
    return failure("llvm-library", fmt::format("{} has no '{}'", kLibrary, name), {},
                   "it was built without that part");
  }
  return symbol;
}

}  // namespace mansard
