#include "frontend/ptx/check.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "frontend/ptx/check_operand.hpp"
#include "frontend/ptx/signature.hpp"
#include "frontend/ptx/targets.hpp"
#include "support/suggest.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

std::string text_of(Version version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

/// What is wrong with an instruction, and where.
struct Complaint {
  std::string id;
  std::string message;
  Position begin = 0;
  Position end = 0;
};

class Checker {
 public:
  Checker(Module& module, const ParseOptions& options, Report& report)
      : module_(module), options_(options), report_(report) {}

  void run() {
    for (const Function& function : module_.functions) {
      for (const Instruction& instruction : function.instructions) {
        if (report_.is_full()) {
          return;
        }
        check(function, instruction);
      }
    }
  }

 private:
  void check(const Function& function, const Instruction& instruction) {
    const Form& form = *instruction.form;
    if (!form.known) {
      return unknown(instruction);
    }
    const std::vector<Match>& candidates = candidates_of(form);
    if (candidates.empty()) {
      const Mismatch mismatch = explain_mismatch(form);
      const auto [begin, end] = place_of(instruction, mismatch.modifier);
      report_.error("ptx-modifier", mismatch.message, begin, end);
      return;
    }
    Complaint first;
    for (const Match& match : candidates) {
      Complaint complaint = complaint_of(function, instruction, match);
      if (complaint.message.empty()) {
        return;
      }
      if (first.message.empty() || first.id == "ptx-version" || first.id == "ptx-target") {
        first = std::move(complaint);
      }
    }
    report_.error(first.id, first.message, first.begin, first.end);
  }

  Complaint complaint_of(const Function& function, const Instruction& instruction,
                         const Match& match) const {
    const Signature& signature = *match.signature;
    if (module_.version < signature.since) {
      return {"ptx-version",
              fmt::format("'{}' in this form needs PTX {}, the file is {}", instruction.opcode(),
                          text_of(signature.since), text_of(module_.version)),
              instruction.position, instruction.end};
    }
    if (!signature.architectures.include(module_.target)) {
      return {"ptx-target",
              fmt::format("'{}' in this form needs {}, the file is for {}", instruction.opcode(),
                          describe(signature.architectures), printable(module_.target.name)),
              instruction.position, instruction.end};
    }
    for (const std::string_view modifier : instruction.form->modifiers) {
      const ModifierNeed* need = need_of(modifier);
      if (need != nullptr && module_.version < need->since) {
        return {"ptx-version",
                fmt::format("'.{}' needs PTX {}, the file is {}", modifier, text_of(need->since),
                            text_of(module_.version)),
                instruction.position, instruction.end};
      }
      if (need != nullptr && !need->architectures.include(module_.target)) {
        return {"ptx-target",
                fmt::format("'.{}' needs {}, the file is for {}", modifier,
                            describe(need->architectures), printable(module_.target.name)),
                instruction.position, instruction.end};
      }
    }
    if (std::string rule = broken_rule(module_, *instruction.form); !rule.empty()) {
      return {"ptx-modifier", std::move(rule), instruction.position, instruction.end};
    }
    OperandProblem problem = check_operands(module_, function, instruction, match);
    return {"ptx-operand", std::move(problem.message), problem.begin, problem.end};
  }

  static std::string describe(Architectures architectures) {
    std::string text = "sm_";
    for (const char c : architectures.text) {
      text += c == '|' ? std::string(" or sm_") : std::string(1, c);
    }
    return text;
  }

  const std::vector<Match>& candidates_of(const Form& form) {
    const auto found = candidates_.find(&form);
    if (found != candidates_.end()) {
      return found->second;
    }
    return candidates_.emplace(&form, matches(form)).first->second;
  }

  /// The n-th modifier in the text, or the whole opcode.
  std::pair<Position, Position> place_of(const Instruction& instruction, std::size_t n) const {
    if (n >= instruction.form->modifiers.size()) {
      return {instruction.position, instruction.end};
    }
    // Forms are shared by equal texts, so the distance within the form's own text holds here too.
    const char* opcode = instruction.form->opcode.data();
    const std::string_view modifier = instruction.form->modifiers[n];
    const auto distance = static_cast<Position>(modifier.data() - opcode);
    return {instruction.position + distance,
            instruction.position + distance + static_cast<Position>(modifier.size())};
  }

  void unknown(const Instruction& instruction) {
    const std::string name(instruction.opcode());
    const std::optional<std::string> meant = did_you_mean(name, opcodes());
    const bool is_newer = newest_version() < module_.version;
    const bool refuse =
        options_.unknown_opcodes == UnknownOpcodes::kRefuse ||
        (options_.unknown_opcodes == UnknownOpcodes::kKeepUnlessMisspelt && meant && !is_newer);
    const auto end = instruction.position + static_cast<Position>(name.size());
    const std::string hint = meant ? fmt::format("did you mean '{}'?", *meant) : std::string();
    const std::string message = fmt::format("unknown instruction '{}'", printable(name));
    if (refuse) {
      report_.error("ptx-opcode", message, instruction.position, end, hint);
    } else if (warned_.insert(instruction.opcode()).second) {
      report_.warning("ptx-opcode", message, instruction.position, end, "kept and counted");
    }
  }

  Module& module_;
  const ParseOptions& options_;
  Report& report_;
  std::unordered_map<const Form*, std::vector<Match>> candidates_;
  std::unordered_set<std::string_view> warned_;
};

}  // namespace

void check(Module& module, const ParseOptions& options, Report& report) {
  Checker(module, options, report).run();
}

}  // namespace mansard::frontend::ptx
