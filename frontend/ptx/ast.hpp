#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/ptx/type.hpp"
#include "support/source.hpp"

/// A PTX file as it was written, with every name resolved.
///
///     const Result<Module> module = parse_file("kernels.ptx");
///     const Function* saxpy = module->find_function("saxpy");
///     for (const Instruction& instruction : saxpy->instructions) {
///       if (instruction.opcode() == "ld" && instruction.has("global")) {
///         const Operand& address = saxpy->operand(instruction, 1);   // [%rd4+16]
///         const Operand& base = saxpy->children(address)[0];         // %rd4; address.value is 16
///         ...
///
/// Names are views into the source, which the module keeps alive. Everything has a position (a byte
/// offset in the source); `Module::location` makes it a `Location` for diagnostics.
namespace mansard::frontend::ptx {

enum class VariableId : std::uint32_t {};     ///< In Module::variables.
enum class FunctionId : std::uint32_t {};     ///< In Module::functions.
enum class LineId : std::uint32_t {};         ///< In Module::lines.
enum class RegisterId : std::uint32_t {};     ///< In Function::registers.
enum class LabelId : std::uint32_t {};        ///< In Function::labels.
enum class InstructionId : std::uint32_t {};  ///< In Function::instructions.
enum class SpecialId : std::uint32_t {};      ///< In `special_registers()`.
enum class PrototypeId : std::uint32_t {};    ///< In Function::prototypes.
enum class TargetsId : std::uint32_t {};      ///< In Function::targets.

/// No such thing: `function.line == kNone<LineId>`.
template <typename Id>
inline constexpr Id kNone = static_cast<Id>(0xffffffffU);

template <typename Id>
  requires std::is_enum_v<Id>
[[nodiscard]] constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

/// A byte offset in the source.
using Position = std::uint32_t;

/// `count` entries of a pool from `first`.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

enum class OperandKind : std::uint8_t {
  kRegister,   ///< `id` is a RegisterId; `negated` for `!%p`; `component` of a vector or a video
               ///< byte.
  kSpecial,    ///< `id` is a SpecialId; `component` for %tid.x.
  kInteger,    ///< `value`; `is_unsigned` if it was written with a U or does not fit 63 bits.
  kFloat32,    ///< `value` holds the 32 bits of 0f3F800000.
  kFloat64,    ///< `value` holds the 64 bits of 0d3FF0000000000000 or of a decimal number.
  kVariable,   ///< `id` is a VariableId; its address, or its contents where a .param is passed;
               ///< `value` is added.
  kFunction,   ///< `id` is a FunctionId.
  kLabel,      ///< `id` is a LabelId.
  kTargets,    ///< `id` is a TargetsId: a .branchtargets or .calltargets.
  kPrototype,  ///< `id` is a PrototypeId.
  kAddress,    ///< `[a+value]`, `[a, {x, y}]`, `[a, b, {x}]`: children are what stands between the
               ///< commas; without children an absolute address.
  kVector,     ///< `{a, b, c}`: children.
  kList,       ///< `(a, b)` of a call: children.
  kPair,       ///< `a|b`: two children, the two destinations.
  kSink,       ///< `_`.
  kGeneric,    ///< `generic(a)` of an initialiser: one child.
  kByte,       ///< `0xFF00(a)` of an initialiser: one child, `value` is the mask.
};

/// A component or byte of a register: %tid.x, %v.w, %r.b0 and %r.h1 of the video instructions.
enum class Component : std::uint8_t { kNone, kX, kY, kZ, kW, kB0, kB1, kB2, kB3, kH0, kH1, kMulti };

/// The name behind the dot ("x", "b0"; colours r, g, b, a are x, y, z, w); kMulti is a byte
/// selection such as "b7610", which only its source text spells.
[[nodiscard]] std::string_view name_of(Component component);

/// An operand, or a part of one. Which members mean something depends on `kind`.
struct Operand {
  OperandKind kind = OperandKind::kSink;
  Component component = Component::kNone;
  bool negated = false;      ///< `!%p`, or `-%r` of a video instruction.
  bool is_unsigned = false;  ///< Of an integer.
  std::uint32_t id = 0;
  Range children;  ///< In Function::operands (Module::operands for an initialiser).
  std::int64_t value = 0;
  Position position = 0;
  Position end = 0;

  template <typename Id>
  [[nodiscard]] constexpr Id as() const {
    return static_cast<Id>(id);
  }
};

/// `@%p` or `@!%p`.
struct Guard {
  RegisterId predicate = kNone<RegisterId>;
  bool negated = false;

  explicit operator bool() const { return predicate != kNone<RegisterId>; }
};

/// An opcode with its modifiers, "ld.global.v4.f32". Instructions that are written alike share one.
struct Form {
  std::string_view opcode;                  ///< "ld", "cp", "wgmma": the part before the first dot.
  std::vector<std::string_view> modifiers;  ///< "global", "v4", "f32": in order, without dots.
  std::vector<Type> types;                  ///< Of the modifiers that are types, in order.
  Space space = Space::kGeneric;            ///< Of the first modifier that names a state space.
  unsigned vector_width = 1;                ///< 2, 4 or 8 of .v2, .v4, .v8.
  bool known = true;                        ///< The opcode table has the opcode.

  [[nodiscard]] bool has(std::string_view modifier) const;
  /// The last type: of `cvt.rn.f32.u32` u32, the type of the source. kNone if there is none.
  [[nodiscard]] Type type() const { return types.empty() ? Type::kNone : types.back(); }
  /// The n-th type from 0: of `cvt.rn.f32.u32` 0 is f32.
  [[nodiscard]] Type type(std::size_t n) const { return n < types.size() ? types[n] : Type::kNone; }
};

/// One instruction: `@!%p bra $L1;` or `ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];`.
struct Instruction {
  const Form* form = nullptr;  ///< Never null; owned by the module.
  Guard guard;
  Range operands;               ///< In Function::operands.
  LineId line = kNone<LineId>;  ///< The .loc in force.
  Position position = 0;        ///< Of the opcode.
  Position end = 0;             ///< Behind the last modifier.

  [[nodiscard]] std::string_view opcode() const { return form->opcode; }
  [[nodiscard]] bool has(std::string_view modifier) const { return form->has(modifier); }
};

/// A register that the body names. Registers of a range that nothing uses do not appear.
struct Register {
  std::string_view name;  ///< "%r12".
  Type type = Type::kNone;
  std::uint8_t width = 1;  ///< 2 or 4 of a vector register.
};

/// `.reg .b32 %r<100>;` as it was written.
struct RegisterDeclaration {
  std::string_view name;    ///< Without the range.
  std::uint32_t count = 0;  ///< Of a range; 0 for a single register.
  Type type = Type::kNone;
  std::uint8_t width = 1;
  Position position = 0;
};

/// A label. A branch out of an inner block may have a label of its own that repeats the name and
/// the target.
struct Label {
  std::string_view name;
  InstructionId target =
      kNone<InstructionId>;  ///< The next instruction; one past the last at the end.
  Position position = 0;
};

/// `L: .branchtargets A, B;` or `L: .calltargets f, g;`.
struct Targets {
  std::string_view name;
  std::vector<Operand> targets;  ///< kLabel or kFunction.
  bool calls = false;
  Position position = 0;
};

enum class Linkage : std::uint8_t { kNone, kExtern, kVisible, kWeak, kCommon };

/// A named attribute with numbers or names: `.maxntid 128, 1, 1`, `.attribute(.managed)`.
struct Directive {
  std::string_view name;  ///< "maxntid", no dot.
  std::vector<std::int64_t> values;
  std::string_view text;  ///< What stands in quotes (.pragma) or in brackets (.attribute).
  Position position = 0;
};

/// A variable or a parameter.
struct Variable {
  std::string_view name;
  Space space = Space::kGeneric;
  Type type = Type::kNone;
  std::uint8_t width = 1;  ///< 2 or 4 of `.v2`, `.v4`.
  Linkage linkage = Linkage::kNone;
  bool is_array = false;
  bool is_parameter = false;  ///< Of a function or prototype.
  bool is_return = false;
  bool is_pointer = false;  ///< `.ptr`: of the pointee `pointee_space` and `pointee_alignment`.
  Space pointee_space = Space::kGeneric;
  std::uint32_t pointee_alignment = 0;
  std::uint32_t alignment = 0;  ///< In bytes, as written; 0 without .align.
  std::uint32_t count = 0;      ///< Registers of `.param .b32 %p<4>`-like ranges; 0 for one.
  std::int32_t bank = -1;       ///< Of `.const[3]`.
  std::vector<std::uint64_t> dimensions;  ///< Of an array; 0 where the size is left open (`[]`).
  Range initialiser;                      ///< At most one operand of Module::operands.
  std::string_view attributes;            ///< `.attribute(...)`, verbatim, else empty.
  FunctionId owner = kNone<FunctionId>;   ///< The function that declares it.
  Position position = 0;

  /// Size in bytes; 0 if left open.
  [[nodiscard]] std::uint64_t bytes() const;
  /// The alignment that holds: the written one, else that of an element.
  [[nodiscard]] std::uint32_t natural_alignment() const;
};

/// What a .callprototype or a function promises.
struct Prototype {
  std::string_view name;  ///< The label.
  std::vector<VariableId> returns;
  std::vector<VariableId> parameters;
  std::vector<Directive> directives;
  Position position = 0;
};

enum class StatementKind : std::uint8_t {
  kInstruction,
  kLabel,
  kOpen,       ///< `{`
  kClose,      ///< `}`
  kRegisters,  ///< A RegisterDeclaration.
  kVariable,
  kLine,       ///< A .loc: index of Module::lines.
  kDirective,  ///< A .pragma: index of Function::body_directives.
  kTargets,
  kPrototype,
};

/// The body in the order in which it was written; `index` points into the vector of its kind.
struct Statement {
  StatementKind kind = StatementKind::kInstruction;
  std::uint32_t index = 0;
};

/// A kernel (`.entry`), a device function (`.func`), or its declaration.
struct Function {
  std::string_view name;
  bool is_entry = false;
  bool has_body = false;
  Linkage linkage = Linkage::kNone;
  std::vector<VariableId> returns;
  std::vector<VariableId> parameters;
  std::vector<Directive> directives;  ///< Performance directives, in order: maxntid, reqntid, ...
  std::string_view attributes;        ///< `.attribute(...)`, verbatim, else empty.
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<Register> registers;
  std::vector<RegisterDeclaration> register_declarations;
  std::vector<Label> labels;
  std::vector<Targets> targets;
  std::vector<Prototype> prototypes;
  std::vector<Directive> body_directives;
  std::vector<VariableId> variables;  ///< Declared in the body: .shared, .local, .param.
  std::vector<Statement> statements;
  Position position = 0;

  [[nodiscard]] std::span<const Operand> operands_of(const Instruction& instruction) const {
    return std::span(operands).subspan(instruction.operands.first, instruction.operands.count);
  }
  [[nodiscard]] const Operand& operand(const Instruction& instruction, std::size_t n) const {
    return operands[instruction.operands.first + n];
  }
  [[nodiscard]] std::span<const Operand> children(const Operand& operand) const {
    return std::span(operands).subspan(operand.children.first, operand.children.count);
  }
  [[nodiscard]] const Register& reg(RegisterId id) const { return registers[index(id)]; }
  [[nodiscard]] const Label& label(LabelId id) const { return labels[index(id)]; }
  /// The directive of that name, if there is one.
  [[nodiscard]] const Directive* directive(std::string_view name) const;
};

/// `.version 8.7`.
struct Version {
  int major = 0;
  int minor = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

/// `.target sm_90a, debug`.
struct Target {
  std::string_view name;  ///< "sm_90a".
  int sm = 0;             ///< 90.
  char suffix = '\0';     ///< 'a' (this architecture only), 'f' (its family), or none.
  std::vector<std::string_view> options;  ///< "texmode_independent", "debug", ...
};

/// A position in the source language: `.loc 1 42 7, function_name $L__info_string0, inlined_at 1 9
/// 3`.
struct Line {
  std::uint32_t file = 0;  ///< The number of a .file.
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string_view function_name;  ///< A label of .debug_str, with its offset, else empty.
  std::uint32_t inlined_file = 0;  ///< Of inlined_at; 0 without.
  std::uint32_t inlined_line = 0;
  std::uint32_t inlined_column = 0;
  Position position = 0;
};

/// `.file 1 "saxpy.cu"`, with timestamp and size if they were given.
struct File {
  std::uint32_t number = 0;
  std::string_view name;  ///< Without the quotes.
  std::string_view tail;  ///< `, 1700000000, 1234` verbatim, else empty.
  Position position = 0;
};

/// A debug section, kept verbatim: from `.section` to its closing brace, or one `@@DWARF` line.
struct Section {
  std::string_view name;
  std::string_view text;
  Position position = 0;
};

enum class ItemKind : std::uint8_t { kVariable, kFunction, kFile, kSection, kDirective };

/// The module's parts in the order in which they were written.
struct Item {
  ItemKind kind = ItemKind::kVariable;
  std::uint32_t index = 0;
};

/// A PTX file.
struct Module {
  std::shared_ptr<const SourceFile> source;
  Version version;
  Target target;
  int address_size = 64;  ///< In bits.
  bool has_address_size = false;
  std::vector<Variable> variables;  ///< Of the module and of every function.
  std::vector<Function> functions;  ///< A declaration and its definition are two.
  std::vector<File> files;
  std::vector<Section> sections;
  std::vector<Directive> directives;  ///< .pragma and .alias of the module.
  std::vector<Line> lines;
  std::vector<Operand> operands;  ///< Of initialisers.
  std::vector<Item> items;

  [[nodiscard]] const Variable& variable(VariableId id) const { return variables[index(id)]; }
  [[nodiscard]] const Function& function(FunctionId id) const { return functions[index(id)]; }
  /// The function of that name, its definition before a declaration.
  [[nodiscard]] const Function* find_function(std::string_view name) const;
  /// Names of the kernels with a body, in order.
  [[nodiscard]] std::vector<std::string_view> entries() const;
  /// The name of a .file; empty if there is none of that number.
  [[nodiscard]] std::string_view file_name(std::uint32_t number) const;
  [[nodiscard]] Location location(Position begin, Position end) const;

  std::vector<std::unique_ptr<const Form>> forms;  ///< Every distinct opcode with modifiers.
};

}  // namespace mansard::frontend::ptx
