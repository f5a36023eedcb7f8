#include "frontend/onnx/strip.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace mansard::frontend::onnx {
namespace {

constexpr std::size_t kLargest = 64 * 1024;  ///< Data of a tensor up to here is kept; byte.
constexpr int kDeepest = 100;

enum class Message : std::uint8_t {
  kModel,
  kFunction,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparse
};

/// A field that holds a message on the way to tensors.
struct Path {
  Message in;
  std::uint64_t field;
  Message to;
};

/// Field numbers of onnx.proto (IR 3 to 13, they never change).
constexpr std::array kPaths = {
    Path{Message::kModel, 7, Message::kGraph},
    Path{Message::kModel, 25, Message::kFunction},
    Path{Message::kFunction, 7, Message::kNode},
    Path{Message::kGraph, 1, Message::kNode},
    Path{Message::kGraph, 5, Message::kTensor},
    Path{Message::kGraph, 15, Message::kSparse},
    Path{Message::kNode, 5, Message::kAttribute},
    Path{Message::kAttribute, 5, Message::kTensor},
    Path{Message::kAttribute, 6, Message::kGraph},
    Path{Message::kAttribute, 10, Message::kTensor},
    Path{Message::kAttribute, 11, Message::kGraph},
    Path{Message::kAttribute, 22, Message::kSparse},
    Path{Message::kAttribute, 23, Message::kSparse},
    Path{Message::kSparse, 1, Message::kTensor},
    Path{Message::kSparse, 2, Message::kTensor},
};

/// float_data, int32_data, string_data, int64_data, raw_data, double_data, uint64_data.
constexpr std::array<std::uint64_t, 7> kTensorData = {4, 5, 6, 7, 9, 10, 11};

const Path* find_path(Message in, std::uint64_t field) {
  const auto* const found = std::ranges::find_if(
      kPaths, [&](const Path& path) { return path.in == in && path.field == field; });
  return found == kPaths.end() ? nullptr : found;
}

/// A field of a message as it stands in the bytes.
struct Field {
  std::uint64_t number = 0;
  std::string_view whole;    ///< Key, length and payload.
  std::string_view payload;  ///< Of a length-delimited field.
  bool delimited = false;
};

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

/// Reads the fields of a message one by one.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }

  std::optional<Field> next() {
    const std::size_t begin = at_;
    const auto key = varint();
    if (!key || *key >> 3 == 0) {
      return std::nullopt;
    }
    Field field{.number = *key >> 3};
    if (!skip(static_cast<unsigned>(*key & 7), field)) {
      return std::nullopt;
    }
    field.whole = bytes_.substr(begin, at_ - begin);
    return field;
  }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    return std::nullopt;
  }

  bool advance(std::uint64_t size) {
    if (size > bytes_.size() - at_) {
      return false;
    }
    at_ += size;
    return true;
  }

  bool skip(unsigned wire_type, Field& field) {
    switch (wire_type) {
      case 0:
        return varint().has_value();
      case 1:
        return advance(8);
      case 2: {
        const auto size = varint();
        const std::size_t begin = at_;
        field.delimited = true;
        if (!size || !advance(*size)) {
          return false;
        }
        field.payload = bytes_.substr(begin, *size);
        return true;
      }
      case 5:
        return advance(4);
      default:  // Groups are not used by ONNX.
        return false;
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

bool strip(Message message, std::string_view bytes, int depth, std::string& out);

bool strip_field(Message message, const Field& field, int depth, std::string& out) {
  const bool is_data = message == Message::kTensor && field.payload.size() > kLargest &&
                       std::ranges::find(kTensorData, field.number) != kTensorData.end();
  if (is_data) {
    return true;
  }
  const Path* path = field.delimited ? find_path(message, field.number) : nullptr;
  if (path == nullptr) {
    out += field.whole;
    return true;
  }
  std::string inner;
  if (!strip(path->to, field.payload, depth + 1, inner)) {
    return false;
  }
  append_varint(out, field.number << 3 | 2);
  append_varint(out, inner.size());
  out += inner;
  return true;
}

bool strip(Message message, std::string_view bytes, int depth, std::string& out) {
  Fields fields(bytes);
  while (!fields.at_end()) {
    const auto field = fields.next();
    if (!field || depth > kDeepest || !strip_field(message, *field, depth, out)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> strip_tensor_data(std::string_view model) {
  std::string out;
  if (!strip(Message::kModel, model, 0, out)) {
    return std::nullopt;
  }
  return out;
}

}  // namespace mansard::frontend::onnx
