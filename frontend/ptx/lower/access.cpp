#include "frontend/ptx/lower/access.hpp"

#include <algorithm>
#include <string_view>

namespace mansard::frontend::ptx {
namespace {

using ir::AccessKind;
using ir::AccessShape;
using ir::KernelAccess;
using ir::MemorySpace;

MemorySpace space_of(Space space) {
  switch (space) {
    case Space::kGlobal:
      return MemorySpace::kGlobal;
    case Space::kShared:
      return MemorySpace::kShared;
    case Space::kLocal:
      return MemorySpace::kLocal;
    case Space::kConst:
      return MemorySpace::kConstant;
    case Space::kParam:
      return MemorySpace::kParameter;
    case Space::kTex:
      return MemorySpace::kTexture;
    default:
      return MemorySpace::kGeneric;
  }
}

class Access {
 public:
  Access(Operands& operands, const Instruction& source) : operands_(operands), source_(source) {}

  std::optional<KernelAccess> find() {
    const std::string_view op = source_.opcode();
    if (op == "ld" || op == "ldu") {
      return source_.form->space == Space::kParam ? std::nullopt : plain(AccessKind::kLoad, 1);
    }
    if (op == "st") {
      return source_.form->space == Space::kParam || source_.has("async")
                 ? std::nullopt
                 : plain(AccessKind::kStore, 0);
    }
    if (op == "atom") {
      return plain(AccessKind::kAtomic, 1);
    }
    if (op == "red") {
      return source_.has("async") ? std::nullopt : plain(AccessKind::kReduction, 0);
    }
    if (op == "multimem") {
      return source_.has("ld_reduce") ? plain(AccessKind::kLoad, 1) : plain(AccessKind::kStore, 0);
    }
    if (op == "ldmatrix" || op == "stmatrix") {
      return matrix(op == "ldmatrix");
    }
    if (op == "wmma" && (source_.has("load") || source_.has("store"))) {
      return fragment(source_.has("load"));
    }
    if (op == "cp" && source_.has("async")) {
      return copy();
    }
    return std::nullopt;
  }

 private:
  KernelAccess base(AccessKind kind, std::size_t address) {
    KernelAccess access{.space = space_of(source_.form->space), .kind = kind};
    const Type type = source_.form->type();
    access.bytes = bytes_of(type) * source_.form->vector_width;
    access.vector = source_.form->vector_width;
    access.type = name_of(type);
    if (address < source_.operands.count) {
      access.address = operands_.address(operands_.function().operand(source_, address));
    }
    return access;
  }

  std::optional<KernelAccess> plain(AccessKind kind, std::size_t address) {
    return base(kind, address);
  }

  std::optional<KernelAccess> matrix(bool loads) {
    KernelAccess access = base(loads ? AccessKind::kLoad : AccessKind::kStore, loads ? 1 : 0);
    access.space = MemorySpace::kShared;
    access.shape = AccessShape::kMatrix8x8;
    access.registers = source_.has("x4") ? 4 : source_.has("x2") ? 2 : 1;
    access.bytes = 4U * access.registers;
    return access;
  }

  /// wmma.load and .store. The 16-bit operands of m16n16k16 move as 32-bit pairs, four lanes to a
  /// row of eight elements; accumulators of 32 bits as pairs of 64 bits (as the counters of an H200
  /// show).
  std::optional<KernelAccess> fragment(bool loads) {
    KernelAccess access = base(loads ? AccessKind::kLoad : AccessKind::kStore, loads ? 1 : 0);
    access.shape = AccessShape::kFragment;
    std::uint16_t m = 16;
    std::uint16_t n = 16;
    std::uint16_t k = 16;
    sides(m, n, k);
    const bool a = source_.has("a");
    const bool b = source_.has("b");
    const bool column = source_.has("col");
    const std::uint16_t rows = b ? k : m;
    const std::uint16_t columns = a ? k : n;
    access.rows = column ? columns : rows;
    access.row_elements = column ? rows : columns;
    access.bytes = bytes_of(source_.form->type());
    const std::uint32_t per_lane = std::uint32_t{rows} * columns * access.bytes / 32;
    const std::uint32_t width = access.bytes >= 4 && !a && !b ? 8 : 4;
    access.requests = std::max(1U, per_lane / width);
    if (source_.operands.count > 2) {
      access.stride = operands_.convert(source_, 2);
    } else {
      access.stride = {.kind = ir::KernelOperand::Kind::kImmediate, .value = access.row_elements};
    }
    return access;
  }

  void sides(std::uint16_t& m, std::uint16_t& n, std::uint16_t& k) const {
    constexpr struct {
      std::string_view name;
      std::uint16_t m, n, k;
    } kShapes[] = {{"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16}, {"m8n32k16", 8, 32, 16},
                   {"m16n16k8", 16, 16, 8},   {"m8n8k4", 8, 8, 4},     {"m8n8k32", 8, 8, 32},
                   {"m8n8k128", 8, 8, 128}};
    for (const auto& shape : kShapes) {
      if (source_.has(shape.name)) {
        m = shape.m;
        n = shape.n;
        k = shape.k;
      }
    }
  }

  std::optional<KernelAccess> copy() {
    if (source_.has("commit_group") || source_.has("wait_group") || source_.has("wait_all") ||
        source_.has("mbarrier")) {
      return std::nullopt;
    }
    const bool to_shared = destination_is_shared();
    KernelAccess access = base(AccessKind::kAsyncCopy, to_shared ? 1 : 0);
    access.space = MemorySpace::kGlobal;
    if (source_.has("bulk")) {
      access.kind = source_.has("prefetch") ? AccessKind::kPrefetch : AccessKind::kBulkCopy;
      if (!source_.has("tensor")) {
        access.size = operands_.convert(source_, 2);
      }
      access.type = to_shared ? "load" : "store";
      return access;
    }
    const ir::KernelOperand bytes = operands_.convert(source_, 2);
    access.bytes = static_cast<std::uint32_t>(bytes.value);
    access.shared_address = operands_.address(operands_.function().operand(source_, 0));
    if (source_.operands.count > 3) {
      access.size = operands_.convert(source_, 3);  // bytes that are read; the rest is zeros
    }
    access.type = "load";
    return access;
  }

  /// The first state space named is where the copy goes.
  [[nodiscard]] bool destination_is_shared() const {
    for (const std::string_view modifier : source_.form->modifiers) {
      if (modifier.starts_with("shared")) {
        return true;
      }
      if (modifier == "global") {
        return false;
      }
    }
    return true;
  }

  Operands& operands_;
  const Instruction& source_;
};

}  // namespace

std::optional<KernelAccess> access_of(Operands& operands, const Instruction& source) {
  return Access(operands, source).find();
}

}  // namespace mansard::frontend::ptx
