#include <optional>

#include <fmt/format.h>

#include "frontend/ptx/interpreter/block_impl.hpp"
#include "frontend/ptx/special_registers.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {

/// ldmatrix and stmatrix of 8x8 matrices of 16 bits: lanes 8i to 8i+7 give the rows of matrix i.
bool Block::move_matrix(Warp& warp, const Step& step, Mask mask) {
  constexpr unsigned kRow = 16;
  constexpr unsigned kRows = 8;
  const bool loads = step.action == Action::kMatrixLoad;
  const std::span<const Operand> given = operands(step);
  const std::span<const Operand> registers = parts(given[loads ? 0 : 1]);
  const Operand& address = given[loads ? 1 : 0];
  Lanes where = addresses(warp, address, mask);
  const Space space = settle_space(step, address, mask, where);
  const auto rows = static_cast<unsigned>(registers.size()) * kRows;
  const Mask pointing = rows >= kLanes ? ~Mask{0} : (Mask{1} << rows) - 1;
  if (mask != ~Mask{0}) {
    return fail("ptx-interpreter", "a matrix instruction needs all lanes of a warp",
                step.instruction);
  }
  if (!touch(warp, step, space, where, pointing, kRow)) {
    return false;
  }
  const bool transposes = step.instruction->has("trans");
  for (unsigned matrix = 0; matrix < registers.size(); ++matrix) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      std::uint64_t bits = loads ? 0 : read(warp, registers[matrix], lane, Type::kB32);
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned minor = lane % 4 * 2 + half;
        const unsigned row = matrix * kRows + (transposes ? minor : lane / 4);
        const unsigned column = transposes ? lane / 4 : minor;
        std::byte* memory = find(warp, space, where[row], kRow, row) + std::size_t{column} * 2;
        if (loads) {
          bits |= load_bits(memory, 2) << (16 * half);
        } else {
          store_bits(memory, bits >> (16 * half), 2);
        }
      }
      if (loads) {
        write(warp, registers[matrix], lane, bits);
      }
    }
  }
  return true;
}

Fragment Block::fragment(const Warp& warp, const Operand& operand) const {
  Fragment fragment;
  for (const Operand& part : parts(operand)) {
    Lanes& lanes = fragment.emplace_back();
    each_lane(~Mask{0}, [&](unsigned lane) { lanes[lane] = read(warp, part, lane, Type::kB32); });
  }
  return fragment;
}

/// A matrix product. Where it is not computed the accumulators come out as they went in.
bool Block::multiply(Warp& warp, const Step& step, Mask mask) {
  const std::span<const Operand> given = operands(step);
  const std::span<const Operand> to = parts(given[0]);
  const bool is_whole = mask == ~Mask{0} && step.action == Action::kMatrixProduct;
  Fragment result = fragment(warp, given[3]);
  std::optional<Fragment> product;
  if (is_whole) {
    product = multiply_matrices(*step.instruction->form, fragment(warp, given[1]),
                                fragment(warp, given[2]), result);
  }
  if (product) {
    result = *std::move(product);
  } else {
    note_not_computed(step);
  }
  for (std::size_t i = 0; i < to.size() && i < result.size(); ++i) {
    each_lane(mask, [&](unsigned lane) { write(warp, to[i], lane, result[i][lane]); });
  }
  return true;
}

bool Block::tile(Warp& warp, const Step& step, Mask mask) {
  const Form& form = *step.instruction->form;
  if (form.has("mma")) {
    return multiply(warp, step, mask);
  }
  note_not_computed(step);
  return tile_access(warp, step, mask);
}

/// A tile of wmma: each of its rows (or columns) is one run of bytes.
bool Block::tile_access(Warp& warp, const Step& step, Mask mask) {
  const Form& form = *step.instruction->form;
  const bool loads = form.has("load");
  const std::span<const Operand> given = operands(step);
  const Operand& address = given[loads ? 1 : 0];
  Lanes where = addresses(warp, address, mask);
  const Space space = settle_space(step, address, mask, where);
  unsigned m = 0;
  unsigned n = 0;
  unsigned k = 0;
  read_shape(form, m, n, k);
  const unsigned rows = form.has("b") ? k : m;
  const unsigned columns = form.has("a") ? k : n;
  const bool by_row = form.has("row");
  const unsigned runs = by_row ? rows : columns;
  const unsigned length = by_row ? columns : rows;
  const unsigned bytes = length * bits_of(form.type()) / 8;
  std::uint64_t stride = length;
  if (given.size() > 2) {
    stride = read(warp, given[2], first_lane(mask), Type::kU32);
  }
  const std::uint64_t base = where[first_lane(mask)];
  for (unsigned run = 0; run < runs && run < kLanes; ++run) {
    where[run] = base + run * stride * bits_of(form.type()) / 8;
  }
  const Mask pointing = runs >= kLanes ? ~Mask{0} : (Mask{1} << runs) - 1;
  if (bytes == 0 || bytes > 2 * kSectorBytes) {
    return fail("ptx-interpreter", fmt::format("'{}' is not interpreted", printable(text_of(step))),
                step.instruction);
  }
  if (!touch(warp, step, space, where, pointing, bytes)) {
    return false;
  }
  if (loads) {
    for (const Operand& value : parts(given[0])) {
      each_lane(mask, [&](unsigned lane) { write(warp, value, lane, 0); });
    }
  }
  return true;
}

void Block::read_shape(const Form& form, unsigned& m, unsigned& n, unsigned& k) {
  for (const std::string_view modifier : form.modifiers) {
    const std::size_t at_n = modifier.find('n');
    const std::size_t at_k = modifier.find('k');
    if (modifier.front() == 'm' && at_n != std::string_view::npos &&
        at_k != std::string_view::npos) {
      m = number(modifier.substr(1, at_n - 1));
      n = number(modifier.substr(at_n + 1, at_k - at_n - 1));
      k = number(modifier.substr(at_k + 1));
    }
  }
}

unsigned Block::number(std::string_view digits) {
  unsigned value = 0;
  for (const char c : digits) {
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value;
}
}  // namespace mansard::frontend::ptx
