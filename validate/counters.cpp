#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "validate/counts.hpp"
#include "validate/csv.hpp"

namespace mansard::validate {
namespace {

constexpr std::string_view kMark = "mark_kernel";

/// Where a column is added, and how often.
struct Counter {
  std::string_view column;
  double Counted::* field;
  double weight = 1;
};

#define MANSARD_SCALAR(op, weight)                                                          \
  Counter {                                                                                 \
    "smsp__sass_thread_inst_executed_op_" op "_pred_on.sum", &Counted::scalar_flops, weight \
  }
constexpr std::array kCounters{
    Counter{"dram__bytes_read.sum", &Counted::dram_read},
    Counter{"dram__bytes_write.sum", &Counted::dram_written},
    Counter{"sm__ops_path_tensor_src_fp16.sum", &Counted::tensor_flops},
    Counter{"sm__ops_path_tensor_src_bf16_dst_fp32.sum", &Counted::tensor_flops},
    Counter{"sm__ops_path_tensor_src_tf32_dst_fp32.sum", &Counted::tensor_flops},
    Counter{"sm__ops_path_tensor_src_fp64.sum", &Counted::tensor_flops},
    Counter{"sm__ops_path_tensor_src_int8.sum", &Counted::tensor_flops},
    Counter{"sm__ops_path_tensor_src_fp8_sparsity_off.sum", &Counted::tensor_flops},
    MANSARD_SCALAR("ffma", 2),
    MANSARD_SCALAR("fadd", 1),
    MANSARD_SCALAR("fmul", 1),
    MANSARD_SCALAR("dfma", 2),
    MANSARD_SCALAR("dadd", 1),
    MANSARD_SCALAR("dmul", 1),
    MANSARD_SCALAR("hfma", 2),
    MANSARD_SCALAR("hadd", 1),
    MANSARD_SCALAR("hmul", 1),
};
#undef MANSARD_SCALAR

/// "536,879,360" as a number.
std::optional<double> number(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

/// "(12, 1, 1)" as 12.
std::size_t grid_x(const std::string& text) {
  const std::size_t begin = text.find_first_of("0123456789");
  std::size_t value = 0;
  if (begin != std::string::npos) {
    std::from_chars(text.data() + begin, text.data() + text.size(), value);
  }
  return value;
}

/// Of a unit as the table has it: "byte", "Kbyte", "Mbyte", "Gbyte".
double scale_of(const std::string& unit) {
  constexpr std::string_view kByte = "byte";
  if (unit.size() <= kByte.size() || !unit.ends_with(kByte)) {
    return 1;
  }
  switch (std::tolower(static_cast<unsigned char>(unit.front()))) {
    case 'k':
      return 1e3;
    case 'm':
      return 1e6;
    case 'g':
      return 1e9;
    default:
      return 1;
  }
}

class ProfileReader {
 public:
  explicit ProfileReader(std::shared_ptr<const SourceFile> file) : file_(std::move(file)) {}

  Result<std::vector<Counted>> read() {
    const std::size_t begin = table();
    if (begin == std::string::npos) {
      return failure("profile", fmt::format("{}: no table of Nsight Compute in it", file_->name),
                     {}, "take it with ncu --csv --page raw");
    }
    CsvScanner scanner(file_, begin);
    header_ = *scanner.row();
    const auto units = scanner.row();
    find_columns();
    if (!missing_.empty() || !units) {
      return failure("missing-column",
                     fmt::format("a profile of counts needs the columns {}",
                                 missing_.empty() ? "of a table" : missing_),
                     header_.front().location,
                     "validate/README.md has the command that takes them");
    }
    units_ = *units;
    while (const auto cells = scanner.row()) {
      if (cells->size() == header_.size()) {
        add(*cells);
      }
    }
    if (rows_.empty()) {
      return failure("profile", fmt::format("{}: no kernel {} in it", file_->name, kMark), {},
                     "profile mansard-measure suite --profile");
    }
    return std::move(rows_);
  }

 private:
  /// Where the header begins: what the program itself said stands before it.
  [[nodiscard]] std::size_t table() const {
    constexpr std::string_view kHeader = "\"ID\",";
    const std::string& text = file_->text;
    if (text.starts_with(kHeader)) {
      return 0;
    }
    const std::size_t found = text.find("\n" + std::string(kHeader));
    return found == std::string::npos ? found : found + 1;
  }

  void find_columns() {
    name_ = column("Kernel Name");
    grid_ = column("Grid Size");
    for (const Counter& counter : kCounters) {
      columns_.push_back(column(counter.column));
    }
  }

  std::size_t column(std::string_view name) {
    const auto found = std::find_if(header_.begin(), header_.end(),
                                    [&](const Cell& cell) { return cell.text == name; });
    if (found == header_.end()) {
      missing_ += fmt::format("{}'{}'", missing_.empty() ? "" : ", ", name);
    }
    return static_cast<std::size_t>(found - header_.begin());
  }

  void add(const std::vector<Cell>& cells) {
    if (cells[name_].text.find(kMark) != std::string::npos) {
      rows_.push_back({.row = grid_x(cells[grid_].text)});
      return;
    }
    if (rows_.empty()) {
      return;
    }
    Counted& row = rows_.back();
    ++row.kernels;
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      const double value = number(cells[columns_[i]].text).value_or(0);
      row.*kCounters[i].field += kCounters[i].weight * value * scale_of(units_[columns_[i]].text);
    }
  }

  std::shared_ptr<const SourceFile> file_;
  std::vector<Cell> header_;
  std::vector<Cell> units_;
  std::size_t name_ = 0;
  std::size_t grid_ = 0;
  std::vector<std::size_t> columns_;
  std::vector<Counted> rows_;
  std::string missing_;
};

}  // namespace

Result<std::vector<Counted>> read_counters(std::shared_ptr<const SourceFile> file) {
  return ProfileReader(std::move(file)).read();
}

}  // namespace mansard::validate
