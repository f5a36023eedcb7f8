#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "traces/requests/formats.hpp"

namespace mansard::traces::requests {
namespace {

/// A field of a line and where it stands.
struct Field {
  std::string_view text;
  std::size_t begin = 0;
};

std::string_view trimmed(std::string_view text, std::size_t& begin) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '"')) {
    text.remove_prefix(1);
    ++begin;
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '"' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

/// The fields of a line; a comma within quotes separates nothing.
void split(std::string_view line, std::vector<Field>& fields) {
  fields.clear();
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') {
      quoted = !quoted;
    }
    if (i == line.size() || (line[i] == ',' && !quoted)) {
      std::size_t at = begin;
      const std::string_view text = trimmed(line.substr(begin, i - begin), at);
      fields.push_back({text, at});
      begin = i + 1;
    }
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return result;
}

/// Names under which the columns are known, lower case.
enum Column : std::uint8_t { kTime, kInput, kOutput, kUser, kPriority, kColumns };
constexpr std::array<std::array<std::string_view, 6>, kColumns> kNames{{
    {"timestamp", "arrival_s", "arrival_time", "arrived_at", "time", "arrival"},
    {"contexttokens", "request tokens", "input_tokens", "num_prefill_tokens", "prompt_tokens",
     "input_length"},
    {"generatedtokens", "response tokens", "output_tokens", "num_decode_tokens",
     "completion_tokens", "output_length"},
    {"session id", "user", "session_id", "user_id", "", ""},
    {"priority", "", "", "", "", ""},
}};

class CsvParser final : public RowParser {
 public:
  explicit CsvParser(std::string_view header) {
    std::vector<Field> fields;
    split(header, fields);
    columns_.fill(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string name = lower(fields[i].text);
      for (std::size_t column = 0; column < kColumns; ++column) {
        const auto& names = kNames[column];
        if (!name.empty() && std::ranges::find(names, name) != names.end() &&
            columns_[column] == fields.size()) {
          columns_[column] = i;
        }
      }
    }
    count_ = fields.size();
    zero_is_failure_ = lower(header).find("response tokens") != std::string::npos;
  }

  [[nodiscard]] bool complete() const {
    return columns_[kTime] < count_ && columns_[kInput] < count_ && columns_[kOutput] < count_;
  }

  Result<Row> parse(const Line& line) override {
    split(line.text, fields_);
    if (fields_.size() != count_) {
      return failure("request-row",
                     fmt::format("expected {} columns, found {}", count_, fields_.size()),
                     line.whole());
    }
    Row row;
    const Field& time = fields_[columns_[kTime]];
    auto ns = parse_date_time(time.text);
    if (!ns) {
      ns = parse_time(time.text, 1'000'000'000);
    }
    if (!ns) {
      return wrong(line, time, "a time: seconds, or a date and time");
    }
    row.time_ns = *ns;
    const Field& input = fields_[columns_[kInput]];
    const Field& output = fields_[columns_[kOutput]];
    const auto in = parse_tokens(input.text);
    const auto out = parse_tokens(output.text);
    if (!in || !out) {
      return wrong(line, in ? output : input, "a number of tokens");
    }
    row.request.input_tokens = *in;
    row.request.output_tokens = *out;
    row.failed = zero_is_failure_ && *out == 0;
    if (columns_[kUser] < count_) {
      row.request.user = user(fields_[columns_[kUser]].text);
    }
    if (columns_[kPriority] < count_) {
      const auto priority = parse_time(fields_[columns_[kPriority]].text, 1);
      row.request.priority = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(priority.value_or(0), -1'000'000, 1'000'000));
    }
    return row;
  }

 private:
  static tl::unexpected<Diagnostics> wrong(const Line& line, const Field& field,
                                           std::string_view expected) {
    return failure("request-row", fmt::format("expected {}", expected),
                   line.at(field.begin, field.begin + field.text.size()));
  }

  /// A number for a name: FNV-1a, folded.
  static std::uint32_t user(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : name) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
  }

  std::array<std::size_t, kColumns> columns_{};
  std::size_t count_ = 0;
  bool zero_is_failure_ = false;  ///< BurstGPT: "Response tokens 0" is a failure.
  std::vector<Field> fields_;
};

/// A header that begins so and names all columns that are needed.
bool begins(std::string_view header, std::string_view with) {
  return lower(header).starts_with(with) && CsvParser(header).complete();
}

}  // namespace

bool is_azure(std::string_view first) {
  return begins(first, "timestamp,contexttokens,generatedtokens");
}
bool is_burstgpt(std::string_view first) {
  return begins(first, "timestamp,") && lower(first).find("request tokens") != std::string::npos;
}
bool is_csv(std::string_view first) {
  return first.find(',') != std::string_view::npos && !first.starts_with('{') &&
         !first.starts_with('[') && CsvParser(first).complete();
}

std::unique_ptr<RowParser> csv_parser(std::string_view first) {
  return std::make_unique<CsvParser>(first);
}

}  // namespace mansard::traces::requests
