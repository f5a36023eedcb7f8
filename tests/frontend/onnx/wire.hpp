#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/onnx/onnx.hpp"

/// Writes small ONNX files for tests: the wire format of onnx.proto by hand, so that what is read
/// is not written by the library that reads it.
///
///     Net net;
///     net.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3});
///     net.node("Conv", {"x", "w"}, {"y"}, {ints("pads", {1, 1, 1, 1})}).output("y");
///     Result<ir::Graph> graph = net.import();
namespace mansard::onnx_test {

inline void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  }
  out.push_back(static_cast<char>(value));
}
inline std::string number(unsigned field, std::int64_t value) {
  std::string out;
  put_varint(out, field << 3);
  put_varint(out, static_cast<std::uint64_t>(value));
  return out;
}
inline std::string text(unsigned field, std::string_view value) {
  std::string out;
  put_varint(out, field << 3 | 2);
  put_varint(out, value.size());
  return out + std::string(value);
}

inline std::string ints(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string out = text(1, name) + number(20, 7);
  for (const std::int64_t value : values) {
    out += number(8, value);
  }
  return out;
}
inline std::string integer(std::string_view name, std::int64_t value) {
  return text(1, name) + number(3, value) + number(20, 2);
}
inline std::string string(std::string_view name, std::string_view value) {
  return text(1, name) + text(4, value) + number(20, 3);
}
inline std::string body(std::string_view name, std::string_view graph) {
  return text(1, name) + text(6, graph) + number(20, 5);
}

constexpr std::int64_t kFloat = 1;
constexpr std::int64_t kInt8 = 3;
constexpr std::int64_t kInt64 = 7;
constexpr std::int64_t kBool = 9;

/// An extent: a number or a name; "" is neither.
struct Dim {
  Dim(std::int64_t value) : value(value) {}  // NOLINT(google-explicit-constructor)
  Dim(int value) : value(value) {}           // NOLINT(google-explicit-constructor)
  Dim(const char* name) : name(name) {}      // NOLINT(google-explicit-constructor)
  std::int64_t value = -1;
  std::string name;

  [[nodiscard]] std::string bytes() const {
    if (!name.empty()) {
      return text(1, text(2, name));
    }
    return value < 0 ? text(1, "") : text(1, number(1, value));
  }
};

inline std::string value_info(std::string_view name, const std::vector<Dim>& shape,
                              std::int64_t type = kFloat) {
  std::string dims;
  for (const Dim& dim : shape) {
    dims += dim.bytes();
  }
  return text(1, name) + text(2, text(1, number(1, type) + text(2, dims)));
}

inline std::string tensor(std::string_view name, const std::vector<std::int64_t>& dims,
                          std::int64_t type) {
  std::string out;
  for (const std::int64_t dim : dims) {
    out += number(1, dim);
  }
  return out + number(2, type) + text(8, name);
}

class Net {
 public:
  Net& input(std::string_view name, const std::vector<Dim>& shape, std::int64_t type = kFloat) {
    return raw(11, value_info(name, shape, type));
  }
  Net& output(std::string_view name) { return raw(12, text(1, name)); }
  /// An initializer whose data lie in another file, which is not there.
  Net& weight(std::string_view name, const std::vector<std::int64_t>& dims,
              std::int64_t type = kFloat) {
    const std::string entry = text(1, "location") + text(2, "absent.bin");
    return raw(5, tensor(name, dims, type) + text(13, entry) + number(14, 1));
  }
  /// A tensor of integers with its data.
  Net& integers(std::string_view name, const std::vector<std::int64_t>& values) {
    std::string data(values.size() * sizeof(std::int64_t), '\0');
    if (!values.empty()) {
      std::memcpy(data.data(), values.data(), data.size());
    }
    return raw(5, tensor(name, {static_cast<std::int64_t>(values.size())}, kInt64) + text(9, data));
  }
  Net& scalar(std::string_view name, std::int64_t value) {
    std::string data(sizeof value, '\0');
    std::memcpy(data.data(), &value, sizeof value);
    return raw(5, tensor(name, {}, kInt64) + text(9, data));
  }
  Net& node(std::string_view type, const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs,
            const std::vector<std::string>& attributes = {}, std::string_view domain = "",
            std::string_view name = "") {
    std::string out;
    for (const std::string& input : inputs) {
      out += text(1, input);
    }
    for (const std::string& output : outputs) {
      out += text(2, output);
    }
    out += text(3, name) + text(4, type) + text(7, domain);
    for (const std::string& attribute : attributes) {
      out += text(5, attribute);
    }
    return raw(1, out);
  }
  Net& raw(unsigned field, std::string_view bytes) {
    graph_ += text(field, bytes);
    return *this;
  }
  Net& opset(std::int64_t version) {
    opset_ = version;
    return *this;
  }
  Net& function(std::string_view bytes) {
    functions_ += text(25, bytes);
    return *this;
  }

  [[nodiscard]] const std::string& graph() const { return graph_; }
  [[nodiscard]] std::string model() const {
    return number(1, 8) + text(7, graph_) + text(8, number(2, opset_)) +
           text(8, text(1, "com.microsoft") + number(2, 1)) + functions_;
  }
  [[nodiscard]] Result<ir::Graph> import() const {
    return frontend::onnx::import_bytes(model(), "test.onnx", "test");
  }

 private:
  std::string graph_;
  std::string functions_;
  std::int64_t opset_ = 17;
};

}  // namespace mansard::onnx_test
