#include "ir/expr_tape.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "ir/expr_walk.hpp"

namespace mansard::ir {

namespace {

TapeOp op_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
      return TapeOp::kAdd;
    case ExprKind::kSub:
      return TapeOp::kSub;
    case ExprKind::kMul:
      return TapeOp::kMul;
    case ExprKind::kDiv:
      return TapeOp::kDiv;
    case ExprKind::kFloorDiv:
      return TapeOp::kFloorDiv;
    case ExprKind::kCeilDiv:
      return TapeOp::kCeilDiv;
    case ExprKind::kMod:
      return TapeOp::kMod;
    case ExprKind::kMin:
      return TapeOp::kMin;
    case ExprKind::kMax:
      return TapeOp::kMax;
    case ExprKind::kFloor:
      return TapeOp::kFloor;
    case ExprKind::kLess:
      return TapeOp::kLess;
    case ExprKind::kSelect:
      return TapeOp::kSelect;
    case ExprKind::kScale2:
      return TapeOp::kScale2;
    case ExprKind::kExponent2:
      return TapeOp::kExponent2;
    default:
      return TapeOp::kEnter;
  }
}

/// Whether `e` only gives its second operand a unit: the slot of that operand serves.
bool is_alias(Expr e) {
  return e->kind == ExprKind::kMul && e->operands[0].is_constant() &&
         e->operands[0].constant() == 1;
}

/// Compiles the bodies of all functions and then the roots onto one tape.
class Compiler {
 public:
  explicit Compiler(Tape& tape) : tape_(tape) {}

  void compile(std::span<const Expr> roots);

 private:
  /// Where a function's block is and which slots it uses.
  struct Block {
    std::uint32_t index = 0;
    Slot parameters = 0;
    Slot result = 0;
  };
  /// A node and when it can be computed: after all of smaller level.
  struct Scheduled {
    bool varies = false;
    std::uint32_t level = 0;
    TapeOp op = TapeOp::kCopy;
    std::uint32_t place = 0;
  };
  /// The nodes of a body and their slots, by place.
  struct Body {
    explicit Body(std::span<const Expr> roots) : dag(roots), slots(dag.nodes().size(), kNoSlot) {}
    Dag dag;
    std::vector<Slot> slots;
  };
  static constexpr Slot kNoSlot = ~Slot{0};
  using Leaves = std::unordered_map<const ExprNode*, Slot>;

  void place_constants(std::span<const Expr> roots, std::span<const Function* const> functions);
  void compile_function(const Function& function);
  void compile_body(Body& body, bool is_main);
  static void place_leaves(Body& body, const Leaves& leaves);
  static std::vector<Scheduled> schedule(const Body& body);
  void emit(const Scheduled& scheduled, Body& body);
  void emit_operation(const Scheduled& scheduled, Body& body);
  void emit_call(std::uint32_t place, Body& body);
  void emit_reduction(std::uint32_t place, Body& body);
  void copy_arguments(std::uint32_t place, Slot to, const Body& body);
  void copy(Slot from, Slot to);
  void control(TapeOp op, std::uint32_t target) { tape_.runs.push_back({op, 0, target, 0}); }
  void end_block() { control(TapeOp::kReturn, 0); }
  Slot new_slot(Expr origin);
  Slot give_slot(std::uint32_t place, Body& body);

  Tape& tape_;
  Leaves globals_;  // Constants and symbols.
  std::unordered_map<const Function*, Block> blocks_;
};

void Compiler::compile(std::span<const Expr> roots) {
  const auto functions = functions_of(roots);
  place_constants(roots, functions);
  tape_.symbols = symbols_of(roots);
  for (const Expr symbol : tape_.symbols) {
    globals_[&symbol.node()] = new_slot(symbol);
  }
  for (const Function* function : functions) {
    compile_function(*function);
  }
  Body body(roots);
  place_leaves(body, globals_);
  tape_.once = static_cast<std::uint32_t>(tape_.runs.size());
  compile_body(body, true);
  for (const std::uint32_t root : body.dag.roots()) {
    tape_.roots.push_back(body.slots[root]);
  }
}

void Compiler::place_constants(std::span<const Expr> roots,
                               std::span<const Function* const> functions) {
  std::vector<Expr> all(roots.begin(), roots.end());
  for (const Function* function : functions) {
    all.push_back(function->body());
  }
  for (const Expr e : breadth_first(all)) {
    if (e.is_constant()) {
      tape_.constants.push_back(e);
      globals_[&e.node()] = new_slot(e);
    }
  }
}

void Compiler::compile_function(const Function& function) {
  Block block;
  block.index = static_cast<std::uint32_t>(tape_.blocks.size());
  block.parameters = static_cast<Slot>(tape_.slots());
  Leaves parameters;
  for (const Expr parameter : function.parameters()) {
    parameters[&parameter.node()] = new_slot(parameter);
  }
  tape_.blocks.push_back(static_cast<std::uint32_t>(tape_.runs.size()));
  const Expr root = function.body();
  Body body({&root, 1});
  place_leaves(body, globals_);
  place_leaves(body, parameters);  // These hide symbols of their names.
  compile_body(body, false);
  block.result = body.slots[body.dag.roots()[0]];
  blocks_.emplace(&function, block);
}

void Compiler::place_leaves(Body& body, const Leaves& leaves) {
  for (std::size_t i = 0; i < body.slots.size(); ++i) {
    const ExprNode& node = body.dag.nodes()[i].node();
    if (node.kind == ExprKind::kConstant || node.kind == ExprKind::kSymbol) {
      const auto found = leaves.find(&node);
      body.slots[i] = found == leaves.end() ? body.slots[i] : found->second;
    }
  }
}

void Compiler::compile_body(Body& body, bool is_main) {
  const auto scheduled = schedule(body);
  const auto varying = std::ranges::find(scheduled, true, &Scheduled::varies);
  for (auto next = scheduled.begin(); next != varying; ++next) {
    emit(*next, body);
  }
  if (is_main) {
    end_block();
    tape_.main = static_cast<std::uint32_t>(tape_.runs.size());
  }
  for (auto next = varying; next != scheduled.end(); ++next) {
    emit(*next, body);
  }
  end_block();
}

std::vector<Compiler::Scheduled> Compiler::schedule(const Body& body) {
  const auto nodes = body.dag.nodes();
  std::vector<Scheduled> all;
  all.reserve(nodes.size());
  for (std::uint32_t place = 0; place < nodes.size(); ++place) {
    const ExprKind kind = nodes[place]->kind;
    const bool varies =
        kind == ExprKind::kSymbol || kind == ExprKind::kCall || kind == ExprKind::kReduce;
    Scheduled scheduled{varies, 0, op_of(kind), place};
    for (const std::uint32_t operand : body.dag.operands(place)) {
      scheduled.varies |= all[operand].varies;
      scheduled.level = std::max(scheduled.level, all[operand].level + 1);
    }
    all.push_back(scheduled);
  }
  std::erase_if(all, [&](const Scheduled& s) { return body.slots[s.place] != kNoSlot; });
  std::ranges::sort(
      all, {}, [](const Scheduled& s) { return std::tuple(s.varies, s.level, s.op, s.place); });
  return all;
}

void Compiler::emit(const Scheduled& scheduled, Body& body) {
  const Expr node = body.dag.nodes()[scheduled.place];
  if (is_alias(node)) {
    body.slots[scheduled.place] = body.slots[body.dag.operands(scheduled.place)[1]];
  } else if (node->kind == ExprKind::kCall) {
    emit_call(scheduled.place, body);
  } else if (node->kind == ExprKind::kReduce) {
    emit_reduction(scheduled.place, body);
  } else {
    emit_operation(scheduled, body);
  }
}

void Compiler::emit_operation(const Scheduled& scheduled, Body& body) {
  const auto operands = body.dag.operands(scheduled.place);
  const auto slot_of = [&](std::size_t i) {
    return i < operands.size() ? body.slots[operands[i]] : Slot{0};
  };
  const auto at = static_cast<std::uint32_t>(tape_.instructions.size());
  tape_.instructions.push_back({slot_of(0), slot_of(1), slot_of(2)});
  const Slot result = give_slot(scheduled.place, body);
  // A run is done in order, so it may go on as long as its operation and its slots do.
  TapeRun* last = tape_.runs.empty() ? nullptr : &tape_.runs.back();
  if (last != nullptr && last->op == scheduled.op && last->begin + last->count == at &&
      last->result + last->count == result) {
    ++last->count;
  } else {
    tape_.runs.push_back({scheduled.op, at, 1, result});
  }
}

void Compiler::emit_call(std::uint32_t place, Body& body) {
  const Block& block = blocks_.at(body.dag.nodes()[place]->function);
  copy_arguments(place, block.parameters, body);
  control(TapeOp::kEnter, block.index);
  copy(block.result, give_slot(place, body));
}

void Compiler::emit_reduction(std::uint32_t place, Body& body) {
  const ExprNode& node = body.dag.nodes()[place].node();
  const Block& key = blocks_.at(node.function);
  const auto columns = static_cast<Slot>(node.table->columns().size());
  const auto index = static_cast<std::uint32_t>(tape_.reductions.size());
  TapeReduction reduction{node.reduction, node.table, key.parameters, key.result, 0, 0};
  copy_arguments(place, key.parameters + columns, body);
  control(TapeOp::kFirstRow, index);
  control(TapeOp::kEnter, key.index);
  control(TapeOp::kNextRow, index);
  if (node.payload == nullptr) {
    reduction.accumulated = give_slot(place, body);
  } else {
    const Block& payload = blocks_.at(node.payload);
    reduction.accumulated = new_slot({});
    reduction.payload_columns = payload.parameters;
    copy_arguments(place, payload.parameters + columns, body);
    control(TapeOp::kLeastRow, index);
    control(TapeOp::kEnter, payload.index);
    copy(payload.result, give_slot(place, body));
  }
  tape_.reductions.push_back(reduction);
}

void Compiler::copy_arguments(std::uint32_t place, Slot to, const Body& body) {
  for (const std::uint32_t argument : body.dag.operands(place)) {
    copy(body.slots[argument], to++);
  }
}

void Compiler::copy(Slot from, Slot to) {
  const auto at = static_cast<std::uint32_t>(tape_.instructions.size());
  tape_.instructions.push_back({from, to, 0});
  TapeRun* last = tape_.runs.empty() ? nullptr : &tape_.runs.back();
  if (last != nullptr && last->op == TapeOp::kCopy && last->begin + last->count == at) {
    ++last->count;
  } else {
    tape_.runs.push_back({TapeOp::kCopy, at, 1, 0});
  }
}

Slot Compiler::new_slot(Expr origin) {
  tape_.origins.push_back(origin);
  return static_cast<Slot>(tape_.origins.size() - 1);
}

Slot Compiler::give_slot(std::uint32_t place, Body& body) {
  body.slots[place] = new_slot(body.dag.nodes()[place]);
  return body.slots[place];
}

}  // namespace

Tape::Tape(std::span<const Expr> roots) {
  Compiler(*this).compile(roots);
}

}  // namespace mansard::ir
