#include <array>
#include <string_view>
#include <utility>

#include "cli/views/machine_cells.hpp"
#include "cli/views/machines.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"

namespace mansard::cli {
namespace {

using hardware::Machine;

constexpr double kTera = 1e12;

/// The dense 16-bit rate with fp32 accumulation: bf16 where the machine has it, else fp16.
Cell sixteen_bit_rate(const Machine& machine) {
  for (const std::string_view path : {"matrix.bf16", "matrix.fp16", "vector.bf16", "vector.fp16"}) {
    if (machine.find(path) != nullptr) {
      const auto rate = machine.known(path);
      return rate ? Cell::number(*rate, ratio(*rate / kTera)) : Cell::unknown();
    }
  }
  return Cell::none();
}

Records list(std::span<const Machine> machines) {
  constexpr auto kLeft = TextTable::Align::kLeft;
  Records records;
  records.column({"name", "machine", kLeft});
  records.column({"title", "", kLeft});
  records.column({"vendor", "", kLeft});
  records.column({"architecture", "architecture", kLeft});
  records.column({"released", "released", kLeft});
  records.column({"sm_count", "SMs"});
  records.column({"memory", "memory", kLeft});
  records.column({"capacity_bytes", "capacity"});
  records.column({"bandwidth_bytes_per_s", "bandwidth"});
  records.column({"dense_16bit_flops_per_s", "16-bit\nTFLOP/s"});
  records.column({"power_w", "power"});
  for (const Machine& machine : machines) {
    const hardware::Tier& main = machine.main();
    records.add({Cell::text(machine.name), Cell::text(machine.title), Cell::text(machine.vendor),
                 Cell::text(machine.architecture), Cell::text(machine.released),
                 figure(machine, "sm_count"),
                 Cell::text(main.technology.empty() ? main.name : main.technology),
                 figure(machine, "main.capacity"), figure(machine, "main.bandwidth"),
                 sixteen_bit_rate(machine), figure(machine, "power.cap")});
  }
  return records;
}

constexpr std::string_view kDefinitions =
    "16-bit: dense rate of the matrix engine in bf16, or in fp16 where there is no bf16; ? not "
    "known; "
    "- none";

}  // namespace

std::string machine_list(std::span<const Machine> machines, Format format) {
  const Records records = list(machines);
  switch (format) {
    case Format::kJson:
      return json_text({{"schema", "mansard.machines/1"}, {"machines", records.json()}});
    case Format::kCsv:
      return records.csv();
    case Format::kTable:
      break;
  }
  return records.table() + "\n" + paragraph(kDefinitions) +
         "see: mansard machines show NAME, mansard machines compare NAME...\n";
}

}  // namespace mansard::cli
