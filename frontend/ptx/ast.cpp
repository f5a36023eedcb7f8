#include "frontend/ptx/ast.hpp"

#include <algorithm>
#include <array>

namespace mansard::frontend::ptx {
namespace {

constexpr std::array<std::string_view, 12> kComponents = {"",   "x",  "y",  "z",  "w",  "b0",
                                                          "b1", "b2", "b3", "h0", "h1", ""};

}  // namespace

std::string_view name_of(Component component) {
  return kComponents[static_cast<std::size_t>(component)];
}

bool Form::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::uint64_t Variable::bytes() const {
  std::uint64_t total = std::uint64_t{bytes_of(type)} * width;
  for (const std::uint64_t dimension : dimensions) {
    total *= dimension;
  }
  return total;
}

std::uint32_t Variable::natural_alignment() const {
  return alignment != 0 ? alignment : std::max(1U, bytes_of(type) * width);
}

const Directive* Function::directive(std::string_view wanted) const {
  const auto found = std::find_if(directives.begin(), directives.end(),
                                  [&](const Directive& each) { return each.name == wanted; });
  return found == directives.end() ? nullptr : &*found;
}

const Function* Module::find_function(std::string_view name) const {
  const Function* declared = nullptr;
  for (const Function& function : functions) {
    if (function.name == name) {
      if (function.has_body) {
        return &function;
      }
      declared = &function;
    }
  }
  return declared;
}

std::vector<std::string_view> Module::entries() const {
  std::vector<std::string_view> names;
  for (const Function& function : functions) {
    if (function.is_entry && function.has_body) {
      names.push_back(function.name);
    }
  }
  return names;
}

std::string_view Module::file_name(std::uint32_t number) const {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const File& file) { return file.number == number; });
  return found == files.end() ? std::string_view() : found->name;
}

Location Module::location(Position begin, Position end) const {
  return {source, begin, end};
}

}  // namespace mansard::frontend::ptx
