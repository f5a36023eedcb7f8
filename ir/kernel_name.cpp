#include "ir/kernel_name.hpp"

#include <algorithm>

namespace mansard::ir {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";

/// Where the name's template arguments or parameters begin.
std::size_t arguments_begin(std::string_view name) {
  return std::min(name.find_first_of("<("), name.size());
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  if (name.starts_with("void ")) {
    name.remove_prefix(5);
  }
  for (;;) {
    const std::size_t open = arguments_begin(name);
    const std::string_view rest = name.substr(open);
    if (!rest.starts_with(kAnonymous)) {
      break;
    }
    name.remove_prefix(open + kAnonymous.size());
  }
  // CUTLASS launches everything through one template: the first argument says what it is.
  for (const std::string_view wrapper : {"cutlass::Kernel<", "cutlass::Kernel2<"}) {
    if (name.starts_with(wrapper) && !name.substr(wrapper.size()).starts_with("cutlass::")) {
      const std::string_view inner = name.substr(wrapper.size());
      return std::string(inner.substr(0, inner.find_first_of("<>(, ")));
    }
  }
  // Template arguments may themselves be followed by "::", as in Kernel<T>::run.
  const std::string_view path = name.substr(0, arguments_begin(name));
  const std::size_t scope = path.rfind("::");
  const std::string_view last = scope == std::string_view::npos ? path : path.substr(scope + 2);
  return std::string(last.empty() ? name : last);
}

}  // namespace mansard::ir
