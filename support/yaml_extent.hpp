#pragma once

#include <cstddef>
#include <string_view>

/// Where things end in a YAML text. A parser's events say where each begins, and only that.
namespace mansard {

/// One past the last byte of the scalar that begins at `begin` and means `value`: past the closing
/// quote, or past the last character of a plain or block scalar.
[[nodiscard]] std::size_t scalar_end(std::string_view text, std::size_t begin,
                                     std::string_view value);

/// One past the bracket that closes a flow collection whose last entry ends at `from`.
[[nodiscard]] std::size_t flow_end(std::string_view text, std::size_t from, char bracket);

/// Whether the bracket at `begin` is closed further on, as far as quotes and comments can be told.
[[nodiscard]] bool is_closed(std::string_view text, std::size_t begin);

/// One past the ':' after a key that ends at `from`, or `npos` if no ':' follows.
[[nodiscard]] std::size_t colon_end(std::string_view text, std::size_t from);

}  // namespace mansard
