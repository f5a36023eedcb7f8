#include "traces/requests/requests.hpp"

#include <algorithm>
#include <fstream>
#include <queue>

#include <fmt/format.h>

#include "support/text.hpp"
#include "traces/requests/formats.hpp"
#include "traces/requests/lines.hpp"

namespace mansard::traces::requests {
namespace {

constexpr std::size_t kWindow = 65536;  ///< Rows within which arrivals are sorted.
constexpr std::size_t kMostProblems = 5;

struct Later {
  bool operator()(const Row& a, const Row& b) const {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.request.id > b.request.id;
  }
};

class Reader final : public RequestReader {
 public:
  Reader(std::string path, std::unique_ptr<LineSource> lines, const Format& format,
         std::string_view first)
      : path_(std::move(path)), lines_(std::move(lines)), parser_(format.parser(first)) {
    report_.format = std::string(format.name);
  }

  const ReadReport& report() const override { return report_; }

  std::optional<ir::Request> next() override {
    while (!ended_ && window_.size() < kWindow) {
      read_row();
    }
    if (window_.empty()) {
      return std::nullopt;
    }
    Row row = window_.top();
    window_.pop();
    return timed(std::move(row));
  }

 private:
  void read_row() {
    const auto text = lines_->next();
    if (!text) {
      ended_ = true;
      return;
    }
    const Line line{.text = *text, .number = lines_->number(), .file = &path_};
    if (text->find_first_not_of(" \t\r") == std::string_view::npos) {
      return;
    }
    ++report_.rows;
    auto row = parser_->parse(line);
    if (!row) {
      return note(std::move(row.error()));
    }
    row->request.id = report_.requests++;
    report_.failed += row->failed ? 1 : 0;
    report_.zero_input += row->request.input_tokens == 0 ? 1 : 0;
    report_.zero_output += row->request.output_tokens == 0 ? 1 : 0;
    report_.out_of_order += report_.requests > 1 && row->time_ns < read_ns_ ? 1 : 0;
    read_ns_ = row->time_ns;
    window_.push(std::move(*row));
  }

  void note(Diagnostics problems) {
    ++report_.unreadable;
    for (Diagnostic& problem : problems) {
      if (report_.problems.size() < kMostProblems) {
        problem.severity = Severity::kWarning;
        report_.problems.push_back(std::move(problem));
      }
    }
  }

  ir::Request timed(Row row) {
    if (!started_) {
      first_ns_ = given_ns_ = row.time_ns;
    } else if (row.time_ns < given_ns_) {
      ++report_.too_late;
      row.time_ns = given_ns_;
    } else {
      report_.equal_times += row.time_ns == given_ns_ ? 1 : 0;
      report_.greatest_gap = std::max(report_.greatest_gap, seconds(row.time_ns, given_ns_));
    }
    started_ = true;
    given_ns_ = row.time_ns;
    row.request.arrival = seconds(row.time_ns, first_ns_);
    return std::move(row.request);
  }

  static double seconds(std::int64_t later, std::int64_t earlier) {
    return static_cast<double>(static_cast<__int128>(later) - earlier) * 1e-9;
  }

  std::string path_;
  std::unique_ptr<LineSource> lines_;
  std::unique_ptr<RowParser> parser_;
  ReadReport report_;
  std::priority_queue<Row, std::vector<Row>, Later> window_;
  bool ended_ = false;
  bool started_ = false;
  std::int64_t read_ns_ = 0;   ///< Of the row read last,
  std::int64_t given_ns_ = 0;  ///< and given out last.
  std::int64_t first_ns_ = 0;
};

Diagnostic unknown_format(const std::string& path, std::string_view first) {
  std::string message = "no known format of request traces; known are ";
  for (const Format& format : all_formats()) {
    message += fmt::format("{}{} ({})", &format == &all_formats().front() ? "" : ", ", format.name,
                           format.looks_like);
  }
  const Line line{.text = first.substr(0, 200), .number = 1, .file = &path};
  return {.id = "request-format", .message = std::move(message), .location = line.whole()};
}

}  // namespace

const std::vector<Format>& all_formats() {
  static const std::vector<Format> formats{
#define FORMAT(name, looks_like, header, matches, parser) \
  Format{name, looks_like, header, matches, parser},
#include "traces/requests/formats.def"
#undef FORMAT
  };
  return formats;
}

std::vector<FormatInfo> formats() {
  std::vector<FormatInfo> result;
  for (const Format& format : all_formats()) {
    result.push_back({format.name, format.looks_like});
  }
  return result;
}

namespace {

Result<std::unique_ptr<RequestReader>> reader_of(const std::string& name,
                                                 std::unique_ptr<LineSource> lines) {
  const auto peeked = lines->peek();
  if (!peeked) {
    return failure("request-format", fmt::format("{} is empty", printable(name)));
  }
  const std::string first(*peeked);
  std::string_view start(first);
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r"), start.size()));
  for (const Format& format : all_formats()) {
    if (format.matches(start)) {
      if (format.has_header) {
        static_cast<void>(lines->next());
      } else if (start.starts_with('[')) {
        lines->as_list();
      }
      return std::make_unique<Reader>(name, std::move(lines), format, start);
    }
  }
  return failure({unknown_format(name, first)});
}

}  // namespace

Result<std::unique_ptr<RequestReader>> open_requests(const std::string& path) {
  return open_lines(path).and_then(
      [&](std::unique_ptr<LineSource> lines) { return reader_of(path, std::move(lines)); });
}

Result<std::unique_ptr<RequestReader>> read_requests(const std::string& name, std::string text) {
  return reader_of(name, lines_of(std::move(text)));
}

}  // namespace mansard::traces::requests
