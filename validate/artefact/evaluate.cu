/// Evaluates a model that `mansard compile --emit ptx` wrote, on a GPU:
///
///     evaluate MODEL.ptx POINTS.csv INPUTS [POINTS]
///
/// POINTS.csv is what `mansard sweep --interpret --format csv` prints: a column for each of INPUTS
/// inputs, then the outputs. First those points are evaluated and must agree; then POINTS points
/// (default 2^34) of the grid between the least and greatest value of each input are, each output
/// reduced to its least, greatest and sum on the device. Exit code 1 if a value differs by a bit.
#include <algorithm>
#include <cfloat>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <cuda.h>

namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kChunk = std::uint64_t{1}
                                 << 21U;  ///< Columns of a chunk stay in the L2 cache.
constexpr int kMostInputs = 8;

void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) {
    const char* text = nullptr;
    cuGetErrorString(result, &text);
    std::fprintf(stderr, "%s: %s\n", what, text == nullptr ? "unknown error" : text);
    std::exit(2);
  }
}
void check(cudaError_t result, const char* what) {
  if (result != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
    std::exit(2);
  }
}

/// The values that one input takes on the grid.
struct Steps {
  double first = 0;
  double step = 0;
  std::uint64_t count = 1;
};
struct Grid {
  Steps inputs[kMostInputs];
  int size = 0;
};

struct Totals {
  double least;
  double greatest;
  double sum;
};

/// The inputs of points [first, first + n), the last input changing fastest.
__global__ void fill(Grid grid, std::uint64_t first, std::uint64_t n, double* const* in) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n; i += stride) {
    std::uint64_t rest = first + i;
    for (int k = grid.size - 1; k >= 0; --k) {
      const Steps steps = grid.inputs[k];
      in[k][i] = steps.first + static_cast<double>(rest % steps.count) * steps.step;
      rest /= steps.count;
    }
  }
}

__device__ Totals joined(Totals a, Totals b) {
  return {fmin(a.least, b.least), fmax(a.greatest, b.greatest), a.sum + b.sum};
}

/// Adds n values to a block's totals; one launch follows the other.
__global__ void reduce(const double* values, std::uint64_t n, Totals* totals) {
  __shared__ Totals warps[kThreads / 32];
  Totals mine{DBL_MAX, -DBL_MAX, 0};
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n; i += stride) {
    mine = joined(mine, {values[i], values[i], values[i]});
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    mine = joined(mine, {__shfl_down_sync(~0U, mine.least, lanes),
                         __shfl_down_sync(~0U, mine.greatest, lanes),
                         __shfl_down_sync(~0U, mine.sum, lanes)});
  }
  if (threadIdx.x % 32 == 0) {
    warps[threadIdx.x / 32] = mine;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < kThreads / 32; ++w) {
      mine = joined(mine, warps[w]);
    }
    totals[blockIdx.x] = joined(totals[blockIdx.x], mine);
  }
}

/// Arrays of doubles on the device, and the array of their addresses there.
class Columns {
 public:
  Columns(std::size_t count, std::size_t length) : columns_(count) {
    for (double*& column : columns_) {
      check(cudaMalloc(&column, length * sizeof(double)), "cudaMalloc");
    }
    check(cudaMalloc(&addresses_, count * sizeof(double*)), "cudaMalloc");
    check(cudaMemcpy(addresses_, columns_.data(), count * sizeof(double*), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }
  double* operator[](std::size_t i) const { return columns_[i]; }
  double** addresses() const { return addresses_; }

 private:
  std::vector<double*> columns_;
  double** addresses_ = nullptr;
};

struct Points {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;
  std::size_t size() const { return columns.empty() ? 0 : columns.front().size(); }
};

Points read_points(const char* path) {
  Points points;
  std::ifstream file(path);
  std::string line;
  std::string cell;
  std::getline(file, line);
  for (std::istringstream cells(line); std::getline(cells, cell, ',');) {
    points.names.push_back(cell);
  }
  points.columns.resize(points.names.size());
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    for (std::size_t i = 0; i < points.columns.size() && std::getline(cells, cell, ','); ++i) {
      points.columns[i].push_back(std::strtod(cell.c_str(), nullptr));
    }
  }
  return points;
}

Steps steps_between(const std::vector<double>& values) {
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const bool whole = std::all_of(values.begin(), values.end(),
                                 [](double v) { return std::floor(v) == v && v < 1e6; });
  const std::uint64_t count =
      whole ? static_cast<std::uint64_t>(*greatest - *least) + 1 : 1U << 20U;
  return {*least, count > 1 ? (*greatest - *least) / static_cast<double>(count - 1) : 0, count};
}

class Model {
 public:
  explicit Model(const char* path) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto begin = std::chrono::steady_clock::now();
    check(cuModuleLoadData(&module_, text.c_str()), "cuModuleLoadData");
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    check(cuModuleGetFunction(&function_, module_, "mansard_evaluate"), "cuModuleGetFunction");
    int registers = 0;
    cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function_);
    std::printf("%s: loaded in %.0f ms, %d registers\n", path, took.count(), registers);
  }
  void evaluate(const Columns& in, const Columns& out, std::uint64_t n, unsigned blocks) const {
    double** inputs = in.addresses();
    double** outputs = out.addresses();
    auto count = static_cast<std::int64_t>(n);
    void* arguments[] = {&inputs, &outputs, &count};
    check(cuLaunchKernel(function_, blocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr),
          "cuLaunchKernel");
  }

 private:
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

/// The number of values that differ from those of the file.
std::size_t compare(const Model& model, const Points& points, std::size_t inputs, unsigned blocks) {
  const std::size_t outputs = points.columns.size() - inputs;
  const Columns in(inputs, points.size());
  const Columns out(outputs, points.size());
  const std::size_t bytes = points.size() * sizeof(double);
  for (std::size_t i = 0; i < inputs; ++i) {
    check(cudaMemcpy(in[i], points.columns[i].data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  model.evaluate(in, out, points.size(), blocks);
  std::size_t different = 0;
  double worst = 0;
  std::vector<double> found(points.size());
  for (std::size_t k = 0; k < outputs; ++k) {
    check(cudaMemcpy(found.data(), out[k], bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double expected = points.columns[inputs + k][i];
      different += found[i] != expected ? 1 : 0;
      worst = std::max(worst, std::abs(found[i] - expected) / std::abs(expected));
    }
  }
  std::printf(
      "%zu values of %zu points against the interpreter: %zu differ (worst %.2g relative)\n",
      outputs * points.size(), points.size(), different, worst);
  return different;
}

void measure(const Model& model, const Points& points, int inputs, std::uint64_t total,
             unsigned blocks) {
  Grid grid;
  grid.size = inputs;
  for (int i = 0; i < inputs; ++i) {
    grid.inputs[i] = steps_between(points.columns[static_cast<std::size_t>(i)]);
  }
  const std::size_t outputs = points.columns.size() - static_cast<std::size_t>(inputs);
  const Columns in(static_cast<std::size_t>(inputs), kChunk);
  const Columns out(outputs, kChunk);
  std::vector<Totals> totals(outputs * blocks, Totals{DBL_MAX, -DBL_MAX, 0});
  Totals* on_device = nullptr;
  const std::size_t bytes = totals.size() * sizeof(Totals);
  check(cudaMalloc(&on_device, bytes), "cudaMalloc");
  const auto run = [&](std::uint64_t count) {
    for (std::uint64_t first = 0; first < count; first += kChunk) {
      const std::uint64_t n = std::min(kChunk, count - first);
      fill<<<blocks, kThreads>>>(grid, first, n, in.addresses());
      model.evaluate(in, out, n, blocks);
      for (std::size_t k = 0; k < outputs; ++k) {
        reduce<<<blocks, kThreads>>>(out[k], n, on_device + k * blocks);
      }
    }
    check(cudaDeviceSynchronize(), "evaluation");
  };
  run(16 * kChunk);
  check(cudaMemcpy(on_device, totals.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  const auto begin = std::chrono::steady_clock::now();
  run(total);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  check(cudaMemcpy(totals.data(), on_device, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::printf("%llu points in %.3f s: %.3g billion points/s\n",
              static_cast<unsigned long long>(total), took.count(),
              static_cast<double>(total) / took.count() / 1e9);
  for (std::size_t k = 0; k < outputs; ++k) {
    Totals all{DBL_MAX, -DBL_MAX, 0};
    for (unsigned b = 0; b < blocks; ++b) {
      const Totals part = totals[k * blocks + b];
      all = {std::min(all.least, part.least), std::max(all.greatest, part.greatest),
             all.sum + part.sum};
    }
    std::printf("  %s: least %.6g, greatest %.6g, mean %.6g\n",
                points.names[static_cast<std::size_t>(inputs) + k].c_str(), all.least, all.greatest,
                all.sum / static_cast<double>(total));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int inputs = argc < 4 ? 0 : std::atoi(argv[3]);
  if (inputs < 1 || inputs > kMostInputs) {
    std::fprintf(stderr, "usage: evaluate MODEL.ptx POINTS.csv INPUTS [POINTS]\n");
    return 2;
  }
  const Points points = read_points(argv[2]);
  if (points.size() == 0 || points.columns.size() <= static_cast<std::size_t>(inputs)) {
    std::fprintf(stderr, "%s: no points of %d inputs\n", argv[2], inputs);
    return 2;
  }
  const std::uint64_t total =
      argc > 4 ? std::strtoull(argv[4], nullptr, 10) : std::uint64_t{1} << 34U;
  check(cudaFree(nullptr), "no GPU");
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  std::printf("%s\n", device.name);
  const auto blocks = static_cast<unsigned>(device.multiProcessorCount) * 8;
  const Model model(argv[1]);
  const std::size_t different = compare(model, points, static_cast<std::size_t>(inputs), blocks);
  measure(model, points, inputs, total, blocks);
  return different == 0 ? 0 : 1;
}
