#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "support/document.hpp"
#include "support/tree_builder.hpp"
#include "support/yaml_extent.hpp"
#include "support/yaml_parser.hpp"

namespace mansard {
namespace {

constexpr std::size_t kLongestShownName = 40;

constexpr std::string_view kOpenQuote = "this quote is never closed";

/// What yaml-cpp says, and how we say it.
struct Wording {
  std::string_view theirs;
  std::string_view ours;
  std::string_view hint;
};

constexpr std::array<Wording, 13> kWordings = {{
    {"end of map not found", "expected a key or the end of this mapping",
     "is the indentation right?"},
    {"end of map flow not found", "expected ',' or '}'", ""},
    {"end of sequence not found", "expected '-' or the end of this list",
     "is the indentation right?"},
    {"end of sequence flow not found", "expected ',' or ']'", ""},
    {"illegal EOF in scalar", kOpenQuote, ""},
    {"illegal document indicator in scalar", kOpenQuote, ""},
    {"illegal flow end", "this bracket does not close the one that is open", ""},
    {"illegal block entry", "a list entry cannot stand here", "start it on a line of its own"},
    {"illegal map key", "a key cannot stand here", ""},
    {"illegal map value", "a ':' cannot stand here",
     "is the indentation right? text that holds ': ' takes quotes"},
    {"unknown token", "this character cannot begin a value",
     "text that begins with it takes quotes"},
    {"bad character found while scanning hex number", "expected hex digits after this escape", ""},
    {"unexpected character in block scalar", "expected the end of the line after '|' or '>'", ""},
}};

const Wording* find_wording(std::string_view theirs) {
  const auto* wording = std::ranges::find(kWordings, theirs, &Wording::theirs);
  return wording == kWordings.end() ? nullptr : wording;
}

/// Length of the word for null that the text begins with, or 0.
std::size_t null_word_length(std::string_view text) {
  for (const std::string_view word : {"~", "null", "Null", "NULL"}) {
    if (text.starts_with(word)) {
      return word.size();
    }
  }
  return 0;
}

/// Builds the tree; what no file of ours may hold ends the reading.
class TreeHandler : public YamlEvents {
 public:
  TreeHandler(std::shared_ptr<const SourceFile> file, const DocumentLimits& limits)
      : file_(std::move(file)), text_(file_->text), builder_(file_, limits) {}

  void begin_document(std::size_t begin) override;
  void end_document() override { settle_null(text_.size()); }
  void null(std::size_t begin) override;
  void alias(std::size_t begin) override {
    report_alias(begin);
    throw YamlLeft{};
  }
  void scalar(std::size_t begin, const std::string& text, bool quoted) override;
  void begin_sequence(std::size_t begin) override {
    begin_collection(Node::Kind::kSequence, begin);
  }
  void end_sequence() override { end_collection(']'); }
  void begin_mapping(std::size_t begin) override { begin_collection(Node::Kind::kMapping, begin); }
  void end_mapping() override { end_collection('}'); }

  /// Records what yaml-cpp could not read.
  void report(const YamlStop& stop);
  /// The tree, or the errors.
  Result<Node> finish() &&;

 private:
  [[nodiscard]] char at(std::size_t position) const {
    return position < text_.size() ? text_[position] : '\0';
  }
  [[nodiscard]] bool is_bracket(std::size_t position) const {
    return at(position) == '[' || at(position) == '{';
  }

  void refuse_properties(std::size_t begin);
  void report_alias(std::size_t begin);
  [[noreturn]] void refuse_key(std::size_t begin);
  [[noreturn]] void refuse(std::string id, std::string message, std::size_t begin,
                           std::size_t length, std::string label = {}) {
    builder_.error(std::move(id), std::move(message), begin, begin + length, std::move(label));
    throw YamlLeft{};
  }

  void begin_collection(Node::Kind kind, std::size_t begin);
  void end_collection(char bracket);
  void continue_if(bool fine, std::size_t end) {
    if (!fine) {
      throw YamlLeft{};
    }
    last_end_ = end;
  }

  void settle_null(std::size_t next_begin);
  [[nodiscard]] std::size_t absent_value_place();
  [[nodiscard]] std::string open_bracket_label() const;

  std::shared_ptr<const SourceFile> file_;
  std::string_view text_;
  TreeBuilder builder_;
  std::vector<bool> bracketed_;  ///< Of each open collection.
  std::optional<std::size_t> unsettled_null_;
  std::string unsettled_ends_;  ///< Brackets of the collections that end with the unsettled null.
  std::size_t last_end_ = 0;
  std::size_t documents_ = 0;
  bool has_value_ = false;
};

void TreeHandler::begin_document(std::size_t begin) {
  settle_null(begin);
  if (++documents_ == 1) {
    return;
  }
  if (text_.substr(begin).starts_with("---")) {
    refuse("yaml-documents", "expected one document, found a second", begin, 3, "split the file");
  }
  refuse("yaml-syntax", "expected the end of the file after the value", begin, 1,
         "is the indentation right?");
}

void TreeHandler::null(std::size_t begin) {
  settle_null(begin);
  refuse_properties(begin);
  if (builder_.expects_key()) {
    refuse_key(begin);
  }
  unsettled_null_ = begin;
}

/// Whether something stood for the last null shows when the next event comes: if nothing did, its
/// place was that of the next event, at `next_begin`, or that of its key.
void TreeHandler::settle_null(std::size_t next_begin) {
  if (!unsettled_null_) {
    return;
  }
  const std::size_t begin = *std::exchange(unsettled_null_, std::nullopt);
  const bool absent = begin == next_begin || begin < last_end_;
  const std::size_t length = absent ? 0 : null_word_length(text_.substr(begin));
  has_value_ = has_value_ || length > 0;
  const std::size_t place = length > 0 ? begin : absent_value_place();
  continue_if(builder_.null(place, place + length), place + length);
  for (const char bracket : std::exchange(unsettled_ends_, {})) {
    end_collection(bracket);
  }
}

void TreeHandler::scalar(std::size_t begin, const std::string& text, bool quoted) {
  settle_null(begin);
  refuse_properties(begin);
  const std::size_t end = scalar_end(text_, begin, text);
  if (end == std::string_view::npos) {
    refuse("yaml-syntax", std::string(kOpenQuote), begin, 1);
  }
  has_value_ = true;
  if (builder_.expects_key()) {
    builder_.key(text, begin, end);
    last_end_ = end;
  } else {
    continue_if(builder_.scalar(text, quoted, begin, end), end);
  }
}

void TreeHandler::begin_collection(Node::Kind kind, std::size_t begin) {
  settle_null(begin);
  refuse_properties(begin);
  if (builder_.expects_key()) {
    refuse_key(begin);
  }
  has_value_ = true;
  bracketed_.push_back(is_bracket(begin));
  continue_if(builder_.begin_collection(kind, begin), begin + 1);
}

void TreeHandler::end_collection(char bracket) {
  if (unsettled_null_) {
    unsettled_ends_ += bracket;
    return;
  }
  const std::size_t end = bracketed_.back() ? flow_end(text_, last_end_, bracket) : last_end_;
  bracketed_.pop_back();
  builder_.end_collection(end);
  last_end_ = end;
}

/// Anchors and tags stand before what they belong to, so that is where its event is.
void TreeHandler::refuse_properties(std::size_t begin) {
  if (at(begin) == '&') {
    refuse("yaml-anchor", "anchors are refused", begin, 1, "write the value out where it is used");
  }
  if (at(begin) == '!') {
    refuse("yaml-tag", "tags are refused", begin, 1, "remove the tag");
  }
}

/// A collection or nothing where a key belongs. yaml-cpp also takes a bracket that is never closed
/// for a key.
void TreeHandler::refuse_key(std::size_t begin) {
  if (is_bracket(begin) && !is_closed(text_, begin)) {
    refuse("yaml-syntax", "this bracket is never closed", begin, 1);
  }
  refuse("yaml-key", "expected a key, which is text on one line", begin, 1);
}

/// Where a value that is not there would be. yaml-cpp also takes the last word of a file for a key
/// without a value.
std::size_t TreeHandler::absent_value_place() {
  const Node* collection = builder_.innermost();
  if (collection == nullptr || !collection->is_mapping()) {
    return last_end_;
  }
  const std::size_t colon = colon_end(text_, last_end_);
  if (colon == std::string_view::npos) {
    builder_.error("yaml-syntax", "expected ':' after this key",
                   collection->entries.back().key_location);
    throw YamlLeft{};
  }
  return colon;
}

void TreeHandler::report_alias(std::size_t begin) {
  std::string_view alias = text_.substr(begin, kLongestShownName);
  alias = alias.substr(0, alias.find_first_of(" \t\r\n,]}"));
  const bool scales = alias.size() > 1 && ((alias[1] >= '0' && alias[1] <= '9') || alias[1] == '.');
  builder_.error(
      "yaml-alias", "aliases are refused", begin, begin + alias.size(),
      scales ? fmt::format("to scale, write \"{}\" in quotes", alias) : "write the value out");
}

/// The tab in the indentation of the line of `position`, or npos. yaml-cpp stumbles later in the
/// line.
std::size_t indenting_tab(std::string_view text, std::size_t position) {
  const std::size_t newline = text.substr(0, position).rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::size_t other = text.find_first_not_of(' ', begin);
  return other != std::string_view::npos && other <= position && text[other] == '\t'
             ? other
             : std::string_view::npos;
}

void TreeHandler::report(const YamlStop& stop) {
  std::size_t begin = stop.position;
  if (stop.message.empty()) {
    builder_.error(
        "yaml-value-size",
        fmt::format("a value, comment or bracketed list longer than {} bytes begins here",
                    kLongestYamlValue),
        begin, begin + 1, "a large JSON file is read if its name ends in .json");
    return;
  }
  if (at(begin) == '*') {
    report_alias(begin);
    return;
  }
  const std::size_t tab = indenting_tab(text_, begin);
  if (tab != std::string_view::npos) {
    builder_.error("yaml-syntax", "expected spaces as indentation, found a tab", tab, tab + 1,
                   "use spaces");
    return;
  }
  const Wording* wording = find_wording(stop.message);
  const std::string message(wording == nullptr ? stop.message : wording->ours);
  if (message == kOpenQuote) {
    begin = std::min(begin, text_.find_first_of("\"'", last_end_));
  }
  const std::string hint(wording == nullptr ? "" : wording->hint);
  builder_.error("yaml-syntax", message, begin, begin + 1,
                 hint.empty() ? open_bracket_label() : hint);
}

std::string TreeHandler::open_bracket_label() const {
  if (bracketed_.empty() || !bracketed_.back()) {
    return {};
  }
  const Location& open = builder_.innermost()->location;
  return fmt::format("the '{}' of line {} is open here", at(open.begin), line_column(open).line);
}

Result<Node> TreeHandler::finish() && {
  Result<Node> result = std::move(builder_).finish();
  if (result && !has_value_) {
    return failure("document-empty", "expected a value, found an empty document", {file_, 0, 0});
  }
  return result;
}

}  // namespace

Result<Node> parse_yaml(std::shared_ptr<const SourceFile> file, const DocumentLimits& limits) {
  if (std::optional<Diagnostic> error = find_unreadable(file, limits)) {
    return failure({*std::move(error)});
  }
  const std::string_view text = file->text;
  TreeHandler handler(std::move(file), limits);
  if (const std::optional<YamlStop> stop = parse_yaml_events(text, handler)) {
    handler.report(*stop);
  }
  return std::move(handler).finish();
}

}  // namespace mansard
