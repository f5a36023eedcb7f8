#include "frontend/ptx/signature.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <unordered_map>

#include <fmt/format.h>

#include "support/suggest.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

struct Line {
  std::string_view opcode;
  std::string_view modifiers;
  std::string_view operands;
  int version;
  std::string_view architectures;
};

constexpr auto kLines = std::to_array<Line>({
#define PTX_OP(opcode, modifiers, operands, version, architectures) \
  Line{opcode, modifiers, operands, version, architectures},
#include "frontend/ptx/opcodes.def"
#undef PTX_OP
});

struct Set {
  std::string_view name;
  std::string_view words;
};

constexpr std::array kSets = {
#define PTX_SET(name, words) Set{name, words},
#include "frontend/ptx/modifier_sets.def"
#undef PTX_SET
};

constexpr Version version_of(int number) {
  return {number / 10, number % 10};
}

constexpr std::array kNeeds = {
#define PTX_NEEDS(modifier, version, architectures) \
  ModifierNeed{modifier, version_of(version), {architectures}},
#include "frontend/ptx/modifier_needs.def"
#undef PTX_NEEDS
};

/// The part of `text` before `separator`, which it loses together with the separator.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return head;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    parts.push_back(cut(text, separator));
  }
  return parts;
}

bool strip_back(std::string_view& text, char last) {
  if (text.empty() || text.back() != last) {
    return false;
  }
  text.remove_suffix(1);
  return true;
}

bool strip_front(std::string_view& text, char first) {
  if (text.empty() || text.front() != first) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

void append_words(std::string_view text, std::vector<std::string_view>& words) {
  for (std::string_view word : split(text, '|')) {
    if (!strip_front(word, '$')) {
      words.push_back(word);
      continue;
    }
    for (const Set& set : kSets) {
      if (set.name == word) {
        append_words(set.words, words);
      }
    }
  }
}

ModifierGroup group_of(std::string_view text) {
  ModifierGroup group;
  group.is_optional = strip_back(text, '?');
  group.is_type = strip_front(text, '%');
  group.is_wgmma = text == "@wgmma";
  append_words(text, group.words);
  return group;
}

/// Reads "x4", "x*", "v" behind a role.
void read_count(std::string_view& text, OperandSpec& spec) {
  if (spec.role != Role::kVideo && strip_front(text, 'v')) {
    spec.by_width = true;
  } else if (spec.role != Role::kAny && strip_front(text, 'x')) {
    if (strip_front(text, '*')) {
      spec.any_count = true;
      return;
    }
    if (strip_front(text, 't') || strip_front(text, 'g')) {
      spec.by_shape = true;
      return;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), spec.count);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

void read_type(std::string_view text, OperandSpec& spec) {
  if (strip_front(text, ':')) {
    spec.any_type = text == "*";
    spec.type = type_named(text).value_or(Type::kNone);
  } else if (text == "W") {
    spec.is_wide = true;
  } else if (!text.empty()) {
    spec.type_number = static_cast<std::uint8_t>(text.front() - '0');
  }
}

OperandSpec operand_of(std::string_view text) {
  OperandSpec spec;
  const std::string_view condition = text.substr(std::min(text.find('@'), text.size()));
  text.remove_suffix(condition.size());
  spec.only_with = condition.substr(std::min<std::size_t>(1, condition.size()));
  spec.is_optional = strip_back(text, '?');
  if (text.size() > 2 && text.back() == 'q' && text[text.size() - 2] == '|') {
    spec.may_pair = true;
    text.remove_suffix(2);
  } else if (text.size() > 2 && text.back() == 'q' && text[text.size() - 2] == '&') {
    spec.may_pair = true;
    spec.must_pair = true;
    text.remove_suffix(2);
  }
  spec.role = static_cast<Role>(text.front());
  text.remove_prefix(1);
  read_count(text, spec);
  spec.may_sink = strip_front(text, '_');
  read_type(text, spec);
  return spec;
}

Signature signature_of(const Line& line) {
  Signature signature;
  std::string_view name = line.opcode;
  signature.opcode = cut(name, '.');
  signature.leading = split(name, '.');
  for (const std::string_view group : split(line.modifiers, ' ')) {
    signature.groups.push_back(group_of(group));
  }
  for (const std::string_view operand : split(line.operands, ' ')) {
    signature.operands.push_back(operand_of(operand));
  }
  signature.since = version_of(line.version);
  signature.architectures.text = line.architectures;
  return signature;
}

/// Every form of every instruction, by opcode.
struct Table {
  std::unordered_map<std::string_view, std::vector<Signature>> by_opcode;
  std::vector<std::string> names;

  Table() {
    for (const Line& line : kLines) {
      Signature signature = signature_of(line);
      by_opcode[signature.opcode].push_back(std::move(signature));
    }
    for (const auto& [name, signatures] : by_opcode) {
      names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
  }
};

const Table& table() {
  static const Table kTable;
  return kTable;
}

/// What trying one signature came to.
struct Trial {
  bool fits = false;
  std::size_t consumed = 0;  ///< Modifiers before the one that no group takes.
  const ModifierGroup* missing = nullptr;
  std::vector<Type> types;
};

const std::vector<Signature>* signatures_of(std::string_view opcode) {
  const auto found = table().by_opcode.find(opcode);
  return found == table().by_opcode.end() ? nullptr : &found->second;
}

/// Gives each modifier to the first group that takes it; types go to the groups of types in order.
class Assignment {
 public:
  explicit Assignment(const Signature& signature)
      : signature_(signature), taken_(signature.groups.size(), false) {}

  bool give(std::string_view word, std::vector<Type>& types) {
    if (repeats_flag(word)) {
      return true;
    }
    bool type_is_next = true;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      const ModifierGroup& group = signature_.groups[i];
      if (taken_[i] || (group.is_type && !type_is_next)) {
        continue;
      }
      if (group.accepts(word)) {
        taken_[i] = true;
        if (group.is_type) {
          types.push_back(type_named(word).value_or(Type::kNone));
        }
        return true;
      }
      type_is_next = type_is_next && !group.is_type;
    }
    return false;
  }

  /// ptxas takes `.sat.sat` for `.sat`.
  [[nodiscard]] bool repeats_flag(std::string_view word) const {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      const ModifierGroup& group = signature_.groups[i];
      const bool is_flag = group.is_optional && !group.is_type && group.words.size() == 1;
      if (taken_[i] && is_flag && group.words.front() == word) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] const ModifierGroup* missing() const {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i] && !signature_.groups[i].is_optional) {
        return &signature_.groups[i];
      }
    }
    return nullptr;
  }

 private:
  const Signature& signature_;
  std::vector<bool> taken_;
};

Trial try_signature(const Signature& signature, const Form& form) {
  Trial trial;
  const std::size_t leading = signature.leading.size();
  if (form.modifiers.size() < leading ||
      !std::equal(signature.leading.begin(), signature.leading.end(), form.modifiers.begin())) {
    return trial;
  }
  Assignment assignment(signature);
  for (trial.consumed = leading; trial.consumed < form.modifiers.size(); ++trial.consumed) {
    if (!assignment.give(form.modifiers[trial.consumed], trial.types)) {
      return trial;
    }
  }
  trial.missing = assignment.missing();
  trial.fits = trial.missing == nullptr;
  return trial;
}

std::string join(const ModifierGroup& group) {
  if (group.is_wgmma) {
    return "a shape such as .m64n128k16";
  }
  std::string text;
  for (const std::string_view word : group.words) {
    text += fmt::format("{}.{}", text.empty() ? "" : " ", word);
  }
  return text;
}

bool includes(std::string_view alternative, const Target& target) {
  int sm = 0;
  const char* end = alternative.data() + alternative.size();
  const auto read = std::from_chars(alternative.data(), end, sm);
  if (read.ptr == end) {
    return target.sm >= sm;
  }
  if (*read.ptr == 'a') {
    return target.sm == sm && target.suffix == 'a';
  }
  constexpr int kFamily = 10;
  return target.suffix != '\0' && target.sm >= sm && target.sm / kFamily == sm / kFamily;
}

}  // namespace

bool ModifierGroup::accepts(std::string_view word) const {
  if (is_wgmma) {
    return word.size() > 4 && word.substr(0, 4) == "m64n";
  }
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool Architectures::include(const Target& target) const {
  const std::vector<std::string_view> alternatives = split(text, '|');
  return std::any_of(alternatives.begin(), alternatives.end(),
                     [&](std::string_view each) { return includes(each, target); });
}

bool is_opcode(std::string_view opcode) {
  return signatures_of(opcode) != nullptr;
}

std::span<const std::string> opcodes() {
  return table().names;
}

std::vector<Match> matches(const Form& form) {
  std::vector<Match> found;
  const std::vector<Signature>* signatures = signatures_of(form.opcode);
  if (signatures == nullptr) {
    return found;
  }
  for (const Signature& signature : *signatures) {
    Trial trial = try_signature(signature, form);
    if (trial.fits) {
      found.push_back({&signature, std::move(trial.types)});
    }
  }
  return found;
}

Mismatch explain_mismatch(const Form& form) {
  const std::vector<Signature>* signatures = signatures_of(form.opcode);
  Trial best;
  for (const Signature& signature : *signatures) {
    const Trial trial = try_signature(signature, form);
    if (trial.consumed > best.consumed ||
        (trial.consumed == best.consumed && best.missing == nullptr)) {
      best = trial;
    }
  }
  if (best.missing != nullptr) {
    return {fmt::format("'{}' lacks a modifier: expected {}", form.opcode, join(*best.missing)),
            form.modifiers.size()};
  }
  if (best.consumed < form.modifiers.size()) {
    return {fmt::format("modifier '.{}' does not fit '{}'",
                        printable(form.modifiers[best.consumed]), form.opcode),
            best.consumed};
  }
  return {fmt::format("'{}' lacks a modifier", form.opcode), form.modifiers.size()};
}

const ModifierNeed* need_of(std::string_view modifier) {
  const auto* found = std::find_if(kNeeds.begin(), kNeeds.end(), [&](const ModifierNeed& need) {
    return need.modifier == modifier;
  });
  return found == kNeeds.end() ? nullptr : found;
}

}  // namespace mansard::frontend::ptx
