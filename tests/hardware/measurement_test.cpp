#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/hardware/machines.hpp"

namespace mansard::hardware {
namespace {

namespace fs = std::filesystem;

using Row = std::map<std::string, std::string>;

/// Rows of a file of measurements; the columns read here come before any quoted one.
std::vector<Row> read_rows(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> header;
  std::vector<Row> rows;
  for (std::string line, cell; std::getline(file, line);) {
    std::istringstream cells(line);
    Row row;
    std::vector<std::string> values;
    while (std::getline(cells, cell, ',')) {
      values.push_back(cell);
    }
    if (header.empty()) {
      header = values;
      continue;
    }
    for (std::size_t i = 0; i < std::min(header.size(), values.size()); ++i) {
      row[header[i]] = values[i];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

double number(const Row& row, const std::string& column, double otherwise) {
  const auto found = row.find(column);
  return found == row.end() || found->second.empty() ? otherwise : std::stod(found->second);
}

/// Bytes of a weight and of an activation, and the dtype whose rate a matmul computes at.
struct Format {
  double weight = 0;
  double activation = 0;
  std::string arithmetic;
};

Format format_of(const std::string& dtype) {
  static const std::map<std::string, Format> formats = {
      {"fp32", {4, 4, "fp32"}},      {"tf32", {4, 4, "tf32"}},
      {"bf16", {2, 2, "bf16"}},      {"fp16", {2, 2, "fp16"}},
      {"fp8", {1, 1, "fp8"}},        {"fp8_block", {1, 1, "fp8"}},
      {"int8", {1, 1, "int8"}},      {"nvfp4", {0.5625, 0.5625, "fp4"}},
      {"int4_wo", {0.5, 2, "bf16"}}, {"w4a16_mxfp4", {0.5, 2, "bf16"}}};
  return formats.at(dtype);
}

/// Every rate and bandwidth of a machine that its rows ask for, looked up once.
class Peaks {
 public:
  explicit Peaks(const std::string& machine) : machine_(machine_named(machine)) {}

  double rate(const std::string& dtype) {
    const bool matrix = machine_.find("matrix." + dtype) != nullptr;
    return peak((matrix ? "matrix." : "vector.") + dtype);
  }
  double bandwidth() { return peak("main.bandwidth"); }
  double cache() { return peak(machine_.last_level()->name + ".capacity"); }

 private:
  double peak(const std::string& path) {
    const auto [found, fresh] = known_.emplace(path, 0);
    if (fresh) {
      found->second = peak_at(machine_, path);
    }
    return found->second;
  }

  Machine machine_;
  std::map<std::string, double> known_;
};

/// How often the row was faster than 98 % of the time that the peaks allow; 1 or less is sound.
double excess(const Row& row, Peaks& peaks) {
  const Format format = format_of(row.at("dtype"));
  const double b = number(row, "batch", 1);
  const double m = number(row, "m", 0);
  const double n = number(row, "n", 0);
  const double k = number(row, "k", 0);
  const double seconds =
      (number(row, "median_us", 0) + number(row, "resolution_us", 0)) / (1e6 * 0.98);
  const double output = row.at("dtype") == "fp32" || row.at("dtype") == "tf32" ? 4 : 1;
  const double bytes = b * (m * k * format.activation + n * k * format.weight + m * n * output);
  const double compute = 2 * b * m * n * k / peaks.rate(format.arithmetic) / seconds;
  // Operands that the cache holds from one replay to the next need not cross the device memory.
  const bool warm = bytes <= 1.1 * peaks.cache();
  return std::max(compute, warm ? 0 : bytes / peaks.bandwidth() / seconds);
}

}  // namespace

TEST_CASE("no measured matmul beats the peaks of its machine file", "[hardware]") {
  const char* shared = std::getenv("MANSARD_SHARED");
  if (shared == nullptr) {
    std::cout << "skipped: MANSARD_SHARED is not set\n";
    return;
  }
  std::map<std::string, Peaks> machines;
  std::size_t seen = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(shared) / "data/measurements")) {
    for (const Row& row : read_rows(entry.path())) {
      if (row.at("op") != "matmul" || number(row, "m", 0) == 0) {
        continue;
      }
      const std::string& machine = row.at("machine");
      Peaks& peaks = machines.try_emplace(machine, machine).first->second;
      const double ratio = excess(row, peaks);
      ++seen;
      if (ratio > 1) {
        CAPTURE(entry.path().filename(), row.at("dtype"), row.at("m"), row.at("n"), row.at("k"));
        CHECK(ratio <= 1);
      }
    }
  }
  CHECK(seen > 20000);
}

}  // namespace mansard::hardware
