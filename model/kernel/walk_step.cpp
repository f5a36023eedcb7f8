#include <algorithm>
#include <bit>
#include <utility>

#include "model/kernel/walk.hpp"

/// What one instruction does to the values of a warp, and which memory it touches.
namespace mansard::model::kernel {
namespace {

using ir::KernelOp;
using ir::kNothing;
using ir::MemorySpace;
using ir::SpecialValue;
using Kind = ir::KernelOperand::Kind;

MemorySpace resolved(MemorySpace space, std::int64_t address) {
  if (space != MemorySpace::kGeneric) {
    return space;
  }
  return address >= ir::kLocalWindow    ? MemorySpace::kLocal
         : address >= ir::kSharedWindow ? MemorySpace::kShared
                                        : MemorySpace::kGlobal;
}

bool is_integer(const std::string& type) {
  return !type.empty() && (type[0] == 'u' || type[0] == 's' || type[0] == 'b') &&
         type.find('f') == std::string::npos;
}

}  // namespace

void Walk::step(std::uint32_t instruction, Mask mask) {
  const ir::KernelInstruction& each = kernel_.instructions[instruction];
  if (each.guard != kNothing) {
    const Value& guard = reg(each.guard);
    Mask on = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      on |= (guard.at(lane) != 0) != each.guard_negated ? Mask{1} << lane : 0;
    }
    if ((mask & ~guard.known) != 0) {
      for (std::uint32_t p = 0; p < kernel_.parameters.size() && p < 62; ++p) {
        if ((guard.causes >> p & 1U) != 0) {
          findings_.unbound.insert(p);
        }
      }
    }
    mask &= on | ~guard.known;
    log_->runs.push_back({.id = instruction,
                          .guarded = true,
                          .lanes = static_cast<std::uint8_t>(std::popcount(mask))});
    if (mask == 0) {
      return;
    }
  }
  alu_.mask = mask;
  if (each.access != kNothing) {
    touch(each, mask);
  }
  if (each.destination != kNothing && flow_.tracked[each.destination]) {
    merge(reg(each.destination), evaluate(each, mask), mask);
  }
  if (each.destination2 != kNothing && flow_.tracked[each.destination2]) {
    const bool opposite = each.op == KernelOp::kCompare;
    merge(reg(each.destination2),
          opposite ? alu_.negate(evaluate(each, mask)) : Value::unknown(kData), mask);
  }
}

void Walk::merge(Value& into, const Value& value, Mask mask) {
  const Mask others = concern_ & ~mask & into.known;
  if (others == 0) {
    const Causes causes = into.causes;
    into = value;
    if ((mask & concern_) != concern_) {
      into.known &= mask;
      into.causes |= causes;
    }
    return;
  }
  Value r = value;
  for (unsigned d = 0; d < kDims; ++d) {
    if (value.coef[d] == into.coef[d] || !domain_.varies(d)) {
      continue;
    }
    if (Domain::opaque(d)) {
      into = Value::unknown(kData);
      return;
    }
    domain_.extent[d] = 1;
  }
  r.spread();
  r.known = (value.known & mask) | others;
  r.causes |= into.causes;
  for (Mask rest = others; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    r.base[lane] = into.at(lane);
  }
  into = r;
}

Value Walk::special(SpecialValue value) const {
  const auto axis = [&](SpecialValue first) {
    return static_cast<unsigned>(value) - static_cast<unsigned>(first);
  };
  switch (value) {
    case SpecialValue::kTidX:
    case SpecialValue::kTidY:
    case SpecialValue::kTidZ:
      return tid_[axis(SpecialValue::kTidX)];
    case SpecialValue::kBlockDimX:
    case SpecialValue::kBlockDimY:
    case SpecialValue::kBlockDimZ:
      return Value::constant(launch_.block[axis(SpecialValue::kBlockDimX)]);
    case SpecialValue::kGridX:
    case SpecialValue::kGridY:
    case SpecialValue::kGridZ:
      return Value::constant(launch_.grid[axis(SpecialValue::kGridX)]);
    case SpecialValue::kBlockX:
    case SpecialValue::kBlockY:
    case SpecialValue::kBlockZ: {
      const unsigned d = axis(SpecialValue::kBlockX);
      Value v = Value::constant(origin_[d]);
      v.coef[d] = 1;
      return v;
    }
    case SpecialValue::kWarp:
      return Value::constant(warp_);
    case SpecialValue::kWarps:
      return Value::constant((launch_.threads() + kLanes - 1) / kLanes);
    case SpecialValue::kDynamicShared:
      return Value::constant(launch_.dynamic_shared);
    case SpecialValue::kTotalShared:
      return Value::constant(launch_.dynamic_shared + kernel_.static_shared);
    case SpecialValue::kOne:
      return Value::constant(1);
    case SpecialValue::kZero:
      return Value::constant(0);
    case SpecialValue::kUnknown:
      return Value::unknown(kData);
    default:
      break;
  }
  Value v{.known = ~Mask{0}};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Mask self = Mask{1} << lane;
    const Mask below = self - 1;
    const Mask bits = value == SpecialValue::kLaneMaskEq   ? self
                      : value == SpecialValue::kLaneMaskLe ? below | self
                      : value == SpecialValue::kLaneMaskLt ? below
                      : value == SpecialValue::kLaneMaskGe ? ~below
                                                           : ~(below | self);
    v.base[lane] = value == SpecialValue::kLane ? lane : static_cast<std::int32_t>(bits);
  }
  return v;
}

Value Walk::parameter(std::uint32_t id) const {
  const ir::KernelParameter& parameter = kernel_.parameters[id];
  const std::int64_t object = (static_cast<std::int64_t>(id) + 1) * ir::kObjectBytes;
  if (parameter.is_pointer) {
    const std::int64_t given =
        id < launch_.arguments.size() ? launch_.arguments[id].value_or(0) : 0;
    return Value::constant(object + (given & 255));
  }
  if (id < launch_.arguments.size() && launch_.arguments[id]) {
    const std::int64_t given = *launch_.arguments[id];
    return Value::constant(parameter.bytes == 4 ? static_cast<std::int32_t>(given) : given);
  }
  return Value::unknown(id < 62 ? Causes{1} << id : kData);
}

Value Walk::read(const ir::KernelOperand& operand) const {
  switch (operand.kind) {
    case Kind::kRegister: {
      Value v = reg(operand.id);
      if (v.known == 0 && v.causes == 0) {
        v.causes = kData;
      }
      if (operand.value != 0) {
        for (std::int64_t& base : v.base) {
          base += operand.value;
        }
      }
      return v;
    }
    case Kind::kImmediate:
      return Value::constant(operand.value);
    case Kind::kSpecial:
      return special(static_cast<SpecialValue>(operand.id));
    case Kind::kParameter:
      return parameter(operand.id);
    case Kind::kNone:
      break;
  }
  return Value::unknown(kData);
}

Value Walk::compare(const ir::KernelInstruction& each) {
  using ir::Comparison;
  const auto bits = [&](Value v) { return alu_.convert(v, each.bits, true, each.bits); };
  const Value a = bits(read(each.operands[0]));
  const Value b = bits(read(each.operands[1]));
  Value r;
  switch (each.comparison) {
    case Comparison::kEqual:
      r = alu_.equal(a, b);
      break;
    case Comparison::kNotEqual:
      r = alu_.negate(alu_.equal(a, b));
      break;
    case Comparison::kLess:
      r = alu_.less(a, b, each.bits, each.is_signed);
      break;
    case Comparison::kLessEqual:
      r = alu_.negate(alu_.less(b, a, each.bits, each.is_signed));
      break;
    case Comparison::kGreater:
      r = alu_.less(b, a, each.bits, each.is_signed);
      break;
    case Comparison::kGreaterEqual:
      r = alu_.negate(alu_.less(a, b, each.bits, each.is_signed));
      break;
  }
  const ir::KernelOperand& with = each.operands[2];
  if (with.kind == Kind::kRegister) {
    Value c = read(with);
    if (with.negated) {
      c = alu_.negate(c);
    }
    r = each.combine_or ? alu_.bit_or(r, c, 1) : alu_.bit_and(r, c, 1);
  }
  return r;
}

Value Walk::shuffle(const ir::KernelInstruction& each, const Value& a, const Value& b) {
  if (a.uniform && a.known != 0) {
    return a;
  }
  Value lane_value = b;
  alu_.pin(lane_value);
  if (lane_value.known == 0) {
    return Value::unknown(a.causes | b.causes | kData);
  }
  const auto c = static_cast<unsigned>(each.operands[2].value);
  const unsigned segment = c >> 8U & 31U;
  Value r = a;
  r.spread();
  r.known = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const auto distance = static_cast<int>(lane_value.at(lane) & 31);
    const auto self = static_cast<int>(lane);
    const auto last = static_cast<int>((lane & segment) | (c & 31U & ~segment));
    int from = self;
    bool valid = true;
    switch (each.mode) {
      case ir::ShuffleMode::kUp:
        from = self - distance;
        valid = from >= last;
        break;
      case ir::ShuffleMode::kDown:
        from = self + distance;
        valid = from <= last;
        break;
      case ir::ShuffleMode::kButterfly:
        from = self ^ distance;
        valid = from <= last;
        break;
      case ir::ShuffleMode::kIndex:
        from = static_cast<int>((lane & segment) | (static_cast<unsigned>(distance) & ~segment));
        valid = from <= last;
        break;
    }
    const auto source = static_cast<unsigned>(valid && from >= 0 && from < 32 ? from : self);
    r.base[lane] = a.at(source);
    r.known |= (a.known >> source & 1U) != 0 ? Mask{1} << lane : 0;
  }
  if (std::all_of(r.base.begin(), r.base.end(), [&](std::int64_t x) { return x == r.base[0]; }) &&
      r.known == ~Mask{0}) {
    r.uniform = true;
  }
  return r;
}

/// A number that a load of one address by the whole warp gives: unknown, but the same in every
/// lane.
Value Walk::loaded(const ir::KernelInstruction& each, std::uint32_t instruction, Mask mask) {
  const ir::KernelAccess& access = kernel_.accesses[each.access];
  if (access.kind != ir::AccessKind::kLoad || !is_integer(access.type) || access.vector != 1) {
    return Value::unknown(kData);
  }
  const Value address = read(access.address);
  if ((address.known & mask) != mask) {
    return Value::unknown(kData);
  }
  const std::int64_t first = address.at(static_cast<unsigned>(std::countr_zero(mask)));
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    if (address.at(static_cast<unsigned>(std::countr_zero(rest))) != first) {
      return Value::unknown(kData);
    }
  }
  for (unsigned slot = 0; slot < kOpaqueDims; ++slot) {
    if (opaque_of_[slot] == 0 || opaque_of_[slot] == instruction + 1) {
      opaque_of_[slot] = instruction + 1;
      Value v = Value::constant(0);
      v.coef[kFirstOpaque + slot] = 1;
      return v;
    }
  }
  return Value::unknown(kData);
}

Value Walk::evaluate(const ir::KernelInstruction& each, Mask mask) {
  const unsigned bits = each.bits;
  const auto operand = [&](unsigned n) {
    Value v = read(each.operands[n]);
    return each.operands[n].negated ? alu_.negate(v) : v;
  };
  switch (each.op) {
    case KernelOp::kOpaque:
      return each.access != kNothing
                 ? loaded(each, static_cast<std::uint32_t>(&each - kernel_.instructions.data()),
                          mask)
                 : Value::unknown(kData);
    case KernelOp::kMove:
      return alu_.convert(operand(0), bits == 0 ? 64 : bits, true, bits == 0 ? 64 : bits);
    case KernelOp::kAdd:
      return alu_.add(operand(0), operand(1), bits);
    case KernelOp::kSub:
      return alu_.sub(operand(0), operand(1), bits);
    case KernelOp::kMul:
      return alu_.mul(operand(0), operand(1), bits);
    case KernelOp::kMulWide:
      return alu_.mul_wide(operand(0), operand(1), bits, each.is_signed);
    case KernelOp::kMulHigh:
      return alu_.mul_high(operand(0), operand(1), bits, each.is_signed);
    case KernelOp::kMad:
      return alu_.add(alu_.mul(operand(0), operand(1), bits), operand(2), bits);
    case KernelOp::kMadWide:
      return alu_.add(alu_.mul_wide(operand(0), operand(1), bits, each.is_signed), operand(2),
                      2 * bits);
    case KernelOp::kDiv:
    case KernelOp::kRem:
      return alu_.divide(operand(0), operand(1), bits, each.is_signed, each.op == KernelOp::kRem);
    case KernelOp::kShl:
      return alu_.shift_left(operand(0), operand(1), bits);
    case KernelOp::kShr:
      return alu_.shift_right(operand(0), operand(1), bits, each.is_signed);
    case KernelOp::kAnd:
    case KernelOp::kPredicateAnd:
      return alu_.bit_and(operand(0), operand(1), bits);
    case KernelOp::kOr:
      return alu_.bit_or(operand(0), operand(1), bits);
    case KernelOp::kXor:
      return alu_.bit_xor(operand(0), operand(1), bits);
    case KernelOp::kNot:
      return alu_.bit_not(operand(0), bits);
    case KernelOp::kNeg:
      return alu_.sub(Value::constant(0), operand(0), bits);
    case KernelOp::kAbs: {
      const Value a = operand(0);
      const Value minus = alu_.sub(Value::constant(0), a, bits);
      return alu_.select(alu_.less(a, Value::constant(0), bits, true), minus, a);
    }
    case KernelOp::kMin:
    case KernelOp::kMax: {
      const Value a = operand(0);
      const Value b = operand(1);
      const Value below = alu_.less(a, b, bits, each.is_signed);
      return each.op == KernelOp::kMin ? alu_.select(below, a, b) : alu_.select(below, b, a);
    }
    case KernelOp::kCompare:
      return compare(each);
    case KernelOp::kSelect:
      return alu_.select(operand(2), operand(0), operand(1));
    case KernelOp::kConvert:
      return alu_.convert(operand(0), each.source_bits, each.source_signed, bits);
    case KernelOp::kExtract:
      return alu_.extract(operand(0), operand(1), operand(2), bits, each.is_signed);
    case KernelOp::kLop3:
      return alu_.lop3(operand(0), operand(1), operand(2), each.operands[3].value, bits);
    case KernelOp::kShuffle:
      return shuffle(each, operand(0), operand(1));
    case KernelOp::kElect: {
      Value v{.known = ~Mask{0}};
      v.base[static_cast<unsigned>(std::countr_zero(mask))] = 1;
      return v;
    }
    case KernelOp::kAlways:
      return Value::constant(1);
    case KernelOp::kToGeneric:
      return alu_.add(operand(0), Value::constant(each.operands[1].value), 64);
    case KernelOp::kFromGeneric:
      return alu_.sub(operand(0), Value::constant(each.operands[1].value), 64);
  }
  return Value::unknown(kData);
}

void Walk::touch(const ir::KernelInstruction& each, Mask mask) {
  const ir::KernelAccess& access = kernel_.accesses[each.access];
  const Value address = read(access.address);
  if (access.shape == ir::AccessShape::kFragment) {
    touch_fragment(access, each.access, address, mask);
    return;
  }
  std::uint32_t bytes = access.bytes;
  if (access.shape == ir::AccessShape::kMatrix8x8) {
    bytes = 16;
    mask &= access.registers >= 4 ? ~Mask{0} : (Mask{1} << (8U * access.registers)) - 1;
  }
  if (access.kind == ir::AccessKind::kAsyncCopy && access.size.kind != Kind::kNone) {
    const Value size = read(access.size);  // lanes that read nothing write zeros
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const bool none = (size.known >> lane & 1U) != 0 && size.at(lane) == 0;
      mask &= none ? ~(Mask{1} << lane) : ~Mask{0};
    }
  }
  if (mask != 0) {
    touch_lanes(access, each.access, address, mask, bytes);
  }
}

void Walk::touch_lanes(const ir::KernelAccess& access, std::uint32_t id, const Value& address,
                       Mask mask, std::uint32_t bytes) {
  if ((address.known & mask) != mask) {
    for (std::uint32_t p = 0; p < kernel_.parameters.size() && p < 62; ++p) {
      if ((address.causes >> p & 1U) != 0) {
        findings_.unbound.insert(p);
      }
    }
    log_unknown(access, id, mask, bytes);
    return;
  }
  const std::int64_t first = address.at(static_cast<unsigned>(std::countr_zero(mask)));
  LanePattern pattern{.mask = mask, .bytes = bytes};
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    pattern.offset[lane] = address.at(lane) - first;
  }
  log_access(pattern, id, resolved(access.space, first), address);
  if (access.kind == ir::AccessKind::kBulkCopy) {
    const Value size = read(access.size);
    log_->accesses.back().bulk_bytes =
        (size.known & mask) != 0
            ? static_cast<double>(size.at(static_cast<unsigned>(std::countr_zero(mask))))
            : 0;
  }
}

void Walk::log_access(const LanePattern& pattern, std::uint32_t id, MemorySpace space,
                      const Value& address) {
  AccessEvent event{.access = id, .pattern = patterns_.intern(pattern), .space = space};
  event.address = address.at(static_cast<unsigned>(std::countr_zero(pattern.mask)));
  for (unsigned d = 0; d < kDims; ++d) {
    event.coef[d] = domain_.varies(d) ? address.coef[d] : 0;
  }
  log_->accesses.push_back(std::move(event));
}

void Walk::log_unknown(const ir::KernelAccess& access, std::uint32_t id, Mask mask,
                       std::uint32_t bytes) {
  findings_.unknown_addresses.insert(id);
  const MemorySpace space =
      access.space == MemorySpace::kGeneric ? MemorySpace::kGlobal : access.space;
  const LanePattern pattern{.mask = mask, .bytes = bytes, .known = false};
  log_->accesses.push_back({.access = id, .pattern = patterns_.intern(pattern), .space = space});
}

/// A fragment moves by several instructions; each takes eight rows, four lanes to a row.
void Walk::touch_fragment(const ir::KernelAccess& access, std::uint32_t id, const Value& address,
                          Mask mask) {
  Value stride = read(access.stride);
  alu_.pin(stride);
  const std::uint32_t row_bytes = std::uint32_t{access.row_elements} * access.bytes;
  const std::uint32_t total = row_bytes * access.rows;
  const std::uint32_t width = std::max(1U, total / (access.requests * kLanes));
  if (!stride.uniform || stride.known == 0 || address.known == 0) {
    for (std::uint32_t i = 0; i < access.requests; ++i) {
      log_unknown(access, id, mask, width);
    }
    return;
  }
  const std::int64_t pitch = stride.base[0] * access.bytes;
  const std::uint32_t across = std::max(1U, row_bytes / (4 * width));
  for (std::uint32_t i = 0; i < access.requests; ++i) {
    LanePattern pattern{.mask = ~Mask{0}, .bytes = width};
    const std::uint32_t row = i / across * 8;
    const std::uint32_t column = i % across * 4 * width;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      pattern.offset[lane] = static_cast<std::int64_t>(lane / 4) * pitch + (lane % 4) * width;
    }
    Value at = address;
    at.spread();
    for (std::int64_t& base : at.base) {
      base += static_cast<std::int64_t>(row) * pitch + column;
    }
    log_access(pattern, id, resolved(access.space, at.base[0]), at);
  }
}

}  // namespace mansard::model::kernel
