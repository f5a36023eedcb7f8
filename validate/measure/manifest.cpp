#include "validate/measure/manifest.hpp"

#include <cctype>
#include <cstdio>
#include <ctime>
#include <fstream>

#include "validate/measure/row.hpp"

namespace mansard::measure {
namespace {

struct KnownDevice {
  std::string_view name;
  std::string_view id;
};

constexpr KnownDevice kKnownDevices[] = {
    {"NVIDIA H200", "h200-sxm"},
    {"NVIDIA H100 80GB HBM3", "h100-sxm"},
    {"NVIDIA H100 PCIe", "h100-pcie"},
    {"NVIDIA H20", "h20"},
    {"NVIDIA H800", "h800-sxm"},
    {"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
    {"NVIDIA A100-SXM4-40GB", "a100-sxm-40gb"},
    {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
    {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
    {"Tesla V100-SXM2-16GB", "v100-sxm2"},
    {"Tesla V100-SXM2-32GB", "v100-sxm2"},
    {"Tesla P100-PCIE-16GB", "p100-pcie"},
    {"Tesla T4", "t4"},
    {"NVIDIA L4", "l4"},
    {"NVIDIA L40S", "l40s"},
    {"NVIDIA GeForce RTX 4090", "rtx-4090"},
    {"NVIDIA B200", "b200-sxm"},
    {"NVIDIA GB200", "gb200"},
};

std::string escape(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

}  // namespace

Json& Json::add(std::string_view key, std::string_view text) {
  members_.push_back({std::string(key), escape(text), {}});
  return *this;
}

Json& Json::add(std::string_view key, double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", number);
  members_.push_back({std::string(key), text, {}});
  return *this;
}

Json& Json::add(std::string_view key, const Json& object) {
  members_.push_back({std::string(key), {}, {object}});
  return *this;
}

std::string Json::render() const {
  return render(0) + "\n";
}

std::string Json::render(int depth) const {
  const std::string indent(2 * static_cast<std::size_t>(depth), ' ');
  std::string result = "{";
  for (const Member& member : members_) {
    result += (result.size() == 1 ? "\n" : ",\n") + indent + "  " + escape(member.key) + ": ";
    result += member.object.empty() ? member.scalar : member.object.front().render(depth + 1);
  }
  return result + "\n" + indent + "}";
}

std::string machine_id(std::string_view device_name) {
  for (const KnownDevice& known : kKnownDevices) {
    if (known.name == device_name) {
      return std::string(known.id);
    }
  }
  std::string id;
  for (const char c : device_name) {
    const auto byte = static_cast<unsigned char>(c);
    id += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
  }
  return id;
}

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path part = path.string() + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    throw UsageError("cannot write '" + path.string() + "'");
  }
  std::filesystem::rename(part, path);
}

}  // namespace mansard::measure
