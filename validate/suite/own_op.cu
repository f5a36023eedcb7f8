#include <cmath>
#include <set>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "validate/suite/own_op.cuh"

namespace mansard::measure {
namespace {

using Role = Operand::Role;

bool is_written(const Operand& operand) {
  return operand.role == Role::kOutput || operand.role == Role::kInOut;
}

std::size_t bytes_of(const Operand& operand) {
  return operand.count *
         (operand.dtype == "index" || operand.dtype == "angle" ? 4 : element_bytes(operand.dtype));
}

void fill(Lab& lab, const Operand& operand, void* data) {
  if (operand.role == Role::kOutput) {
    poison(data, bytes_of(operand), lab.stream());
  } else if (operand.dtype == "index") {
    fill_indices(static_cast<std::uint32_t*>(data), operand.count, operand.limit, lab.seed(),
                 lab.stream());
  } else if (operand.dtype == "angle") {
    fill_angles(static_cast<float*>(data), operand.count, operand.limit, lab.seed(), lab.stream());
  } else {
    fill_random(operand.dtype, data, operand.count, lab.seed(), lab.stream());
  }
}

/// The pointers of every set; shared operands are the same in all.
std::vector<std::vector<void*>> make_sets(Lab& lab, std::span<const Operand> operands, int sets) {
  std::vector<std::vector<void*>> result(sets);
  for (const Operand& operand : operands) {
    for (int set = 0; set < sets; ++set) {
      const bool reuse = operand.role == Role::kShared && set > 0;
      const std::size_t index = result[set].size();
      void* const data = reuse ? result[0][index] : lab.arena().take(bytes_of(operand));
      if (!reuse) {
        fill(lab, operand, data);
      }
      result[set].push_back(data);
    }
  }
  return result;
}

template <typename T>
std::vector<float> to_float(const void* data, std::size_t count, cudaStream_t stream) {
  const std::vector<T> values = download(static_cast<const T*>(data), count, stream);
  std::vector<float> result;
  for (const T& value : values) {
    result.push_back(static_cast<float>(value));
  }
  return result;
}

std::vector<float> fetch(const Operand& operand, const void* data, cudaStream_t stream) {
  if (operand.dtype == "bf16") {
    return to_float<__nv_bfloat16>(data, operand.count, stream);
  }
  if (operand.dtype == "fp16") {
    return to_float<__half>(data, operand.count, stream);
  }
  return operand.dtype == "index" ? to_float<std::uint32_t>(data, operand.count, stream)
                                  : to_float<float>(data, operand.count, stream);
}

HostTensors fetch_all(std::span<const Operand> operands, std::span<void* const> data,
                      cudaStream_t stream) {
  HostTensors result;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    result.push_back(fetch(operands[i], data[i], stream));
  }
  return result;
}

void require_close(std::string_view name, std::span<const float> found,
                   std::span<const float> expected, double tolerance) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double allowed = tolerance * (std::abs(expected[i]) + 1e-2);
    if (!(std::abs(found[i] - expected[i]) <= allowed)) {
      throw DeviceError(std::string(name) + " is wrong at " + std::to_string(i) + ": found " +
                            std::to_string(found[i]) + ", expected " + std::to_string(expected[i]),
                        std::source_location::current());
    }
  }
}

__global__ void count_poison_kernel(const std::uint16_t* data, std::size_t count, unsigned* found) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    if (data[i] == 0xffff) {
      atomicAdd(found, 1);
    }
  }
}

/// Every element of the outputs has been written: none is the poison still.
void require_written(Lab& lab, std::span<const Operand> operands, std::span<void* const> data) {
  auto* const found = lab.arena().take_array<unsigned>(1);
  check(cudaMemsetAsync(found, 0, sizeof *found, lab.stream()));
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].role == Role::kOutput) {
      count_poison_kernel<<<1024, 256, 0, lab.stream()>>>(
          static_cast<const std::uint16_t*>(data[i]), bytes_of(operands[i]) / 2, found);
      check_launch();
    }
  }
  // The low half of an fp32 may be all ones by chance.
  constexpr unsigned kByChance = 1000;
  const unsigned count = download(found, 1, lab.stream()).front();
  const bool halves = operands.back().dtype == "bf16" || operands.back().dtype == "fp16";
  if (count > (halves ? 0 : kByChance + bytes_of(operands.back()) / 10000)) {
    throw DeviceError(std::to_string(count) + " elements were never written",
                      std::source_location::current());
  }
}

double rotating_bytes(std::span<const Operand> operands) {
  double bytes = 0;
  for (const Operand& operand : operands) {
    bytes += operand.role == Role::kShared ? 0 : static_cast<double>(bytes_of(operand));
  }
  return bytes;
}

}  // namespace

const OwnOp* find_own_op(std::string_view name) {
  for (const std::span<const OwnOp> ops : {stream_ops(), norm_ops(), lookup_ops()}) {
    for (const OwnOp& op : ops) {
      if (op.name == name) {
        return &op;
      }
    }
  }
  return nullptr;
}

void check_own_op(Lab& lab, const OwnOp& op, std::string_view dtype) {
  Row small = op.small;
  small.set("dtype", dtype);
  const std::vector<Operand> operands = op.operands(small);
  const std::vector<void*> data = make_sets(lab, operands, 1).front();
  HostTensors expected = fetch_all(operands, data, lab.stream());
  op.launch(small, data, lab.stream());
  const HostTensors found = fetch_all(operands, data, lab.stream());
  op.reference(small, expected);
  const double tolerance = dtype == "fp32" ? 1e-3 : dtype == "fp16" ? 4e-3 : 2e-2;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (is_written(operands[i])) {
      require_close(op.name, found[i], expected[i], tolerance);
    }
  }
}

void measure_own_op(Lab& lab, const Row& row, const OwnOp& op, bool warm) {
  Row measured = row;
  measured.set("implementation", "mansard-kernels")
      .set("mode", "graph")
      .set("cache", warm ? "warm" : "cold")
      .set("flag", warm ? "fits_l2" : "");
  const std::vector<Operand> operands = op.operands(row);
  const double bytes = rotating_bytes(operands);
  if (lab.skips(measured) || (warm && !lab.fits_l2(bytes))) {
    return;
  }
  static std::set<std::pair<std::string_view, std::string>> checked;
  if (checked.emplace(op.name, row.text("dtype")).second) {
    check_own_op(lab, op, row.text("dtype"));
  }
  const Rotation rotation = warm ? Rotation{} : lab.rotation(bytes);
  const std::vector<std::vector<void*>> sets = make_sets(lab, operands, rotation.sets);
  const auto call = [&](cudaStream_t stream, int turn) { op.launch(row, sets[turn], stream); };
  call(lab.stream(), 0);
  require_written(lab, operands, sets[0]);
  lab.record(measured, lab.time({call, rotation}));
}

}  // namespace mansard::measure
