#include "frontend/ptx/lower/classify.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace mansard::frontend::ptx {
namespace {

using ir::InstructionClass;
using ir::Pipe;

bool is_any(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_half(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || type == Type::kF16x2 || type == Type::kBf16x2;
}
bool is_packed_half(Type type) {
  return type == Type::kF16x2 || type == Type::kBf16x2;
}
bool is_float(Type type) {
  return kind_of(type) == TypeKind::kFloat || kind_of(type) == TypeKind::kFloatPacked;
}

void machine(InstructionClass& c, double instructions, double low, double high) {
  c.machine = instructions;
  c.machine_low = low;
  c.machine_high = high;
}
void machine(InstructionClass& c, double instructions) {
  machine(c, instructions, instructions, instructions);
}

/// Adds `flops` of the format to the class.
void count_flops(InstructionClass& c, Type type, double flops) {
  if (type == Type::kF64) {
    c.flops_fp64 += flops;
  } else if (type == Type::kF32) {
    c.flops_fp32 += flops;
  } else if (type == Type::kF32x2) {
    c.flops_fp32 += 2 * flops;
  } else if (is_half(type)) {
    c.flops_fp16 += flops * (is_packed_half(type) ? 2 : 1);
  }
}

/// add, sub, mul, fma and mad of floating point.
void float_arithmetic(InstructionClass& c, Type type, double flops) {
  c.pipe = type == Type::kF64 ? Pipe::kFp64 : Pipe::kFma;
  count_flops(c, type, flops);
  if (type == Type::kF32x2) {
    machine(c, 1, 1, 2);
  }
}

/// A special function and the sequence around it; `fma` multiply-adds and `mul` products of it are
/// always executed.
void special(InstructionClass& c, double instructions, double low, double high, double fma,
             double mul) {
  c.pipe = Pipe::kXu;
  c.special = 1;
  machine(c, instructions, low, high);
  c.flops_fp32 += 2 * fma + mul;
}

void division(InstructionClass& c, const Form& form) {
  const Type type = form.type();
  if (type == Type::kF64) {
    c.pipe = Pipe::kFp64;
    machine(c, 22, 14, 40);
    c.flops_fp64 += 2 * 9 + 1;
  } else if (is_float(type)) {
    if (form.has("approx")) {
      special(c, 5, 2, 6, 0, 1);
    } else if (form.has("full")) {
      special(c, 7, 3, 9, 0, 1);
    } else {
      special(c, 11, 9, 30, 5, 0);  // the path without exceptional values
    }
  } else if (bits_of(type) == 64) {
    machine(c, 75, 30, 140);
  } else if (kind_of(type) == TypeKind::kSigned) {
    machine(c, 20, 16, 28);
    c.special = 1;
  } else {
    machine(c, 16, 14, 24);
    c.special = 1;
  }
}

void root(InstructionClass& c, const Form& form) {
  if (form.type() == Type::kF64) {
    c.pipe = Pipe::kFp64;
    machine(c, 20, 12, 40);
    c.flops_fp64 += 2 * 7 + 2;
  } else if (form.has("approx")) {
    const bool plain = form.has("ftz");
    if (form.opcode == "sqrt") {
      special(c, plain ? 2 : 5, 2, 6, 0, plain ? 1 : 2);
    } else {
      special(c, plain ? 1 : 3, 1, 5, 0, 0);
    }
  } else if (form.opcode == "rcp") {
    special(c, 8, 6, 20, 2, 0);
  } else {
    special(c, 8, 8, 20, 2, 2);
  }
}

void transcendental(InstructionClass& c, const Form& form) {
  if (is_half(form.type())) {
    special(c, is_packed_half(form.type()) ? 3 : 2, 1, 4, 0, 0);
    return;
  }
  const bool plain = form.has("ftz") || form.opcode == "tanh";
  if (is_any(form.opcode, {"sin", "cos"})) {
    special(c, 2, 2, 2, 0, 1);
  } else {
    special(c, plain ? 1 : 4, 1, 4, 0,
            0);  // the scaling of denormals is predicated off for normal values
  }
}

void integer(InstructionClass& c, const Form& form) {
  const bool wide = bits_of(form.type()) == 64;
  const std::string_view op = form.opcode;
  c.pipe = Pipe::kAlu;
  if (is_any(op, {"mul", "mad", "mul24", "mad24"})) {
    c.pipe = Pipe::kFma;  // IMAD runs beside FFMA at half its rate
    if (wide && form.has("hi")) {
      machine(c, 12, 8, 18);
    } else if (wide) {
      machine(c, op == "mul" ? 4 : 5, 3, 7);
    }
  } else if (is_any(op, {"min", "max"})) {
    machine(c, wide ? 4 : 1, wide ? 3 : 1, wide ? 5 : 1);
  } else if (is_any(op, {"shl", "shr"})) {
    machine(c, wide ? 2.5 : 1, 1, wide ? 4 : 1);
  } else if (is_any(op, {"popc", "clz", "brev", "bfind", "fns"})) {
    c.pipe = Pipe::kXu;
    machine(c, wide ? 3 : 1, 1, 4);
  } else if (is_any(op, {"bfe", "bfi"})) {
    machine(c, 2, 1, 4);
  } else if (op == "abs" || op == "sad") {
    machine(c, wide ? 4 : 1, 1, 5);
  } else {
    machine(c, wide ? 2 : 1, 1, wide ? 2 : 1);
  }
}

void conversion(InstructionClass& c, const Form& form) {
  const Type to = form.type(0);
  const Type from = form.type(1);
  if (!is_float(to) && !is_float(from)) {
    c.pipe = Pipe::kAlu;
    const bool widens = bits_of(to) == 64 && bits_of(from) <= 32;
    const bool sign = kind_of(from) == TypeKind::kSigned;
    machine(c, widens ? (sign ? 1 : 0) : (bits_of(to) >= 32 ? 0 : 1), 0, 1);
    return;
  }
  const bool narrow = is_float(to) && is_float(from) && bits_of(to) <= 32 && bits_of(from) <= 32;
  c.pipe = narrow ? Pipe::kAlu : Pipe::kXu;
  c.special = narrow ? 0 : 1;
}

struct Shape {
  double m = 0;
  double n = 0;
  double k = 0;
};

/// "m16n8k16".
Shape shape_of(const Form& form) {
  for (const std::string_view modifier : form.modifiers) {
    if (modifier.size() < 6 || modifier[0] != 'm' || modifier.find('n') == std::string_view::npos ||
        modifier.find('k') == std::string_view::npos) {
      continue;
    }
    std::array<double, 3> sides{};
    std::size_t side = 0;
    for (std::size_t i = 0; i < modifier.size() && side < 3;) {
      int value = 0;
      const auto [end, error] =
          std::from_chars(modifier.data() + i + 1, modifier.data() + modifier.size(), value);
      if (error != std::errc{}) {
        break;
      }
      sides[side++] = value;
      i = static_cast<std::size_t>(end - modifier.data());
    }
    if (side == 3) {
      return {sides[0], sides[1], sides[2]};
    }
  }
  return {};
}

std::string_view tensor_type(Type type) {
  switch (type) {
    case Type::kF16:
      return "fp16";
    case Type::kBf16:
      return "bf16";
    case Type::kTf32:
      return "tf32";
    case Type::kF64:
      return "fp64";
    case Type::kE4m3:
    case Type::kE5m2:
    case Type::kE3m2:
    case Type::kE2m3:
      return "fp8";
    case Type::kE2m1:
      return "fp4";
    case Type::kU8:
    case Type::kS8:
      return "int8";
    case Type::kU4:
    case Type::kS4:
      return "int4";
    default:
      return "";
  }
}

/// The format of the operands a and b: the types are d, a, b, c (mma) or d, a, b (wgmma); a
/// wmma.mma of fp16 lists only d and c.
std::string_view operand_format(const Form& form) {
  if (form.types.size() >= 3) {
    return tensor_type(form.type(1));
  }
  for (const std::string_view kind : form.modifiers) {
    if (kind == "kind::f16") {
      return "fp16";
    }
    if (kind == "kind::tf32") {
      return "tf32";
    }
    if (kind == "kind::f8f6f4" || kind == "kind::mxf8f6f4") {
      return "fp8";
    }
    if (kind == "kind::i8") {
      return "int8";
    }
    if (kind.starts_with("kind::mxf4")) {
      return "fp4";
    }
  }
  return "fp16";
}

void matrix(InstructionClass& c, const Form& form) {
  c.pipe = Pipe::kTensor;
  const Shape shape = shape_of(form);
  c.tensor_type = operand_format(form);
  c.tensor_flops = 2 * shape.m * shape.n * shape.k;
  if (form.has("sp")) {
    c.tensor_flops /= 2;  // dense work that is done; the peak is that of the sparse engine
  }
  if (form.opcode == "wgmma") {
    c.tensor_flops /= 4;  // four warps issue it together
    return;
  }
  const double fma = shape.m * shape.n * shape.k;
  const double one = c.tensor_type == "fp64"   ? 8 * 8 * 4
                     : c.tensor_type == "tf32" ? 16 * 8 * 8
                                               : 16 * 8 * 16;
  machine(c, std::max(1.0, fma / one));
}

/// ld, st, atom, red: one instruction; parameters come from the constant bank.
void memory(InstructionClass& c, const Form& form) {
  c.pipe = Pipe::kLsu;
  if (form.space == Space::kParam || form.space == Space::kConst) {
    c.pipe = Pipe::kUniform;
  } else if (is_any(form.opcode,
                    {"tex", "tld4", "suld", "sust", "sured", "txq", "suq", "istypep"})) {
    c.pipe = Pipe::kTex;
  } else if (is_any(form.opcode, {"prefetch", "prefetchu", "applypriority", "discard"})) {
    machine(c, 1);
  }
}

bool is_memory(std::string_view opcode) {
  return is_any(opcode, {"ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix", "tex", "tld4",
                         "suld", "sust", "sured", "prefetch", "prefetchu", "multimem",
                         "applypriority", "discard", "txq", "suq"});
}

bool is_control(std::string_view opcode) {
  return is_any(opcode, {"bra", "brx", "ret", "exit", "call", "trap", "bar", "barrier", "brkpt",
                         "nanosleep", "pmevent", "griddepcontrol", "setmaxnreg"});
}

bool is_integer_only(std::string_view opcode) {
  return is_any(
      opcode, {"and",   "or",    "xor",  "not",   "cnot", "shl",  "shr",        "shf",     "lop3",
               "prmt",  "bfe",   "bfi",  "bfind", "brev", "popc", "clz",        "fns",     "sad",
               "mul24", "mad24", "addc", "subc",  "madc", "dp4a", "dp2a",       "bmsk",    "szext",
               "rem",   "selp",  "slct", "setp",  "set",  "mapa", "getctarank", "isspacep"});
}

void scalar(InstructionClass& c, const Form& form) {
  const std::string_view op = form.opcode;
  const Type type = form.type();
  if (op == "fma" || (op == "mad" && is_float(type))) {
    float_arithmetic(c, type, 2);
  } else if (is_any(op, {"add", "sub", "mul"}) && is_float(type)) {
    float_arithmetic(c, type, 1);
  } else if (op == "div") {
    division(c, form);
  } else if (op == "rem") {
    machine(c, bits_of(type) == 64 ? 80 : 21, 16, 150);
  } else if (is_any(op, {"sqrt", "rsqrt", "rcp"})) {
    root(c, form);
  } else if (is_any(op, {"ex2", "lg2", "sin", "cos", "tanh"})) {
    transcendental(c, form);
  } else if (op == "cvt") {
    conversion(c, form);
  } else if (op == "mov" || op == "cvta") {
    c.pipe = Pipe::kNone;
    machine(c, 0, 0, bits_of(type) == 64 ? 2 : 1);
  } else if (is_any(op, {"neg", "abs", "copysign", "testp"}) && is_float(type)) {
    machine(c, op == "neg" || op == "abs" ? 0 : 1, 0, 1);  // a modifier of the operand
    c.pipe = Pipe::kAlu;
  } else if (is_any(op, {"setp", "set", "selp", "slct", "min", "max"}) && is_float(type)) {
    c.pipe = type == Type::kF64 ? Pipe::kFp64 : Pipe::kAlu;
    machine(c, type == Type::kF64 && op != "setp" ? 4 : 1);
  } else if (type == Type::kPred) {
    machine(c, 0.5, 0, 1);  // most join the compare before them
  } else {
    integer(c, form);
  }
}

void asynchronous(InstructionClass& c, const Form& form) {
  c.pipe = Pipe::kLsu;
  if (form.opcode == "cp" &&
      (form.has("commit_group") || form.has("wait_group") || form.has("wait_all"))) {
    c.pipe = Pipe::kBranch;
  }
}

}  // namespace

std::string name_of(const Form& form) {
  std::string name(form.opcode);
  for (const std::string_view modifier : form.modifiers) {
    name += '.';
    name += modifier;
  }
  return name;
}

InstructionClass classify(const Form& form) {
  InstructionClass c{.name = name_of(form), .known = form.known};
  const std::string_view op = form.opcode;
  if (is_control(op)) {
    c.pipe = Pipe::kBranch;
    if (op == "call") {
      machine(c, 4, 2, 20);
    }
  } else if (op == "shfl" || op == "vote" || op == "match" || op == "redux" || op == "activemask" ||
             op == "elect") {
    c.pipe = op == "shfl" || op == "match" ? Pipe::kLsu : op == "redux" ? Pipe::kXu : Pipe::kAlu;
  } else if (is_any(op, {"mma", "wgmma", "wmma", "tcgen05"})) {
    if ((op == "mma" || form.has("mma") || form.has("mma_async")) && shape_of(form).m > 0) {
      matrix(c, form);
    } else if (op == "wmma") {
      memory(c, form);
    } else {
      c.pipe = form.has("mma") ? Pipe::kTensor : Pipe::kBranch;
    }
  } else if (is_memory(op)) {
    memory(c, form);
  } else if (is_any(op, {"cp", "mbarrier", "fence", "membar", "st_async"})) {
    asynchronous(c, form);
  } else if (is_integer_only(op) && !is_float(form.type()) && op != "rem") {
    integer(c, form);
    if (form.type() == Type::kPred) {
      machine(c, 0.5, 0, 1);
    }
  } else {
    scalar(c, form);
  }
  return c;
}

}  // namespace mansard::frontend::ptx
