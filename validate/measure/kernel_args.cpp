#include "validate/measure/kernel_args.hpp"

#include <charconv>
#include <cstring>
#include <optional>
#include <regex>

#include "validate/measure/options.hpp"

namespace mansard::measure {
namespace {

constexpr std::int64_t kUnboundBytes = std::int64_t{1} << 30;

std::int64_t bytes_of_type(std::string_view type) {
  int bits = 0;
  std::from_chars(type.data() + 1, type.data() + type.size(), bits);
  return bits / 8;
}

template <typename T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// "2.0f", "1e-3", "0x10", "-3" as the parameter's type.
std::vector<std::byte> parse_scalar(const KernelParam& param, const std::string& text) {
  char* end = nullptr;
  const bool floating = param.type.front() == 'f';
  const double value = floating ? std::strtod(text.c_str(), &end) : 0;
  const long long whole = floating ? 0 : std::strtoll(text.c_str(), &end, 0);
  const std::string_view rest = end;
  if (text.empty() || end == text.c_str() || !(rest.empty() || (floating && rest == "f"))) {
    throw UsageError("parameter " + param.name + " (." + param.type + ") cannot take '" + text +
                     "'");
  }
  if (floating && param.bytes == 4) {
    return bytes_of(static_cast<float>(value));
  }
  std::vector<std::byte> bytes = floating ? bytes_of(value) : bytes_of(whole);
  bytes.resize(static_cast<std::size_t>(param.bytes));
  return bytes;
}

KernelArgument parse_argument(const KernelParam& param, const std::string& text) {
  static const std::regex kBuffer(R"(([a-z]+[0-9]+)\[([0-9]+)\](?:%([0-9]+))?)");
  std::smatch match;
  if (!std::regex_match(text, match, kBuffer)) {
    return {param.name, false, "", 0, 0, parse_scalar(param, text)};
  }
  if (param.bytes != 8) {
    throw UsageError("parameter " + param.name + " (." + param.type + ") is no pointer for '" +
                     text + "'");
  }
  return {
      param.name, true, match[1], std::stoll(match[2]), match[3].matched ? std::stoll(match[3]) : 0,
      {}};
}

KernelArgument unbound(const KernelParam& param) {
  if (param.bytes == 8 && param.type != "f64") {
    return {param.name, true, "f32", kUnboundBytes / 4, 0, {}};
  }
  if (param.type.front() == 'f') {
    return {param.name, false, "", 0, 0, parse_scalar(param, "0.5")};
  }
  throw UsageError("parameter " + param.name + " (." + param.type + ") needs a value in --args");
}

std::optional<std::size_t> place_of(std::span<const KernelParam> params, const std::string& name,
                                    std::span<const std::string> names) {
  std::size_t position = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), position);
  if (error == std::errc() && end == name.data() + name.size() && position < params.size()) {
    return position;
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (params[i].name == name || (i < names.size() && names[i] == name)) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<KernelParam> entry_params(std::string_view ptx, std::string_view entry) {
  static const std::regex kEntry(R"(\.entry\s+([A-Za-z_$][\w$]*)\s*\(([^)]*)\))");
  static const std::regex kParam(R"(\.param\s+(?:\.align\s+\d+\s+)?\.([a-z]\d+)([^,]*))");
  static const std::regex kName(R"(([A-Za-z_$][\w$]*)(?:\[(\d+)\])?\s*$)");
  std::string known;
  const std::string text(ptx);
  for (std::sregex_iterator it(text.begin(), text.end(), kEntry), last; it != last; ++it) {
    known += (known.empty() ? "" : ", ") + (*it)[1].str();
    if ((*it)[1].str() != entry) {
      continue;
    }
    std::vector<KernelParam> params;
    const std::string list = (*it)[2];
    for (std::sregex_iterator p(list.begin(), list.end(), kParam); p != last; ++p) {
      std::smatch name;
      const std::string tail = (*p)[2];
      if (std::regex_search(tail, name, kName)) {
        const std::int64_t count = name[2].matched ? std::stoll(name[2]) : 1;
        params.push_back({name[1], (*p)[1], count * bytes_of_type((*p)[1].str())});
      }
    }
    return params;
  }
  throw UsageError("no entry '" + std::string(entry) + "', there are: " + known);
}

std::vector<KernelArgument> bind_arguments(std::span<const KernelParam> params,
                                           std::string_view args,
                                           std::span<const std::string> names) {
  const std::vector<std::string> given = split(args, ';');
  std::vector<std::optional<KernelArgument>> bound(params.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t equals = given[i].find('=');
    if (equals == std::string::npos) {
      throw UsageError("expected name=value, found '" + given[i] + "'");
    }
    std::optional<std::size_t> place = place_of(params, given[i].substr(0, equals), names);
    if (!place && given.size() == params.size()) {
      place = i;
    }
    if (!place) {
      throw UsageError("no parameter '" + given[i].substr(0, equals) +
                       "': name it as PTX does, by position, or give --params");
    }
    bound[*place] = parse_argument(params[*place], given[i].substr(equals + 1));
  }
  std::vector<KernelArgument> result;
  for (std::size_t i = 0; i < params.size(); ++i) {
    result.push_back(bound[i] ? *bound[i] : unbound(params[i]));
  }
  return result;
}

}  // namespace mansard::measure
