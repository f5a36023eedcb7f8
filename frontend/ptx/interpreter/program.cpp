#include "frontend/ptx/interpreter/program.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mansard::frontend::ptx {
namespace {

struct NamedAction {
  std::string_view opcode;
  Action action;
};

constexpr std::array kActions = {
    NamedAction{"mov", Action::kMove},
    NamedAction{"setp", Action::kCompare},
    NamedAction{"cvta", Action::kConvertAddress},
    NamedAction{"isspacep", Action::kIsSpace},
    NamedAction{"ld", Action::kLoad},
    NamedAction{"ldu", Action::kLoad},
    NamedAction{"st", Action::kStore},
    NamedAction{"atom", Action::kAtomic},
    NamedAction{"red", Action::kAtomic},
    NamedAction{"ldmatrix", Action::kMatrixLoad},
    NamedAction{"stmatrix", Action::kMatrixStore},
    NamedAction{"mma", Action::kMatrixProduct},
    NamedAction{"wmma", Action::kTile},
    NamedAction{"shfl", Action::kShuffle},
    NamedAction{"vote", Action::kVote},
    NamedAction{"match", Action::kMatch},
    NamedAction{"redux", Action::kReduce},
    NamedAction{"activemask", Action::kActiveMask},
    NamedAction{"elect", Action::kElect},
    NamedAction{"bar", Action::kBarrier},
    NamedAction{"barrier", Action::kBarrier},
    NamedAction{"mbarrier", Action::kMemoryBarrier},
    NamedAction{"bra", Action::kBranch},
    NamedAction{"brx", Action::kIndexedBranch},
    NamedAction{"exit", Action::kExit},
    NamedAction{"ret", Action::kExit},
    NamedAction{"membar", Action::kNothing},
    NamedAction{"fence", Action::kNothing},
    NamedAction{"prefetch", Action::kNothing},
    NamedAction{"prefetchu", Action::kNothing},
    NamedAction{"applypriority", Action::kNothing},
    NamedAction{"discard", Action::kNothing},
    NamedAction{"createpolicy", Action::kNothing},
    NamedAction{"griddepcontrol", Action::kNothing},
    NamedAction{"setmaxnreg", Action::kNothing},
    NamedAction{"nanosleep", Action::kNothing},
    NamedAction{"pmevent", Action::kNothing},
};

/// Forms of the opcodes above that need more than their action does.
bool is_beyond(const Form& form) {
  const bool is_matrix = form.opcode == "ldmatrix" || form.opcode == "stmatrix";
  return (is_matrix && !form.has("b16")) ||
         (form.opcode == "mma" && form.modifiers.front() != "sync") ||
         (form.opcode == "barrier" && form.has("cluster")) || form.has("async") ||
         form.has("bulk") || form.type() == Type::kB128 ||
         (form.opcode == "atom" && form.vector_width > 1) ||
         (form.opcode == "red" && form.vector_width > 1);
}

Action action_of(const Form& form) {
  if (form.opcode == "cp") {
    const bool is_copy = form.has("ca") || form.has("cg");
    const bool is_wait = form.has("commit_group") || form.has("wait_group") || form.has("wait_all");
    return is_copy                        ? Action::kCopy
           : is_wait && !form.has("bulk") ? Action::kNothing
                                          : Action::kUnsupported;
  }
  const auto* found = std::find_if(kActions.begin(), kActions.end(), [&](const NamedAction& each) {
    return each.opcode == form.opcode;
  });
  if (found == kActions.end() || is_beyond(form)) {
    return Action::kUnsupported;
  }
  return found->action;
}

Step step_of(const Instruction& instruction) {
  Step step;
  step.instruction = &instruction;
  step.alu = alu_of(*instruction.form);
  step.evaluate = evaluator_of(*instruction.form);
  step.action = step.evaluate != nullptr ? Action::kCompute : action_of(*instruction.form);
  return step;
}

/// The control flow of a kernel, an instruction a node, and its immediate post-dominators
/// (Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm", on the reversed graph).
class PostDominators {
 public:
  explicit PostDominators(const Program& program) : program_(program) {
    const std::size_t nodes = program.steps.size() + 1;
    successors_.resize(nodes);
    predecessors_.resize(nodes);
    for (std::uint32_t at = 0; at + 1 < nodes; ++at) {
      connect(at);
    }
    number();
    solve();
  }

  /// One past the last instruction if only the exit is common, or nothing is.
  [[nodiscard]] std::uint32_t of(std::uint32_t at) const {
    return dominator_[at] == kUnknown ? exit() : dominator_[at];
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xffffffffU;

  [[nodiscard]] std::uint32_t exit() const {
    return static_cast<std::uint32_t>(program_.steps.size());
  }

  void link(std::uint32_t from, std::uint32_t to) {
    successors_[from].push_back(to);
    predecessors_[to].push_back(from);
  }

  void connect(std::uint32_t at) {
    const Step& step = program_.steps[at];
    const Instruction& instruction = *step.instruction;
    const bool is_guarded = static_cast<bool>(instruction.guard);
    const Function& function = *program_.function;
    if (step.action == Action::kBranch) {
      link(at, static_cast<std::uint32_t>(
                   function.label(function.operand(instruction, 0).as<LabelId>()).target));
    } else if (step.action == Action::kIndexedBranch) {
      const Operand& list = function.operand(instruction, 1);
      for (const Operand& target : function.targets[list.id].targets) {
        link(at, static_cast<std::uint32_t>(function.label(target.as<LabelId>()).target));
      }
    } else if (step.action == Action::kExit) {
      link(at, exit());
    } else {
      link(at, at + 1);
      return;
    }
    if (is_guarded) {
      link(at, at + 1);
    }
  }

  /// Numbers the nodes in the postorder of the reversed graph, without recursion.
  void number() {
    order_of_.assign(successors_.size(), kUnknown);
    struct Frame {
      std::uint32_t node;
      std::size_t next;
    };
    std::vector<bool> seen(successors_.size(), false);
    std::vector<Frame> stack = {{exit(), 0}};
    seen[exit()] = true;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next < predecessors_[frame.node].size()) {
        const std::uint32_t next = predecessors_[frame.node][frame.next++];
        if (!seen[next]) {
          seen[next] = true;
          stack.push_back({next, 0});
        }
      } else {
        order_of_[frame.node] = static_cast<std::uint32_t>(order_.size());
        order_.push_back(frame.node);
        stack.pop_back();
      }
    }
  }

  [[nodiscard]] std::uint32_t common(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (order_of_[a] < order_of_[b]) {
        a = dominator_[a];
      }
      while (order_of_[b] < order_of_[a]) {
        b = dominator_[b];
      }
    }
    return a;
  }

  void solve() {
    dominator_.assign(successors_.size(), kUnknown);
    dominator_[exit()] = exit();
    for (bool changed = true; changed;) {
      changed = false;
      for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
        if (*node != exit()) {
          changed = update(*node) || changed;
        }
      }
    }
  }

  bool update(std::uint32_t node) {
    std::uint32_t best = kUnknown;
    for (const std::uint32_t successor : successors_[node]) {
      if (dominator_[successor] != kUnknown) {
        best = best == kUnknown ? successor : common(best, successor);
      }
    }
    const bool changed = best != dominator_[node];
    dominator_[node] = best;
    return changed;
  }

  const Program& program_;
  std::vector<std::vector<std::uint32_t>> successors_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> order_of_;
  std::vector<std::uint32_t> dominator_;
};

}  // namespace

Program prepare(const Function& kernel) {
  Program program;
  program.function = &kernel;
  program.steps.reserve(kernel.instructions.size());
  for (const Instruction& instruction : kernel.instructions) {
    program.steps.push_back(step_of(instruction));
  }
  const PostDominators dominators(program);
  for (std::uint32_t at = 0; at < program.steps.size(); ++at) {
    program.steps[at].reconvergence = dominators.of(at);
  }
  return program;
}

}  // namespace mansard::frontend::ptx
