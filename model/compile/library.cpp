#include "support/version.hpp"

/// What the program asks first: whether this library is of its own version.
extern "C" const char* mansard_llvm_library_version() {
  return mansard::kVersion.data();
}
