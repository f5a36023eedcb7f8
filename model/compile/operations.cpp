#include "model/compile/operations.hpp"

#include "ir/expr_semantics.hpp"

namespace mansard::model::compile {
namespace {

using ir::ExprKind;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr int kFractionBits = 52;
constexpr int kBias = 1023;
constexpr int kExponentMask = 0x7FF;

Value* number(const Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

/// The type of `like` with its doubles replaced by integers.
llvm::Type* integers(const Value* like, unsigned bits) {
  llvm::Type* scalar = llvm::Type::getIntNTy(like->getContext(), bits);
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector == nullptr ? scalar : llvm::FixedVectorType::get(scalar, vector->getNumElements());
}

Value* floor(Builder& builder, Value* a) {
  return builder.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a);
}

Value* min(Builder& builder, Value* a, Value* b) {
  return builder.CreateSelect(builder.CreateFCmpOLT(b, a), b, a);
}

Value* max(Builder& builder, Value* a, Value* b) {
  return builder.CreateSelect(builder.CreateFCmpOLT(a, b), b, a);
}

/// 2^n of small integers n.
Value* power_of_two(Builder& builder, Value* n, llvm::Type* result) {
  Value* biased = builder.CreateAdd(n, llvm::ConstantInt::get(n->getType(), kBias));
  llvm::Type* wide = result->getWithNewBitWidth(64);
  Value* field = builder.CreateShl(builder.CreateZExt(biased, wide),
                                   llvm::ConstantInt::get(wide, kFractionBits));
  return field;
}

Value* scale2(Builder& builder, Value* x, Value* n) {
  const double limit = ir::semantics::kScaleLimit;
  Value* clamped = min(builder, max(builder, number(n, -limit), n), number(n, limit));
  llvm::Type* narrow = integers(n, 32);
  llvm::Type* wide = integers(n, 64);
  Value* whole = builder.CreateFPToSI(clamped, narrow);
  Value* half = builder.CreateAShr(whole, llvm::ConstantInt::get(narrow, 1));
  const auto power = [&](Value* exponent) {
    return builder.CreateBitCast(power_of_two(builder, exponent, wide), x->getType());
  };
  Value* scaled = builder.CreateFMul(x, power(half));
  return builder.CreateFMul(scaled, power(builder.CreateSub(whole, half)));
}

Value* exponent2(Builder& builder, Value* x) {
  llvm::Type* wide = integers(x, 64);
  llvm::Type* narrow = integers(x, 32);
  Value* bits = builder.CreateLShr(builder.CreateBitCast(x, wide),
                                   llvm::ConstantInt::get(wide, kFractionBits));
  Value* field = builder.CreateAnd(builder.CreateTrunc(bits, narrow),
                                   llvm::ConstantInt::get(narrow, kExponentMask));
  Value* exponent = builder.CreateSub(field, llvm::ConstantInt::get(narrow, kBias));
  return builder.CreateSIToFP(exponent, x->getType());
}

Value* floor_quotient(Builder& builder, Value* a, Value* b) {
  return floor(builder, builder.CreateFDiv(a, b));
}

}  // namespace

Value* emit_operation(Builder& builder, ExprKind kind, Value* a, Value* b, Value* c) {
  switch (kind) {
    case ExprKind::kAdd:
      return builder.CreateFAdd(a, b);
    case ExprKind::kSub:
      return builder.CreateFSub(a, b);
    case ExprKind::kMul:
      return builder.CreateFMul(a, b);
    case ExprKind::kDiv:
      return builder.CreateFDiv(a, b);
    case ExprKind::kFloorDiv:
      return floor_quotient(builder, a, b);
    case ExprKind::kCeilDiv:
      return builder.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, builder.CreateFDiv(a, b));
    case ExprKind::kMod:
      return builder.CreateFSub(a, builder.CreateFMul(b, floor_quotient(builder, a, b)));
    case ExprKind::kMin:
      return min(builder, a, b);
    case ExprKind::kMax:
      return max(builder, a, b);
    case ExprKind::kFloor:
      return floor(builder, a);
    case ExprKind::kLess:
      return builder.CreateSelect(builder.CreateFCmpOLT(a, b), number(a, 1), number(a, 0));
    case ExprKind::kSelect:
      return builder.CreateSelect(builder.CreateFCmpUNE(a, number(a, 0)), b, c);
    case ExprKind::kScale2:
      return scale2(builder, a, b);
    default:
      return exponent2(builder, a);
  }
}

Value* broadcast(Builder& builder, Value* value, unsigned width) {
  return width == 1 ? value : builder.CreateVectorSplat(width, value);
}

}  // namespace mansard::model::compile
