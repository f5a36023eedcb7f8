#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "support/document.hpp"
#include "traces/requests/formats.hpp"

namespace mansard::traces::requests {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr double kCharactersPerToken = 4;  ///< Of English under BPE vocabularies; assumed.

/// Values of a line's object, with errors that name the key.
class Object {
 public:
  static Result<Object> read(const Line& line) {
    auto source = std::make_shared<SourceFile>();
    source->name = line.file == nullptr ? "" : *line.file;
    source->text = std::string(line.text);
    source->first_line = line.number;
    auto node = parse_json(std::move(source));
    if (!node) {
      return failure(std::move(node.error()));
    }
    if (!node->is_mapping()) {
      return failure("request-row", "expected an object", node->location);
    }
    return Object(std::move(*node));
  }

  std::uint32_t tokens(std::string_view key) {
    const Node* value = require(key);
    const auto count =
        value == nullptr || !value->is_scalar() ? std::nullopt : parse_tokens(value->scalar);
    if (value != nullptr && !count) {
      wrong(*value, fmt::format("{}: expected a number of tokens", key));
    }
    return count.value_or(0);
  }

  std::int64_t time(std::string_view key, std::int64_t unit_ns) {
    const Node* value = require(key);
    const auto time =
        value == nullptr || !value->is_scalar() ? std::nullopt : parse_time(value->scalar, unit_ns);
    if (value != nullptr && !time) {
      wrong(*value, fmt::format("{}: expected a time", key));
    }
    return time.value_or(0);
  }

  const Node* find(std::string_view key) const { return node_.find(key); }

  void wrong(const Node& node, std::string message) {
    errors_.push_back(
        {.id = "request-row", .message = std::move(message), .location = node.location});
  }

  Result<Row> finish(Row row) {
    if (!errors_.empty()) {
      return failure(std::move(errors_));
    }
    return row;
  }

 private:
  explicit Object(Node node) : node_(std::move(node)) {}

  const Node* require(std::string_view key) {
    const Node* value = node_.find(key);
    if (value == nullptr) {
      wrong(node_, fmt::format("no key '{}'", key));
    }
    return value;
  }

  Node node_;
  Diagnostics errors_;
};

bool has_keys(std::string_view first, std::initializer_list<std::string_view> keys) {
  return first.starts_with('{') && std::ranges::all_of(keys, [&](std::string_view key) {
           return first.find(fmt::format("\"{}\"", key)) != std::string_view::npos;
         });
}

class Mooncake final : public RowParser {
 public:
  Result<Row> parse(const Line& line) override {
    auto object = Object::read(line);
    if (!object) {
      return failure(std::move(object.error()));
    }
    Row row;
    row.time_ns = object->time("timestamp", 1'000'000);
    row.request.input_tokens = object->tokens("input_length");
    row.request.output_tokens = object->tokens("output_length");
    if (const Node* ids = object->find("hash_ids"); ids != nullptr && ids->is_sequence()) {
      auto prompt = std::make_shared<ir::PromptBlocks>();
      for (const Node& id : ids->items) {
        const auto value = id.as_integer();
        if (!value) {
          object->wrong(id, "hash_ids: expected a whole number");
          break;
        }
        prompt->ids.push_back(static_cast<std::uint64_t>(*value));
      }
      row.request.prompt = std::move(prompt);
    }
    return object->finish(std::move(row));
  }
};

/// A time of arrival and two numbers of tokens: vLLM (seconds; its other times are of another
/// clock) and LLMServingSim (nanoseconds).
class Arrivals final : public RowParser {
 public:
  Arrivals(std::string_view time, std::int64_t unit_ns) : time_(time), unit_ns_(unit_ns) {}

  Result<Row> parse(const Line& line) override {
    auto object = Object::read(line);
    if (!object) {
      return failure(std::move(object.error()));
    }
    Row row;
    row.time_ns = object->time(time_, unit_ns_);
    row.request.input_tokens = object->tokens("input_toks");
    row.request.output_tokens = object->tokens("output_toks");
    return object->finish(std::move(row));
  }

 private:
  std::string_view time_;
  std::int64_t unit_ns_;
};

/// The first question and the first answer after it; ShareGPT has no times, so all come at once.
class ShareGpt final : public RowParser {
 public:
  Result<Row> parse(const Line& line) override {
    auto object = Object::read(line);
    if (!object) {
      return failure(std::move(object.error()));
    }
    Row row;
    const Node* turns = object->find("conversations");
    if (turns == nullptr || !turns->is_sequence() || turns->items.size() < 2) {
      return failure("request-row", "expected two turns of a conversation", line.whole());
    }
    std::size_t question = 0;
    while (question < turns->items.size() && !is_from(turns->items[question], "human")) {
      ++question;
    }
    if (question + 1 >= turns->items.size()) {
      return failure("request-row", "expected a question and an answer", line.whole());
    }
    row.request.input_tokens = tokens(turns->items[question]);
    row.request.output_tokens = tokens(turns->items[question + 1]);
    return row;
  }

 private:
  static bool is_from(const Node& turn, std::string_view who) {
    const Node* from = turn.find("from");
    return from != nullptr && (from->scalar == who || (who == "human" && from->scalar == "user"));
  }
  static std::uint32_t tokens(const Node& turn) {
    const Node* value = turn.find("value");
    const double bytes = value == nullptr ? 0 : static_cast<double>(value->scalar.size());
    return static_cast<std::uint32_t>(std::lround(bytes / kCharactersPerToken));
  }
};

}  // namespace

bool is_mooncake(std::string_view first) {
  return has_keys(first, {"timestamp", "input_length", "output_length"});
}
std::unique_ptr<RowParser> mooncake_parser(std::string_view /*first*/) {
  return std::make_unique<Mooncake>();
}
bool is_vllm(std::string_view first) {
  return has_keys(first, {"input_toks", "output_toks", "arrival_time"});
}
std::unique_ptr<RowParser> vllm_parser(std::string_view /*first*/) {
  return std::make_unique<Arrivals>("arrival_time", kNsPerSecond);
}
bool is_servingsim(std::string_view first) {
  return has_keys(first, {"input_toks", "output_toks", "arrival_time_ns"});
}
std::unique_ptr<RowParser> servingsim_parser(std::string_view /*first*/) {
  return std::make_unique<Arrivals>("arrival_time_ns", 1);
}
bool is_sharegpt(std::string_view first) {
  return first.starts_with('[') || has_keys(first, {"conversations"});
}
std::unique_ptr<RowParser> sharegpt_parser(std::string_view /*first*/) {
  return std::make_unique<ShareGpt>();
}

}  // namespace mansard::traces::requests
