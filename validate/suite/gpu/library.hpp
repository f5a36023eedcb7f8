#pragma once

#include <initializer_list>
#include <string>

namespace mansard::measure {

/// A shared library found at run time, or not: then every symbol is null. Stays open until the
/// program ends.
class Library {
 public:
  /// The first of these file names that opens.
  explicit Library(std::initializer_list<const char*> names);

  [[nodiscard]] bool found() const { return handle_ != nullptr; }

  /// The function of that name as FUNCTION*; null when the library or the symbol is absent.
  template <typename Function>
  [[nodiscard]] Function* symbol(const char* name) const {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  [[nodiscard]] void* address(const char* name) const;

  void* handle_ = nullptr;
};

}  // namespace mansard::measure
