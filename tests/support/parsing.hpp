#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "support/document.hpp"

/// What tests of documents share.
namespace mansard {

inline std::shared_ptr<const SourceFile> source(std::string text, std::string name = "f") {
  return std::make_shared<const SourceFile>(SourceFile{std::move(name), std::move(text)});
}

/// The text that a place covers.
inline std::string_view covered(const Location& location) {
  return std::string_view(location.file->text)
      .substr(location.begin, location.end - location.begin);
}

inline Node yaml(std::string text) {
  Result<Node> document = parse_yaml(source(std::move(text)));
  INFO((document ? std::string() : render(document.error())));
  REQUIRE(document);
  return *std::move(document);
}

inline Node json(std::string text) {
  Result<Node> document = parse_json(source(std::move(text)));
  INFO((document ? std::string() : render(document.error())));
  REQUIRE(document);
  return *std::move(document);
}

/// The errors of a text, as a person sees them.
inline std::string yaml_errors(std::string text, const DocumentLimits& limits = {}) {
  const Result<Node> document = parse_yaml(source(std::move(text)), limits);
  return document ? "" : render(document.error());
}

inline std::string json_errors(std::string text, const DocumentLimits& limits = {}) {
  const Result<Node> document = parse_json(source(std::move(text)), limits);
  return document ? "" : render(document.error());
}

}  // namespace mansard
