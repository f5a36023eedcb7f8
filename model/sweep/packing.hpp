#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// Values as bytes, to hand them from one process of a team to another of the same program.
namespace mansard::model {

class Packer {
 public:
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    put(text.size());
    bytes_ += text;
  }
  void put_texts(const std::vector<std::string>& texts) {
    put(texts.size());
    for (const std::string& text : texts) {
      put_text(text);
    }
  }
  void put_numbers(const std::vector<double>& numbers) {
    put(numbers.size());
    bytes_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Takes values out in the order in which they were put in.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T get() {
    T value;
    std::memcpy(&value, taken(sizeof value).data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::string_view text() { return taken(get<std::size_t>()); }
  [[nodiscard]] std::vector<std::string> texts() {
    std::vector<std::string> result(get<std::size_t>());
    for (std::string& item : result) {
      item = text();
    }
    return result;
  }
  [[nodiscard]] std::vector<double> numbers() {
    std::vector<double> result(get<std::size_t>());
    const std::string_view bytes = taken(result.size() * sizeof(double));
    if (!result.empty()) {
      std::memcpy(result.data(), bytes.data(), bytes.size());
    }
    return result;
  }

 private:
  std::string_view taken(std::size_t size) {
    const std::string_view result = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return result;
  }

  std::string_view bytes_;
};

}  // namespace mansard::model
