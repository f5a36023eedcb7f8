#include "validate/csv.hpp"

#include <algorithm>
#include <utility>

namespace mansard::validate {

CsvScanner::CsvScanner(std::shared_ptr<const SourceFile> file, std::size_t begin)
    : file_(std::move(file)), text_(file_->text), at_(begin) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  at_ += text_.substr(at_).starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

std::optional<std::vector<Cell>> CsvScanner::row() {
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) {
    ++at_;
  }
  if (at_ >= text_.size()) {
    return std::nullopt;
  }
  std::vector<Cell> cells;
  do {
    cells.push_back(cell());
  } while (take(','));
  if (at_ < text_.size() && text_[at_] == '\r') {
    ++at_;
  }
  return cells;
}

bool CsvScanner::take(char c) {
  const bool found = at_ < text_.size() && text_[at_] == c;
  at_ += found ? 1 : 0;
  return found;
}

Cell CsvScanner::cell() {
  const std::size_t begin = at_;
  Cell result;
  if (take('"')) {
    quoted(result.text);
  } else {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    result.text = text_.substr(at_, end - at_);
    at_ = end;
  }
  result.location = {file_, begin, at_};
  return result;
}

void CsvScanner::quoted(std::string& out) {
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c != '"') {
      out += c;
    } else if (!take('"')) {
      return;
    } else {
      out += '"';
    }
  }
}

}  // namespace mansard::validate
