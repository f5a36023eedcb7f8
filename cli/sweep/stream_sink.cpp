#include "cli/sweep/stream_sink.hpp"

#include <fmt/format.h>

#include "cli/views/csv.hpp"
#include "cli/views/json.hpp"
#include "model/sweep/packing.hpp"
#include "model/sweep/sinks.hpp"

namespace mansard::cli {
namespace {

struct TextDigest : model::SweepSink::Digest {
  std::string text;
};

/// How the values of one point's axes and outputs begin, are joined and end.
class LineWriter {
 public:
  LineWriter(const model::SweepSpace& space, StreamSink::Form form,
             const std::vector<std::string>& outputs)
      : csv_(form == StreamSink::Form::kCsv) {
    for (const auto* groups : {&space.structural, &space.symbolic}) {
      for (const model::AxisGroup& group : *groups) {
        for (const model::Axis& axis : group) {
          add_key(axis.name);
          words_.push_back(!axis.words.empty());
        }
      }
    }
    for (const std::string& output : outputs) {
      add_key(output);
    }
  }

  void write(const std::vector<std::string>& texts, const model::SweepBlock& block, std::size_t at,
             std::string& out) const {
    std::size_t key = 0;
    for (; key < texts.size(); ++key) {
      out += keys_[key];
      out += words_[key] ? word(texts[key]) : texts[key];
    }
    for (const double* values : block.outputs) {
      out += keys_[key++];
      out += csv_number(values[at]);
    }
    out += csv_ ? "\n" : "}\n";
  }

 private:
  [[nodiscard]] std::string word(const std::string& text) const {
    return csv_ ? csv_field(text) : Json(text).dump();
  }

  void add_key(const std::string& name) {
    const bool first = keys_.empty();
    if (csv_) {
      keys_.emplace_back(first ? "" : ",");
    } else {
      keys_.push_back(fmt::format("{}{}:", first ? "{" : ",", Json(name).dump()));
    }
  }

  bool csv_;
  std::vector<std::string> keys_;
  std::vector<bool> words_;
};

}  // namespace

std::string StreamSink::heading(const model::SweepSpace& space) const {
  if (form_ != Form::kCsv) {
    return "";
  }
  std::vector<std::string> names = model::axis_names(space);
  names.insert(names.end(), outputs_.begin(), outputs_.end());
  return csv_record(names);
}

std::unique_ptr<model::SweepSink::Digest> StreamSink::digest(const model::SweepBlock& block) const {
  auto result = std::make_unique<TextDigest>();
  const LineWriter writer(*block.space, form_, outputs_);
  for (std::size_t at = 0; at < block.count; ++at) {
    if (block.kept == nullptr || block.kept[at] != 0) {
      writer.write(model::axis_texts(*block.space, block.variant->labels, block.first + at), block,
                   at, result->text);
    }
  }
  return result;
}

void StreamSink::take(Digest& digest) {
  write_(static_cast<TextDigest&>(digest).text);
}

void StreamSink::pack(const Digest& digest, model::Packer& packer) const {
  packer.put_text(static_cast<const TextDigest&>(digest).text);
}

std::unique_ptr<model::SweepSink::Digest> StreamSink::unpack(model::Unpacker& unpacker) const {
  auto result = std::make_unique<TextDigest>();
  result->text = unpacker.text();
  return result;
}

}  // namespace mansard::cli
