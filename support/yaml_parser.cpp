#include "support/yaml_parser.hpp"

#include <algorithm>
#include <istream>
#include <streambuf>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "support/text.hpp"

namespace mansard {
namespace {

/// Feeds yaml-cpp piece by piece and ends the text when it reads too far ahead of the values that
/// it has reported.
class MeteredBuffer : public std::streambuf {
 public:
  explicit MeteredBuffer(std::string_view text) : text_(text) {}

  void report_progress(std::size_t position) { progress_ = std::max(progress_, position); }
  [[nodiscard]] bool starved() const { return starved_; }
  [[nodiscard]] std::size_t progress() const { return progress_; }

 protected:
  int_type underflow() override {
    starved_ = starved_ || (given_ < text_.size() && given_ > progress_ + kLongestYamlValue);
    if (starved_ || given_ == text_.size()) {
      return traits_type::eof();
    }
    piece_ = text_.substr(given_, kPiece);
    given_ += piece_.size();
    setg(piece_.data(), piece_.data(), piece_.data() + piece_.size());
    return traits_type::to_int_type(piece_.front());
  }

 private:
  static constexpr std::size_t kPiece = 4096;

  std::string_view text_;
  std::string piece_;
  std::size_t given_ = 0;
  std::size_t progress_ = 0;
  bool starved_ = false;
};

/// Gives the events of yaml-cpp on, with marks as positions.
class Adapter : public YAML::EventHandler {
 public:
  Adapter(std::string_view text, std::size_t offset, MeteredBuffer& buffer, YamlEvents& events)
      : size_(text.size()), offset_(offset), buffer_(&buffer), events_(&events) {}

  [[nodiscard]] std::size_t place(const YAML::Mark& mark) const {
    const std::size_t position =
        mark.is_null() ? buffer_->progress() : static_cast<std::size_t>(mark.pos);
    return std::min(position + offset_, size_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override { events_->begin_document(advance(mark)); }
  void OnDocumentEnd() override { events_->end_document(); }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    events_->null(advance(mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    events_->alias(advance(mark));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    events_->scalar(advance(mark), value, tag == "!");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    events_->begin_sequence(advance(mark));
  }
  void OnSequenceEnd() override { events_->end_sequence(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    events_->begin_mapping(advance(mark));
  }
  void OnMapEnd() override { events_->end_mapping(); }

 private:
  std::size_t advance(const YAML::Mark& mark) {
    if (!buffer_->starved()) {
      buffer_->report_progress(static_cast<std::size_t>(std::max(mark.pos, 0)));
      return place(mark);
    }
    // What yaml-cpp makes of a text that was cut short is not what the text says.
    throw YamlLeft{};
  }

  std::size_t size_;
  std::size_t offset_;
  MeteredBuffer* buffer_;
  YamlEvents* events_;
};

}  // namespace

std::optional<YamlStop> parse_yaml_events(std::string_view text, YamlEvents& events) {
  const std::size_t offset = byte_order_mark_length(text);
  MeteredBuffer buffer(text.substr(offset));
  Adapter adapter(text, offset, buffer, events);
  std::optional<YamlStop> stop;
  try {
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(adapter)) {
    }
  } catch (const YamlLeft&) {
    stop = std::nullopt;
  } catch (const YAML::Exception& exception) {
    stop = YamlStop{.position = adapter.place(exception.mark), .message = exception.msg};
  }
  if (buffer.starved()) {
    stop = YamlStop{.position = std::min(buffer.progress() + offset, text.size()), .message = {}};
  }
  return stop;
}

}  // namespace mansard
