#include "traces/requests/lines.hpp"

#include <filesystem>
#include <fstream>
#include <istream>
#include <sstream>

#include <fmt/format.h>

#include "support/text.hpp"

namespace mansard::traces::requests {
namespace {

constexpr std::size_t kLongest = std::size_t{16} << 20U;
constexpr std::size_t kChunk = std::size_t{1} << 18U;

class StreamLines final : public LineSource {
 public:
  explicit StreamLines(std::unique_ptr<std::istream> stream) : stream_(std::move(stream)) {}

  std::optional<std::string_view> next() override {
    if (!peeked_ && !read()) {
      return std::nullopt;
    }
    peeked_ = false;
    return line_;
  }

  std::optional<std::string_view> peek() override {
    peeked_ = peeked_ || read();
    return peeked_ ? std::optional<std::string_view>(line_) : std::nullopt;
  }

  void as_list() override {
    list_ = true;
    peeked_ = false;
    at_ = 0;  // back to the beginning of the first chunk, of which the bracket is passed over
    number_ = 0;
    lines_passed_ = 0;
  }

  std::size_t number() const override { return number_; }

 private:
  bool read() { return list_ ? read_object() : read_line(); }

  /// Makes sure that there is a byte at `at_`; false at the end.
  bool fill() {
    if (at_ < buffer_.size()) {
      return true;
    }
    if (!list_ && number_ == 0 && !buffer_.empty()) {
      return append();  // keep the first line, for as_list
    }
    buffer_.clear();
    at_ = 0;
    return append();
  }

  bool append() {
    const std::size_t old = buffer_.size();
    buffer_.resize(old + kChunk);
    stream_->read(buffer_.data() + old, static_cast<std::streamsize>(kChunk));
    const auto got = static_cast<std::size_t>(stream_->gcount());
    buffer_.resize(old + got);
    if (old == 0 && first_) {
      at_ = byte_order_mark_length(buffer_);
      first_ = false;
    }
    return at_ < buffer_.size();
  }

  bool read_line() {
    line_.clear();
    bool any = false;
    while (line_.size() < kLongest && fill()) {
      any = true;
      const std::size_t end = buffer_.find('\n', at_);
      const std::size_t stop = end == std::string::npos ? buffer_.size() : end;
      line_.append(buffer_, at_, stop - at_);
      at_ = stop;
      if (end != std::string::npos) {
        ++at_;
        break;
      }
    }
    if (!line_.empty() && line_.back() == '\r') {
      line_.pop_back();
    }
    number_ += any ? 1 : 0;
    return any;
  }

  /// The next object of a list, braces and all; what stands between objects is passed over.
  bool read_object() {
    line_.clear();
    std::size_t depth = 0;
    bool quoted = false;
    bool escaped = false;
    while (line_.size() < kLongest && fill()) {
      const char c = buffer_[at_++];
      lines_passed_ += c == '\n' ? 1 : 0;
      if (depth == 0 && c != '{') {
        continue;
      }
      if (depth == 0) {
        number_ = lines_passed_ + 1;
      }
      line_ += c;
      if (quoted) {
        quoted = escaped || c != '"';
        escaped = !escaped && c == '\\';
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{') {
        ++depth;
      } else if (c == '}' && --depth == 0) {
        return true;
      }
    }
    return !line_.empty();
  }

  std::unique_ptr<std::istream> stream_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::string line_;
  bool first_ = true;
  bool peeked_ = false;
  bool list_ = false;
  std::size_t number_ = 0;
  std::size_t lines_passed_ = 0;
};

}  // namespace

Result<std::unique_ptr<LineSource>> open_lines(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return failure("file", fmt::format("'{}' is a directory", printable(path)));
  }
  auto stream = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*stream) {
    return failure("file", fmt::format("cannot open '{}'", printable(path)));
  }
  return std::make_unique<StreamLines>(std::move(stream));
}

std::unique_ptr<LineSource> lines_of(std::string text) {
  return std::make_unique<StreamLines>(std::make_unique<std::istringstream>(std::move(text)));
}

}  // namespace mansard::traces::requests
