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

struct Library {
  const char* id;  ///< Of diagnostics.
  const char* file;
  const char* environment;
  const char* version_entry;
  const char* holds;
  const char* remedy;
  int flags;
};

constexpr Library kLlvm{
    "llvm-library",    "libmansard_llvm.so", "MANSARD_LLVM",       "mansard_llvm_library_version",
    "what needs LLVM", "install libLLVM 19", RTLD_NOW | RTLD_LOCAL};
/// Global, since Open MPI's own plugins look for its symbols.
constexpr Library kMpi{"mpi-library",         "libmansard_mpi.so",
                       "MANSARD_MPI",         "mansard_mpi_library_version",
                       "what needs MPI",      "build with Open MPI there",
                       RTLD_NOW | RTLD_GLOBAL};

std::vector<std::string> places(const Library& library) {
  if (const char* given = std::getenv(library.environment); given != nullptr && *given != '\0') {
    return {given};
  }
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  return {folder / library.file, folder / ".." / "lib" / library.file,
          folder / kLibraryDirBesideBin / library.file,
          std::filesystem::path(kInstalledLibraryDir) / library.file, library.file};
}

tl::unexpected<Diagnostics> cannot_open(const Library& library,
                                        const std::vector<std::string>& tried,
                                        const std::string& reason) {
  return failure(
      library.id,
      fmt::format("cannot open {}, which holds {}: {} (looked in {})", library.file, library.holds,
                  reason, fmt::join(tried, ", ")),
      {}, fmt::format("{}, or set {} to the library's path", library.remedy, library.environment));
}

Result<void*> check_version(const Library& library, void* handle,
                            const std::vector<std::string>& tried) {
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(handle, library.version_entry));
  if (version == nullptr || version() != kVersion) {
    return cannot_open(library, tried, fmt::format("it is not of mansard {}", kVersion));
  }
  return handle;
}

Result<void*> open_library(const Library& library) {
  std::vector<std::string> tried;
  std::string reason;
  for (const std::string& place : places(library)) {
    tried.push_back(place);
    if (place.find('/') != std::string::npos && !std::filesystem::exists(place)) {
      reason = reason.empty() ? "no such file" : reason;
      continue;
    }
    if (void* handle = dlopen(place.c_str(), library.flags)) {
      return check_version(library, handle, tried);
    }
    reason = dlerror();
  }
  return cannot_open(library, tried, reason);
}

Result<void*> symbol_of(const Library& library, const Result<void*>& handle, const char* name) {
  if (!handle) {
    return failure(handle.error());
  }
  void* symbol = dlsym(*handle, name);
  if (symbol == nullptr) {
    return failure(library.id, fmt::format("{} has no '{}'", library.file, name), {},
                   "it was built without that part");
  }
  return symbol;
}

}  // namespace

Result<void*> llvm_symbol(const char* name) {
  static const Result<void*> handle = open_library(kLlvm);
  return symbol_of(kLlvm, handle, name);
}

Result<void*> mpi_symbol(const char* name) {
  static const Result<void*> handle = open_library(kMpi);
  return symbol_of(kMpi, handle, name);
}

}  // namespace mansard
