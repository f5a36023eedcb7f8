#include "validate/measure/options.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>

namespace mansard::measure {
namespace {

constexpr std::string_view kUsage =
    R"(mansard-measure: times probes, a suite of ops, or a kernel of yours on the GPU at hand

  mansard-measure probes -o DIR [options]            what the machine can do: DIR/probes.csv
  mansard-measure suite  -o DIR [--ops FILE.csv|json] ops as libraries run them: DIR/suite.csv
  mansard-measure kernel FILE.ptx -o DIR --entry NAME --grid X,Y,Z --block X,Y,Z [--shared BYTES]
                  [--params a,b,...] [--args "n=1024;x=f32[1024];i=u32[64]%1024;s=2.0f"]: DIR/kernel.csv

  --budget TIME     stop beginning measurements after it (120s, 2min; default: none)
  --only NAME,...   only these probes, or these ops of the suite
  --list            name what would run, and stop
  --resume          keep the rows that DIR holds and measure only what is missing
  --profile         suite: run each op once, cold, between cudaProfilerStart and Stop, behind a kernel
                    mark_kernel whose grid is the number of the row in suite.csv; rows are flagged
  --machine NAME    machine id of the rows (default: from the device's name)
  --device N        CUDA device (default 0)

Times are microseconds of one call: the median, least and greatest of trials, each the replay of a CUDA graph of many
calls between two events. DIR/manifest.json says under what they were taken. A kernel's arguments are named by their PTX
parameter, their position, or --params; unnamed ones go in order. TYPE[COUNT] is a buffer of random data (f64 f32 f16
bf16 u64 u32 u16 u8 and signed), TYPE[COUNT]%N one of whole numbers below N; an unbound pointer gets a 1 GiB buffer.

exit codes: 0 ok, 1 some part failed, 2 usage
)";

std::int64_t parse_whole(std::string_view option, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw UsageError(std::string(option) + " needs a whole number, found '" + std::string(text) +
                     "'");
  }
  return value;
}

Verb parse_verb(std::string_view text) {
  static const std::map<std::string_view, Verb> kVerbs = {
      {"probes", Verb::kProbes}, {"suite", Verb::kSuite}, {"kernel", Verb::kKernel},
      {"help", Verb::kHelp},     {"--help", Verb::kHelp}, {"-h", Verb::kHelp}};
  const auto found = kVerbs.find(text);
  if (found == kVerbs.end()) {
    throw UsageError("expected probes, suite or kernel, found '" + std::string(text) + "'");
  }
  return found->second;
}

using Setter = std::function<void(Options&, std::string_view)>;

const std::map<std::string_view, Setter>& valued_options() {
  static const std::map<std::string_view, Setter> kSetters = {
      {"-o", [](Options& o, std::string_view v) { o.out = v; }},
      {"--budget", [](Options& o, std::string_view v) { o.budget = parse_duration(v); }},
      {"--only", [](Options& o, std::string_view v) { o.only = split(v, ','); }},
      {"--machine", [](Options& o, std::string_view v) { o.machine = v; }},
      {"--device",
       [](Options& o, std::string_view v) { o.device = int(parse_whole("--device", v)); }},
      {"--ops", [](Options& o, std::string_view v) { o.ops = v; }},
      {"--entry", [](Options& o, std::string_view v) { o.kernel.entry = v; }},
      {"--grid", [](Options& o, std::string_view v) { o.kernel.grid = parse_dim3(v); }},
      {"--block", [](Options& o, std::string_view v) { o.kernel.block = parse_dim3(v); }},
      {"--shared",
       [](Options& o, std::string_view v) { o.kernel.shared_bytes = parse_whole("--shared", v); }},
      {"--params", [](Options& o, std::string_view v) { o.kernel.params = split(v, ','); }},
      {"--args", [](Options& o, std::string_view v) { o.kernel.args = v; }}};
  return kSetters;
}

bool set_switch(Options& options, std::string_view name) {
  options.list |= name == "--list";
  options.resume |= name == "--resume";
  options.profile |= name == "--profile";
  if (name == "--help" || name == "-h") {
    options.verb = Verb::kHelp;
    return true;
  }
  return name == "--list" || name == "--resume" || name == "--profile";
}

void require_complete(const Options& options) {
  if (options.verb == Verb::kHelp || options.list) {
    return;
  }
  if (options.out.empty()) {
    throw UsageError("-o DIR is missing: where the results go");
  }
  if (options.verb == Verb::kKernel &&
      (options.kernel.file.empty() || options.kernel.entry.empty())) {
    throw UsageError("kernel needs FILE.ptx and --entry NAME");
  }
}

/// Takes one option (with its value) or the kernel's file from the front.
std::span<const char* const> take_option(Options& options, std::span<const char* const> rest) {
  const std::string_view name = rest.front();
  const auto setter = valued_options().find(name);
  if (setter != valued_options().end()) {
    if (rest.size() < 2) {
      throw UsageError(std::string(name) + " needs a value");
    }
    setter->second(options, rest[1]);
    return rest.subspan(2);
  }
  if (!set_switch(options, name)) {
    const bool is_file = options.verb == Verb::kKernel && options.kernel.file.empty();
    if (!is_file || name.starts_with('-')) {
      throw UsageError("unknown option '" + std::string(name) + "'");
    }
    options.kernel.file = name;
  }
  return rest.subspan(1);
}

}  // namespace

std::string_view usage() {
  return kUsage;
}

Options parse_options(std::span<const char* const> arguments) {
  Options options;
  if (arguments.empty()) {
    throw UsageError("expected probes, suite or kernel");
  }
  options.verb = parse_verb(arguments.front());
  for (std::span<const char* const> rest = arguments.subspan(1); !rest.empty();) {
    rest = take_option(options, rest);
  }
  require_complete(options);
  return options;
}

Seconds parse_duration(std::string_view text) {
  static const std::map<std::string_view, double> kUnits = {{"", 1},     {"s", 1},  {"ms", 1e-3},
                                                            {"min", 60}, {"m", 60}, {"h", 3600}};
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const auto unit = kUnits.find(std::string_view(end, last));
  if (error != std::errc() || unit == kUnits.end() || value <= 0) {
    throw UsageError("expected a time as 120s, 2min or 500ms, found '" + std::string(text) + "'");
  }
  return Seconds(value * unit->second);
}

Dim3 parse_dim3(std::string_view text) {
  const char separator = text.find('x') == std::string_view::npos ? ',' : 'x';
  const std::vector<std::string> parts = split(text, separator);
  std::int64_t values[3] = {1, 1, 1};
  if (parts.empty() || parts.size() > 3) {
    throw UsageError("expected one to three sizes as 4,2,1, found '" + std::string(text) + "'");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    values[i] = parse_whole("a grid or block", parts[i]);
  }
  return {values[0], values[1], values[2]};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace mansard::measure
