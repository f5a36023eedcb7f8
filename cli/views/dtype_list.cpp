#include <fmt/format.h>

#include "cli/views/op_kinds.hpp"
#include "cli/views/records.hpp"
#include "ir/dtype.hpp"

namespace mansard::cli {
namespace {

double bits_with_scales(const ir::Dtype& dtype) {
  const ir::BlockScale& scale = dtype.scale;
  return scale.elements == 0 ? dtype.bits
                             : dtype.bits + scale.scale_bits / (scale.elements * scale.rows);
}

/// "8 bits a 32", "32 bits a 128x128".
std::string scale_text(const ir::BlockScale& scale) {
  const std::string block = scale.rows > 1 ? fmt::format("{}x{}", scale.rows, scale.elements)
                                           : fmt::format("{}", scale.elements);
  return fmt::format("{} bits a {}", scale.scale_bits, block);
}

Records list() {
  constexpr auto kLeft = TextTable::Align::kLeft;
  Records records;
  records.column({"name", "dtype", kLeft});
  records.column({"bits", "bits"});
  records.column({"bits_with_scales", "with scales"});
  records.column({"scale", "scale", kLeft});
  records.column({"arithmetic", "computes as", kLeft});
  records.column({"description", "", kLeft});
  records.column({"", "description", kLeft});
  for (const ir::Dtype& dtype : ir::dtypes()) {
    const double whole = bits_with_scales(dtype);
    records.add({Cell::text(dtype.name), Cell::number(dtype.bits, fmt::format("{}", dtype.bits)),
                 Cell::number(whole, fmt::format("{:.6g}", whole)),
                 dtype.scale.elements == 0 ? Cell::none() : Cell::text(scale_text(dtype.scale)),
                 dtype.arithmetic.empty() ? Cell::none() : Cell::text(dtype.arithmetic),
                 Cell::text(dtype.description), Cell::text(dtype.description)});
  }
  return records;
}

constexpr std::string_view kDefinitions =
    "with scales: bits of an element and its share of the block's scale and zero point; computes "
    "as: the "
    "rate of a machine that it uses, - if it is only stored, and dequantised to the other "
    "operand's dtype";

}  // namespace

std::string dtype_list(Format format) {
  const Records records = list();
  switch (format) {
    case Format::kJson:
      return json_text({{"schema", "mansard.dtypes/1"}, {"dtypes", records.json()}});
    case Format::kCsv:
      return records.csv();
    case Format::kTable:
      break;
  }
  return records.table() + "\n" + paragraph(kDefinitions);
}

}  // namespace mansard::cli
