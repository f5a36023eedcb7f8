#include "frontend/ptx/parser.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "frontend/ptx/check.hpp"
#include "frontend/ptx/check_module.hpp"
#include "frontend/ptx/parser_impl.hpp"
#include "support/document.hpp"

namespace mansard::frontend::ptx {
namespace {

constexpr DocumentLimits kLimits = {.bytes = std::size_t{256} << 20};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 && (c < '\t' || c > '\r');
}

/// The first byte that no text holds: the file is no PTX but a cubin or the like.
std::optional<Diagnostic> find_binary(const std::shared_ptr<const SourceFile>& source) {
  const std::string& text = source->text;
  const auto found = std::find_if(text.begin(), text.end(), is_control);
  if (found == text.end()) {
    return std::nullopt;
  }
  const auto at = static_cast<std::size_t>(found - text.begin());
  return Diagnostic{.id = "text-control",
                    .message = fmt::format("expected PTX, found the control byte 0x{:02x}",
                                           static_cast<unsigned>(*found)),
                    .location = {source, at, at + 1},
                    .label = "the file is not text"};
}

}  // namespace

Result<Parsed> parse(std::shared_ptr<const SourceFile> source, const ParseOptions& options) {
  if (source->text.size() > kLimits.bytes) {
    return failure("file-size", "PTX above 256 MiB", {source, 0, 0});
  }
  if (std::optional<Diagnostic> binary = find_binary(source)) {
    return failure({std::move(*binary)});
  }
  Report report(source);
  Module module = Parser(std::move(source), report).parse();
  check_declarations(module, report);
  check(module, options, report);
  if (report.has_errors()) {
    return failure(report.diagnostics());
  }
  return Parsed{std::move(module), report.diagnostics()};
}

Result<Parsed> parse_file(const std::string& path, const ParseOptions& options) {
  Result<std::shared_ptr<const SourceFile>> source = read_file(path, kLimits);
  if (!source) {
    return failure(source.error());
  }
  return parse(*std::move(source), options);
}

}  // namespace mansard::frontend::ptx
