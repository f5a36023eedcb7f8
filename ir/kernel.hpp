#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// A GPU kernel as far as its cost goes: the control flow and the integer arithmetic that decides
/// which lane touches which address, with every other instruction kept, named and classed. It knows
/// no machine and no file format; `frontend/ptx/lower` makes it from PTX.
///
///     for (const KernelBlock& block : kernel.blocks) {
///       for (const KernelInstruction& each : kernel.instructions_of(block)) {
///         counts[kernel.classes[each.kind].name] += 1;
///       }
///     }
namespace mansard::ir {

/// The part of an SM that executes an instruction.
enum class Pipe : std::uint8_t {
  kFma,      ///< fp32 and packed 16-bit multiply, add and multiply-add.
  kAlu,      ///< Integer, logic, compare, select, minimum, conversion between integers.
  kXu,       ///< Special functions and conversions from and to floating point.
  kFp64,     ///< Double precision.
  kLsu,      ///< Loads, stores, atomics, shuffles, barriers on shared memory.
  kTex,      ///< Textures and surfaces.
  kTensor,   ///< Matrix multiply-accumulate.
  kUniform,  ///< The same for a whole warp and done once: parameters, special registers of the
             ///< block.
  kBranch,   ///< Control: branches, barriers, exits.
  kNone,     ///< No instruction of the machine: a move that register allocation takes away.
};
inline constexpr std::size_t kPipes = 10;
[[nodiscard]] std::string_view name_of(Pipe pipe);

/// What an instruction does to values that addresses and branches depend on. kOpaque: its results
/// are not known before the kernel runs (loads, floating point).
enum class KernelOp : std::uint8_t {
  kOpaque,
  kMove,
  kAdd,
  kSub,
  kMul,
  kMulWide,  ///< Operands of `bits`, result of twice as many.
  kMulHigh,
  kMad,      ///< a * b + c, all of `bits`.
  kMadWide,  ///< a * b of `bits` + c of twice as many.
  kDiv,
  kRem,
  kShl,
  kShr,
  kAnd,
  kOr,
  kXor,
  kNot,
  kNeg,
  kAbs,
  kMin,
  kMax,
  kCompare,    ///< destination = a `comparison` b; destination2 its opposite; with `combine` c.
  kSelect,     ///< c ? a : b.
  kConvert,    ///< a of source_bits, source_signed to `bits`.
  kExtract,    ///< Bits b, length c of a, extended as is_signed says.
  kLop3,       ///< Table d of a, b, c.
  kShuffle,    ///< a of another lane: b is the lane or mask, `mode` how.
  kElect,      ///< True in the first active lane.
  kAlways,     ///< True: a wait that has ended.
  kToGeneric,  ///< Address of `space` to a generic one, and back (kFromGeneric).
  kFromGeneric,
  kPredicateAnd,
};

enum class Comparison : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual
};
enum class ShuffleMode : std::uint8_t { kIndex, kUp, kDown, kButterfly };

/// What a thread reads without loading.
enum class SpecialValue : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kBlockDimX,
  kBlockDimY,
  kBlockDimZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kGridX,
  kGridY,
  kGridZ,
  kLane,
  kWarp,
  kWarps,
  kLaneMaskEq,
  kLaneMaskLe,
  kLaneMaskLt,
  kLaneMaskGe,
  kLaneMaskGt,
  kDynamicShared,
  kTotalShared,
  kOne,  ///< Blocks of a cluster where none is stated.
  kZero,
  kUnknown,  ///< A clock, the SM.
};

struct KernelOperand {
  enum class Kind : std::uint8_t { kNone, kRegister, kImmediate, kSpecial, kParameter };
  Kind kind = Kind::kNone;
  bool negated = false;  ///< Of a predicate.
  std::uint32_t id = 0;  ///< Register, SpecialValue or parameter.
  std::int64_t value =
      0;  ///< Immediate (see `kVariableBase` for addresses); else an offset in bytes.
};

inline constexpr std::uint32_t kNothing = 0xffffffffU;

/// A kind of instruction: all that count the same.
struct InstructionClass {
  std::string name;    ///< As written: "fma.rn.f32".
  double written = 1;  ///< Instructions of the file: 0 of what stands for a further result of one.
  Pipe pipe = Pipe::kAlu;
  double machine = 1;      ///< Instructions of the machine it becomes; fractions are averages.
  double machine_low = 1;  ///< The range of that.
  double machine_high = 1;
  double flops_fp32 = 0;  ///< Per thread, FMA = 2.
  double flops_fp64 = 0;
  double flops_fp16 = 0;    ///< fp16 and bf16, both halves of a pair.
  double tensor_flops = 0;  ///< Per warp: 2 m n k.
  std::string tensor_type;  ///< Format of the operands of the matrix engine: "fp16", "tf32".
  double special = 0;       ///< Special functions per thread.
  bool known = true;        ///< False: an opcode that nothing is known of.
};

/// One instruction. Which members mean something depends on `op`.
struct KernelInstruction {
  std::uint32_t kind = 0;  ///< In Kernel::classes.
  KernelOp op = KernelOp::kOpaque;
  std::uint8_t bits = 32;
  std::uint8_t source_bits = 32;
  bool is_signed = false;
  bool source_signed = false;
  bool barrier = false;     ///< All threads of the block must arrive.
  bool combine_or = false;  ///< Of a compare with `c`: or instead of and.
  Comparison comparison = Comparison::kEqual;
  ShuffleMode mode = ShuffleMode::kIndex;
  std::uint32_t destination = kNothing;
  std::uint32_t destination2 = kNothing;
  std::array<KernelOperand, 4> operands;
  std::uint32_t guard = kNothing;
  bool guard_negated = false;
  double machine = 1;  ///< Instructions of the machine that it becomes, given its neighbours.
  std::uint32_t access = kNothing;  ///< In Kernel::accesses.
  std::uint32_t line = 0;           ///< Of the source; 0 unknown.
  std::uint32_t position = 0;       ///< Byte offset in the file.
};

enum class MemorySpace : std::uint8_t {
  kGlobal,
  kShared,
  kLocal,
  kConstant,
  kGeneric,
  kParameter,
  kTexture
};
enum class AccessKind : std::uint8_t {
  kLoad,
  kStore,
  kAtomic,  ///< Returns the old value.
  kReduction,
  kAsyncCopy,  ///< Global to shared, by lane (cp.async).
  kBulkCopy,   ///< By one thread, `bulk_bytes` or unknown.
  kPrefetch,
};
/// How the lanes of a warp share the work.
enum class AccessShape : std::uint8_t {
  kLanes,      ///< Each active lane its own address.
  kMatrix8x8,  ///< ldmatrix, stmatrix: lanes give rows of 16 bytes.
  kFragment,   ///< wmma: one address and a stride in elements, rows over the lanes.
};

struct KernelAccess {
  MemorySpace space = MemorySpace::kGlobal;
  AccessKind kind = AccessKind::kLoad;
  AccessShape shape = AccessShape::kLanes;
  std::uint32_t bytes = 4;   ///< Per lane; of a fragment, of an element.
  std::uint32_t vector = 1;  ///< Elements per lane.
  KernelOperand address;
  KernelOperand stride;          ///< Of a fragment: elements between rows.
  KernelOperand shared_address;  ///< Of an asynchronous copy: where it goes.
  KernelOperand size;            ///< Of a bulk copy: bytes.
  std::uint32_t requests = 1;    ///< Of a fragment: instructions that move it.
  std::uint16_t rows = 0;        ///< Of a fragment, as memory has them: rows of `row_elements`.
  std::uint16_t row_elements = 0;
  std::uint16_t registers = 1;  ///< 8x8 matrices of an ldmatrix; 32-bit registers of a fragment.
  std::string type;             ///< "f32".
  std::uint32_t instruction = 0;
};

/// Straight-line code. Where it ends, `branch` decides: lanes whose predicate holds go to `taken`,
/// the others to `next`; kNothing is the end of the kernel. An indirect branch lists `targets`.
struct KernelBlock {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t predicate = kNothing;  ///< kNothing: all go to `taken`.
  bool predicate_negated = false;
  std::uint32_t taken = kNothing;
  std::uint32_t next = kNothing;
  std::vector<std::uint32_t> targets;
  std::uint32_t predicated_by = kNothing;  ///< The block whose branch skips this one; all of that
                                           ///< one's warps issue it, lanes apart.
  std::uint32_t unrolled = 1;  ///< Of a loop that is one block: iterations that the assembler puts
                               ///< in a row.
  bool cold = false;  ///< Runs only for exceptional values: a trap, a failed assertion, the
                      ///< reduction of a huge angle.
};

/// A parameter, or a member of one that is a struct, that the kernel reads.
struct KernelParameter {
  std::string
      name;  ///< As the file has it: "saxpy_param_0"; of a member with its offset: "f_param_0[8]".
  std::uint32_t position = 0;  ///< Of the parameter in the signature.
  std::uint32_t offset = 0;
  std::string alias;  ///< As the user calls it: "n"; "" if not.
  std::uint32_t bytes = 4;
  bool is_pointer = false;
  bool is_float = false;
  std::uint32_t alignment = 0;  ///< Of what a pointer points to, as stated; 0 if not.
};

/// Addresses: objects in global memory lie 2^40 bytes apart. Parameter p points to (p + 1) * 2^40,
/// variable v of the module lies at kVariableBase + v * 2^40, shared and local memory at their
/// offsets, and in the generic window at kSharedWindow and kLocalWindow.
inline constexpr std::int64_t kObjectBits = 40;
inline constexpr std::int64_t kObjectBytes = std::int64_t{1} << kObjectBits;
inline constexpr std::int64_t kVariableBase = kObjectBytes * 4096;
inline constexpr std::int64_t kSharedWindow = kObjectBytes * 1'000'000;
inline constexpr std::int64_t kLocalWindow = kObjectBytes * 2'000'000;

struct Kernel {
  std::string name;
  std::string target;  ///< "sm_90a".
  std::vector<std::string>
      signature;  ///< Names of all parameters, aliases where the user gave them.
  std::vector<KernelParameter> parameters;  ///< Those that the kernel reads.
  std::vector<std::string> variables;  ///< Of global and constant memory, that the kernel names.
  std::vector<InstructionClass> classes;
  std::vector<KernelInstruction> instructions;
  std::vector<KernelAccess> accesses;
  std::vector<KernelBlock> blocks;     ///< The first is the entry.
  std::vector<std::string> registers;  ///< Names; ids are indices.
  std::vector<std::string> source_files;
  std::uint32_t static_shared = 0;   ///< Bytes.
  std::uint32_t local_bytes = 0;     ///< Per thread.
  std::uint32_t live_registers = 0;  ///< Greatest number of 32-bit registers alive at once.
  std::array<std::uint32_t, 3> required_block{};  ///< .reqntid; zeros if none.
  std::array<std::uint32_t, 3> max_block{};       ///< .maxntid.
  std::array<std::uint32_t, 3> cluster{};         ///< .reqnctapercluster.
  std::uint32_t max_registers = 0;                ///< .maxnreg.
  std::uint32_t min_blocks = 0;                   ///< .minnctapersm.
  std::vector<std::string> notes;  ///< What the frontend assumed or could not follow.
};

}  // namespace mansard::ir
