#include "traces/kineto/structure.hpp"

#include <algorithm>
#include <cstring>

#include <simdjson.h>

namespace mansard::traces {
namespace {

using Parser = simdjson::internal::dom_parser_implementation;

/// Behind the window: what simdjson may read, and the quotes that close a cut string.
constexpr std::size_t kPadding = simdjson::SIMDJSON_PADDING + 2;
constexpr std::size_t kDepth = 1;  ///< Only the first stage runs; it knows no depth.

}  // namespace

struct StructuredWindow::Indexer {
  std::unique_ptr<Parser> parser;
};

StructuredWindow::StructuredWindow(ByteSource source, std::size_t size, std::size_t largest)
    : source_(std::move(source)),
      indexer_(std::make_unique<Indexer>()),
      size_(size),
      largest_(largest) {}

StructuredWindow::~StructuredWindow() = default;

bool StructuredWindow::advance(std::size_t taken) {
  if (filled_ > taken) {
    std::memmove(buffer_.data(), buffer_.data() + taken, filled_ - taken);
  }
  filled_ -= taken;
  offset_ += taken;
  const bool stuck = taken == 0 && length_ > 0;
  if (stuck && (at_end_ || size_ >= largest_)) {
    return false;
  }
  if (stuck) {
    size_ *= 2;
  }
  if (buffer_.size() < size_ + kPadding) {
    buffer_.resize(size_ + kPadding);
    indexer_->parser.reset();
    (void)simdjson::get_active_implementation()->create_dom_parser_implementation(
        size_ + kPadding, kDepth, indexer_->parser);
  }
  fill();
  length_ = cut();
  index();
  return length_ > 0;
}

void StructuredWindow::fill() {
  while (!at_end_ && filled_ < size_) {
    const std::size_t got = source_.read(std::span(buffer_).subspan(filled_, size_ - filled_));
    at_end_ = got == 0;
    filled_ += got;
  }
}

/// Where the window had better end: behind a line or an object, since those are seldom in strings.
std::size_t StructuredWindow::cut() const {
  if (at_end_) {
    return filled_;
  }
  constexpr std::size_t kFar = std::size_t{1} << 16;
  const std::string_view tail =
      std::string_view(buffer_.data(), filled_).substr(filled_ - std::min(kFar, filled_));
  for (const char end : {'\n', '}'}) {
    if (const std::size_t found = tail.rfind(end); found != std::string_view::npos) {
      return filled_ - tail.size() + found + 1;
    }
  }
  return filled_;
}

void StructuredWindow::index() {
  cut_in_string_ = false;
  int error = find_places(length_);
  if (error == simdjson::UNESCAPED_CHARS) {
    blank_control_characters();
    error = find_places(length_);
  }
  if (error == simdjson::UNCLOSED_STRING) {
    close_string();
  }
}

int StructuredWindow::find_places(std::size_t length) {
  places_ = {};
  malformed_text_ = false;
  if (length == 0) {
    return simdjson::EMPTY;
  }
  Parser& parser = *indexer_->parser;
  const int error = parser.stage1(reinterpret_cast<const std::uint8_t*>(buffer_.data()), length,
                                  simdjson::stage1_mode::regular);
  malformed_text_ = error == simdjson::UTF8_ERROR;
  if (error == simdjson::SUCCESS || malformed_text_) {
    places_ = {parser.structural_indexes.get(), parser.n_structural_indexes};
  }
  return error;
}

/// Ends a string that the window cuts, for the time it takes to find the places; a second quote
/// where a backslash escapes the first.
void StructuredWindow::close_string() {
  const std::size_t end = length_;
  const char kept[2] = {buffer_[end], buffer_[end + 1]};
  buffer_[end] = '"';
  buffer_[end + 1] = '"';
  int error = find_places(end + 1);
  if (error == simdjson::UNESCAPED_CHARS) {
    blank_control_characters();
    error = find_places(end + 1);
  }
  if (error == simdjson::UNCLOSED_STRING) {
    (void)find_places(end + 2);
  }
  buffer_[end] = kept[0];
  buffer_[end + 1] = kept[1];
  cut_in_string_ = true;
}

void StructuredWindow::blank_control_characters() {
  bool in_string = false;
  for (std::size_t at = 0; at < length_; ++at) {
    const char c = buffer_[at];
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string && c == '\\') {
      ++at;
      continue;
    } else if (in_string && static_cast<unsigned char>(c) < ' ') {
      buffer_[at] = ' ';
      ++control_characters_;
    }
  }
}

}  // namespace mansard::traces
