#include "validate/suite/gpu/library.hpp"

#include <dlfcn.h>

namespace mansard::measure {

Library::Library(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    handle_ = handle_ == nullptr ? dlopen(name, RTLD_LAZY | RTLD_GLOBAL) : handle_;
  }
}

void* Library::address(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace mansard::measure
