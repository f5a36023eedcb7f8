#include "frontend/ptx/interpreter/interpreter.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "frontend/ptx/interpreter/block.hpp"
#include "frontend/ptx/interpreter/program.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

std::uint64_t align(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

Location place_of(const Module& module, const Function& kernel) {
  return module.location(kernel.position,
                         kernel.position + static_cast<Position>(kernel.name.size()));
}

/// Gives every variable of the module that the kernel may use a place.
class LayoutBuilder {
 public:
  LayoutBuilder(const Module& module, const Function& kernel, Memory& memory)
      : module_(module), kernel_(kernel), memory_(memory) {
    layout_.address_of.assign(module.variables.size(), 0);
  }

  Layout build() {
    const auto own = static_cast<FunctionId>(&kernel_ - module_.functions.data());
    std::uint64_t parameters = 0;
    // Open arrays of .extern .shared begin behind all that has a size.
    for (std::size_t i = 0; i < module_.variables.size(); ++i) {
      const Variable& variable = module_.variables[i];
      const bool is_visible = variable.owner == own || variable.owner == kNone<FunctionId>;
      if (is_visible && !is_open_shared(variable)) {
        place(i, parameters);
      }
    }
    layout_.shared_bytes = align(layout_.shared_bytes, kOpenAlignment);
    for (std::size_t i = 0; i < module_.variables.size(); ++i) {
      if (is_open_shared(module_.variables[i])) {
        layout_.address_of[i] = layout_.shared_bytes;
      }
    }
    layout_.parameters.assign(parameters, std::byte{});
    return std::move(layout_);
  }

 private:
  static constexpr std::uint64_t kOpenAlignment = 16;

  static bool is_open_shared(const Variable& variable) {
    return variable.space == Space::kShared && variable.linkage == Linkage::kExtern &&
           variable.bytes() == 0;
  }

  void place(std::size_t at, std::uint64_t& parameters) {
    const Variable& variable = module_.variables[at];
    switch (variable.space) {
      case Space::kShared:
        layout_.address_of[at] = append(layout_.shared_bytes, variable);
        break;
      case Space::kLocal:
        layout_.address_of[at] = append(layout_.local_bytes, variable);
        break;
      case Space::kParam:
        layout_.address_of[at] = append(parameters, variable);
        break;
      case Space::kGlobal:
      case Space::kConst:
        layout_.address_of[at] = memory_.allocate(std::min(variable.bytes(), kMostGlobal));
        initialise(at);
        break;
      default:
        break;
    }
  }

  static constexpr std::uint64_t kMostGlobal = std::uint64_t{1} << 30;

  static std::uint64_t append(std::uint64_t& end, const Variable& variable) {
    const std::uint64_t address = align(end, variable.natural_alignment());
    end = address + std::min(variable.bytes(), kMostGlobal);
    return address;
  }

  void initialise(std::size_t at) {
    const Variable& variable = module_.variables[at];
    if (variable.initialiser.count == 0) {
      return;
    }
    std::uint64_t address = layout_.address_of[at];
    store(variable, module_.operands[variable.initialiser.first], address);
  }

  void store(const Variable& variable, const Operand& value, std::uint64_t& address) {
    if (value.kind == OperandKind::kVector) {
      for (std::uint32_t i = 0; i < value.children.count; ++i) {
        store(variable, module_.operands[value.children.first + i], address);
      }
      return;
    }
    const unsigned bytes = bytes_of(variable.type);
    auto bits = static_cast<std::uint64_t>(value.value);
    if (value.kind == OperandKind::kVariable) {
      bits += layout_.address_of[value.id];
    } else if (value.kind == OperandKind::kFloat64 && variable.type == Type::kF32) {
      bits = float_bits(Type::kF32, as_float(Type::kF64, bits), Rounding::kNearest, false);
    }
    if (std::byte* to = memory_.find(address, bytes)) {
      std::memcpy(to, &bits, std::min<std::size_t>(bytes, sizeof(bits)));
    }
    address += bytes;
  }

  const Module& module_;
  const Function& kernel_;
  Memory& memory_;
  Layout layout_;
};

/// Puts the arguments in their places; an error names the parameters there are.
std::optional<Diagnostic> bind(const Module& module, const Function& kernel, const Launch& launch,
                               Layout& layout) {
  for (const Argument& argument : launch.arguments) {
    const auto found =
        std::find_if(kernel.parameters.begin(), kernel.parameters.end(),
                     [&](VariableId id) { return module.variable(id).name == argument.name; });
    if (found == kernel.parameters.end()) {
      return Diagnostic{"ptx-argument",
                        fmt::format("'{}' has no parameter '{}'", printable(kernel.name),
                                    printable(argument.name)),
                        place_of(module, kernel),
                        {}};
    }
    const std::uint64_t size = module.variable(*found).bytes();
    const std::uint64_t offset = std::min<std::uint64_t>(argument.offset, size);
    std::memcpy(layout.parameters.data() + layout.address_of[index(*found)] + offset,
                &argument.bits, std::min<std::uint64_t>(size - offset, 8));
  }
  return std::nullopt;
}

/// What keeps a launch from being run at all.
std::optional<Diagnostic> refuse(const Module& module, const Function& kernel, const Launch& launch,
                                 const InterpreterLimits& limits, const Layout& layout) {
  const auto error = [&](std::string id, std::string message) {
    return Diagnostic{std::move(id), std::move(message), place_of(module, kernel), {}};
  };
  constexpr std::uint64_t kMostThreads = 1024;
  const std::uint64_t threads = launch.block.count();
  if (threads == 0 || threads > kMostThreads || launch.grid.count() == 0) {
    return error("ptx-launch",
                 fmt::format("a block of {} threads; expected 1 to {}", threads, kMostThreads));
  }
  const std::uint64_t shared = layout.shared_bytes + launch.dynamic_shared;
  if (shared > limits.shared_bytes || layout.local_bytes > limits.local_bytes) {
    return error("ptx-limit", "more shared or local memory than the limit allows");
  }
  const std::uint64_t bytes =
      threads * (layout.local_bytes + kernel.registers.size() * sizeof(std::uint64_t));
  if (bytes > limits.block_bytes) {
    return error("ptx-limit", "more registers and local memory than the limit allows");
  }
  for (const Register& reg : kernel.registers) {
    if (reg.width > 1 || bits_of(reg.type) > 64) {
      return error("ptx-interpreter",
                   fmt::format("register '{}' is wider than 64 bits", printable(reg.name)));
    }
  }
  const auto beyond =
      std::find_if(launch.blocks.begin(), launch.blocks.end(),
                   [&](std::uint64_t block) { return block >= launch.grid.count(); });
  if (beyond != launch.blocks.end()) {
    return error("ptx-launch", fmt::format("block {} is beyond the grid", *beyond));
  }
  return std::nullopt;
}

void sum_flops(const Function& kernel, Counts& counts) {
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const FlopCounts each = flops_of(*kernel.instructions[i].form);
    const InstructionCounts& executed = counts.instructions[i];
    counts.flops.fp16 += each.fp16 * executed.threads;
    counts.flops.fp32 += each.fp32 * executed.threads;
    counts.flops.fp64 += each.fp64 * executed.threads;
    counts.flops.tensor += each.tensor * executed.active_warps;
  }
}

std::uint64_t shape_product(std::string_view shape) {
  std::uint64_t product = 1;
  std::uint64_t number = 0;
  for (const char c : shape) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + static_cast<std::uint64_t>(c - '0');
    } else if (number != 0) {
      product *= number;
      number = 0;
    }
  }
  return product * std::max<std::uint64_t>(number, 1);
}

bool is_shape(std::string_view modifier) {
  return modifier.size() > 4 && modifier.front() == 'm' && modifier[1] >= '0' &&
         modifier[1] <= '9' && modifier.find('k') != std::string_view::npos;
}

}  // namespace

FlopCounts flops_of(const Form& form) {
  FlopCounts flops;
  const bool is_matrix =
      form.opcode == "mma" || form.opcode == "wgmma" || (form.opcode == "wmma" && form.has("mma"));
  if (is_matrix) {
    const auto shape = std::find_if(form.modifiers.begin(), form.modifiers.end(), is_shape);
    if (shape != form.modifiers.end()) {
      // A warpgroup of wgmma is four warps.
      const std::uint64_t warps = form.opcode == "wgmma" ? 4 : 1;
      flops.tensor = 2 * shape_product(*shape) / warps;
    }
    return flops;
  }
  const bool is_fused = form.opcode == "fma" || form.opcode == "mad";
  if (!is_fused && form.opcode != "add" && form.opcode != "sub" && form.opcode != "mul") {
    return flops;
  }
  const Type type = form.type(0);
  const std::uint64_t each =
      (is_fused ? 2U : 1U) * (kind_of(type) == TypeKind::kFloatPacked ? 2U : 1U);
  switch (type) {
    case Type::kF64:
      flops.fp64 = each;
      break;
    case Type::kF32:
    case Type::kF32x2:
      flops.fp32 = each;
      break;
    case Type::kF16:
    case Type::kF16x2:
    case Type::kBf16:
    case Type::kBf16x2:
      flops.fp16 = each;
      break;
    default:
      break;
  }
  return flops;
}

namespace {

/// Whether the variables of the module fit the limit; sizes are the file's and may be anything.
bool fits(const Module& module, std::uint64_t limit) {
  std::uint64_t total = 0;
  for (const Variable& variable : module.variables) {
    total += std::min(variable.bytes(), limit + 1);
    if (total > limit) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<Counts> interpret(const Module& module, const Function& kernel, const Launch& launch,
                         Memory& memory, const InterpreterLimits& limits) {
  if (!fits(module, limits.global_bytes)) {
    return failure("ptx-limit", "more bytes of variables than the limit allows",
                   place_of(module, kernel));
  }
  Layout layout = LayoutBuilder(module, kernel, memory).build();
  if (std::optional<Diagnostic> refused = refuse(module, kernel, launch, limits, layout)) {
    return failure({std::move(*refused)});
  }
  if (std::optional<Diagnostic> unknown = bind(module, kernel, launch, layout)) {
    return failure({std::move(*unknown)});
  }
  const Program program = prepare(kernel);
  Counts counts;
  counts.instructions.resize(kernel.instructions.size());
  Footprint footprint;
  std::set<std::string> not_computed;
  Tally tally{counts, footprint, not_computed, limits.warp_instructions};
  const std::uint64_t blocks = launch.blocks.empty() ? launch.grid.count() : launch.blocks.size();
  for (std::uint64_t i = 0; i < blocks; ++i) {
    Stop stop;
    const BlockInput input{module, program, launch,
                           layout, memory,  launch.blocks.empty() ? i : launch.blocks[i]};
    if (!run_block(input, tally, stop)) {
      const Location where =
          stop.instruction == nullptr
              ? place_of(module, kernel)
              : module.location(stop.instruction->position, stop.instruction->end);
      return failure(std::move(stop.id), std::move(stop.message), where);
    }
  }
  counts.blocks = blocks;
  counts.read_sectors = footprint.read.size();
  counts.written_sectors = footprint.written.size();
  counts.not_computed.assign(not_computed.begin(), not_computed.end());
  sum_flops(kernel, counts);
  return counts;
}

}  // namespace mansard::frontend::ptx
