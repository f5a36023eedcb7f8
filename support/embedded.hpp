#pragma once

#include <optional>
#include <span>
#include <string_view>

/// The machine, calibration and model files that the build puts into the binary.
///
///     for (const EmbeddedFile& file : embedded_files()) ...
///     find_embedded("hardware/machines/h200-sxm.yaml")
namespace mansard {

struct EmbeddedFile {
  std::string_view path;  ///< From the root of the source tree, with forward slashes.
  std::string_view text;
};

/// Every .yaml below hardware/ and frontend/, sorted by path.
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

/// The text of the embedded file at `path`, or nothing.
[[nodiscard]] std::optional<std::string_view> find_embedded(std::string_view path);

}  // namespace mansard
