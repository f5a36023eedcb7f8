#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "support/document.hpp"
#include "support/text.hpp"

/// Laws that hold for every text, whatever is in it; a broken one ends the program, which a fuzzer
/// notices.
namespace mansard {

inline void demand(bool holds, const char* law) {
  if (!holds) {
    std::fputs(law, stderr);
    std::abort();
  }
}

/// What a person is shown is text in whole lines: no control bytes, no trailing white space, no
/// hundreds of columns.
inline void check_rendered(const Diagnostics& diagnostics) {
  demand(!diagnostics.empty(), "a failure has a diagnostic");
  const std::string shown = render(diagnostics);
  demand(shown.ends_with('\n'), "a rendering ends its line");
  demand(shown.find(" \n") == std::string::npos, "a rendering has no trailing white space");
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t length = utf8_length(shown, at);
    demand(length > 0, "a rendering is UTF-8");
    const auto byte = static_cast<unsigned char>(shown[at]);
    demand(byte >= 0x20 || byte == '\n' || byte == '\t', "a rendering has no control bytes");
    at += length;
  }
}

inline void check_location(const Location& location, const Location& within) {
  demand(location.file == within.file, "a node knows its file");
  demand(within.begin <= location.begin && location.end <= within.end,
         "a node lies within its parent");
  demand(location.begin <= location.end, "a node does not end before it begins");
}

/// Walks with a `Reader` that asks for every second key only.
inline void check_node(const Node& node, const Location& within) {
  check_location(node.location, within);
  Diagnostics diagnostics;
  Reader reader(node, diagnostics);
  bool asked = false;
  std::size_t unasked = 0;
  for (const Node::Entry& entry : node.entries) {
    check_location(entry.key_location, node.location);
    demand(entry.key_location.end <= entry.value.location.begin, "a value follows its key");
    demand(node.find(entry.key) == &entry.value, "a key is unique");
    asked = !asked;
    unasked += asked ? 0 : 1;
    if (asked) {
      demand(reader.require(entry.key) == &entry.value, "a key that is there is found");
      static_cast<void>(reader.integer(entry.key));
      static_cast<void>(reader.number(entry.key));
      static_cast<void>(reader.boolean(entry.key));
      static_cast<void>(reader.string(entry.key));
      static_cast<void>(reader.sequence(entry.key));
    }
    check_node(entry.value, node.location);
  }
  demand(reader.unread().size() == unasked, "what nobody asked for is unread");
  reader.finish();
  if (!diagnostics.empty()) {
    check_rendered(diagnostics);
  }
  for (const Node& item : node.items) {
    check_node(item, node.location);
  }
}

using Parse = Result<Node> (*)(std::shared_ptr<const SourceFile>, const DocumentLimits&);

/// Parses bytes as a fuzzer gives them and holds the outcome against the laws.
inline void check_parse(Parse parse, const std::uint8_t* data, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += static_cast<char>(data[i]);
  }
  const auto file = std::make_shared<const SourceFile>(SourceFile{"input", std::move(text)});
  const DocumentLimits limits{.bytes = std::size_t{1} << 16, .depth = 50, .nodes = 2000};
  const Result<Node> document = parse(file, limits);
  if (document) {
    check_node(*document, {file, 0, file->text.size()});
  } else {
    check_rendered(document.error());
  }
}

}  // namespace mansard
