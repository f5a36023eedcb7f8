#include <array>

#include "cli/completion/completion.hpp"
#include "frontend/frontend.hpp"
#include "hardware/catalog.hpp"
#include "ir/dtype.hpp"
#include "ir/op_def.hpp"

namespace mansard::cli {
namespace {

/// What the word that stands for a value means.
struct Meaning {
  std::string_view value;
  std::string_view list;
  bool files_too = false;
};
constexpr std::array<Meaning, 4> kMeanings{{
    {"MACHINE", "machines", true},
    {"MODEL", "models", true},
    {"DTYPE", "dtypes"},
    {"KIND", "ops"},
}};

}  // namespace

Candidates candidates(const Argument& argument) {
  if (!argument.choices.empty()) {
    return {.kind = Candidates::Kind::kWords, .words = argument.choices};
  }
  if (argument.value == "FILE") {
    return {.kind = Candidates::Kind::kFiles};
  }
  for (const Meaning& meaning : kMeanings) {
    if (argument.value == meaning.value) {
      return {.kind = Candidates::Kind::kNames,
              .list = meaning.list,
              .files_too = meaning.files_too,
              .commas = argument.commas};
    }
  }
  const bool positional = argument.names.empty();
  return {.kind = positional ? Candidates::Kind::kFiles : Candidates::Kind::kAnything};
}

std::vector<std::string> name_lists() {
  std::vector<std::string> lists;
  lists.reserve(std::size(kMeanings));
  for (const Meaning& meaning : kMeanings) {
    lists.emplace_back(meaning.list);
  }
  return lists;
}

std::vector<std::string> names_in(std::string_view list) {
  if (list == "machines") {
    return hardware::machine_names();
  }
  if (list == "models") {
    return frontend::builtin_models();
  }
  std::vector<std::string> names;
  if (list == "dtypes") {
    for (const ir::Dtype& dtype : ir::dtypes()) {
      names.emplace_back(dtype.name);
    }
  } else if (list == "ops") {
    for (const ir::OpDef& kind : ir::op_registry()) {
      names.emplace_back(kind.name);
    }
  }
  return names;
}

}  // namespace mansard::cli
