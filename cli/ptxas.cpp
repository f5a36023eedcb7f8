#include "cli/ptxas.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "cli/process.hpp"

namespace mansard::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);
constexpr int kNotFound = 127;  // what a shell and a late exec say of a program that is not there

/// The number before `unit` in text behind `from`.
std::int64_t number_before(std::string_view text, std::string_view unit) {
  const std::size_t at = text.find(unit);
  if (at == std::string_view::npos) {
    return 0;
  }
  std::size_t begin = at;
  while (begin > 0 && (std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0)) {
    --begin;
  }
  return std::atoll(std::string(text.substr(begin, at - begin)).c_str());
}

}  // namespace

std::optional<model::kernel::Resources> assemble(const std::string& text, const std::string& entry,
                                                 const std::string& target, std::string& why) {
  const auto finished = run_program(
      {"ptxas", "-arch=" + target, "-v", "--entry", entry, "-o", "/dev/null", "/dev/stdin"}, text,
      kPatience);
  if (!finished || finished->code == kNotFound) {
    why = "ptxas is not installed";
    return std::nullopt;
  }
  const std::size_t used = finished->text.find("Used ");
  if (finished->code != 0 || used == std::string::npos) {
    why = "ptxas did not assemble it for " + target;
    return std::nullopt;
  }
  const std::string_view line = std::string_view(finished->text).substr(used);
  constexpr std::int64_t kFewest = 16;  // what the driver allocates at least
  return model::kernel::Resources{.registers = std::max(kFewest, number_before(line, " registers")),
                                  .static_shared = number_before(line, " bytes smem"),
                                  .assembled = true};
}

}  // namespace mansard::cli
