#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mansard::measure {

/// A JSON object written in the order in which its members were added.
class Json {
 public:
  Json& add(std::string_view key, std::string_view text);
  Json& add(std::string_view key, const char* text) { return add(key, std::string_view(text)); }
  Json& add(std::string_view key, double number);
  Json& add(std::string_view key, const Json& object);

  /// Two spaces a level, a line's end behind the last brace.
  [[nodiscard]] std::string render() const;

 private:
  [[nodiscard]] std::string render(int depth) const;

  struct Member {
    std::string key;
    /// A rendered scalar, or empty where `object` holds one member: an object.
    std::string scalar;
    std::vector<Json> object;
  };
  std::vector<Member> members_;
};

/// Machine id of a device by the name that its driver gives: "NVIDIA H200" is "h200-sxm"; a device
/// that is not known is its name in lower case with dashes.
[[nodiscard]] std::string machine_id(std::string_view device_name);

/// Now, as 2026-11-30T18:36:04Z.
[[nodiscard]] std::string utc_date();

/// Replaces a file at once, so that a reader never sees half of it. Throws UsageError.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace mansard::measure
