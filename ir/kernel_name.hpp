#pragma once

#include <string>
#include <string_view>

namespace mansard::ir {

/// A kernel's name without return type, template arguments, parameters and namespaces:
/// "void at::native::(anonymous namespace)::softmax<float, 4>(float*)" -> "softmax".
[[nodiscard]] std::string short_kernel_name(std::string_view name);

}  // namespace mansard::ir
