#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "support/result.hpp"

namespace mansard::traces {

/// The bytes of a file in order, gunzipped where it is a gzip file of one or more members.
class ByteSource {
 public:
  /// Errors: no such file, a directory, not readable.
  [[nodiscard]] static Result<ByteSource> open(const std::string& path);
  /// Bytes that somebody else keeps, for tests and fuzzing.
  [[nodiscard]] static ByteSource of(std::span<const char> bytes);

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  /// Fills `buffer` from its start and returns how many bytes came; fewer than asked for only at
  /// the end, or where the file is damaged (`damage` then says how).
  [[nodiscard]] std::size_t read(std::span<char> buffer);
  /// Why the bytes ended before the file meant them to; "" if they did not.
  [[nodiscard]] const std::string& damage() const;

 private:
  struct State;
  explicit ByteSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace mansard::traces
