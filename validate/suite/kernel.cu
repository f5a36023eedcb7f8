#include <fstream>
#include <iterator>
#include <vector>

#include <cuda.h>

#include "validate/measure/kernel_args.hpp"
#include "validate/suite/gpu/lab.cuh"
#include "validate/suite/suite.hpp"

namespace mansard::measure {
namespace {

constexpr std::string_view kColumns[] = {
    "machine", "implementation", "mode",      "cache",     "op",     "kernel", "file",   "grid",
    "block",   "dynamic_smem",   "arguments", "median_us", "min_us", "max_us", "trials", "calls",
    "sm_mhz",  "power_w",        "temp_c",    "throttle",  "flag",   "source"};

/// The part of the driver API that is used, found at run time.
struct Driver {
  Library library{"libcuda.so.1", "libcuda.so"};
  CUresult (*load)(CUmodule*, const void*, unsigned, CUjit_option*, void**) =
      library.symbol<CUresult(CUmodule*, const void*, unsigned, CUjit_option*, void**)>(
          "cuModuleLoadDataEx");
  CUresult (*find)(CUfunction*, CUmodule, const char*) =
      library.symbol<CUresult(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction");
  CUresult (*allow)(CUfunction, CUfunction_attribute, int) =
      library.symbol<CUresult(CUfunction, CUfunction_attribute, int)>("cuFuncSetAttribute");
  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, CUstream, void**, void**) =
      library.symbol<CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, unsigned, CUstream, void**, void**)>("cuLaunchKernel");
  CUresult (*name)(CUresult, const char**) =
      library.symbol<CUresult(CUresult, const char**)>("cuGetErrorName");
};

const Driver& driver() {
  static const Driver kDriver;
  if (!kDriver.library.found()) {
    throw Unsupported("no libcuda: the driver is missing");
  }
  return kDriver;
}

void check_driver(CUresult result, const std::string& more = "",
                  std::source_location where = std::source_location::current()) {
  if (result != CUDA_SUCCESS) {
    const char* name = "unknown error";
    driver().name(result, &name);
    throw DeviceError(name + (more.empty() ? "" : ": " + more), where);
  }
}

/// Compiles PTX; a failure carries the log of the driver's compiler.
CUmodule load_module(const std::string& ptx) {
  std::vector<char> log(16384);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  const CUresult result = driver().load(&module, ptx.c_str(), 2, options, values);
  check_driver(result, log.data());
  return module;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw UsageError("cannot read '" + path.string() + "'");
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::byte* make_buffer(Lab& lab, const KernelArgument& argument) {
  std::byte* const data = lab.arena().take(argument.count * element_bytes(argument.element));
  if (argument.limit > 0 && element_bytes(argument.element) == 4) {
    fill_indices(reinterpret_cast<std::uint32_t*>(data), argument.count,
                 static_cast<std::uint32_t>(argument.limit), lab.seed(), lab.stream());
  } else if (argument.limit > 0) {
    throw UsageError("TYPE[COUNT]%N needs a type of 32 bits");
  } else {
    fill_random(argument.element, data, argument.count, lab.seed(), lab.stream());
  }
  return data;
}

double buffer_bytes(std::span<const KernelArgument> arguments) {
  double bytes = 0;
  for (const KernelArgument& argument : arguments) {
    bytes += argument.is_buffer ? static_cast<double>(argument.count) *
                                      static_cast<double>(element_bytes(argument.element))
                                : 0;
  }
  return bytes;
}

/// The bytes of every parameter of one call.
using Call = std::vector<std::vector<std::byte>>;

std::vector<Call> make_calls(Lab& lab, std::span<const KernelArgument> arguments, int sets) {
  std::vector<Call> calls(sets);
  for (Call& call : calls) {
    for (const KernelArgument& argument : arguments) {
      if (argument.is_buffer) {
        std::byte* const buffer = make_buffer(lab, argument);
        const auto* const bytes = reinterpret_cast<const std::byte*>(&buffer);
        call.emplace_back(bytes, bytes + sizeof buffer);
      } else {
        call.push_back(argument.scalar);
      }
    }
  }
  return calls;
}

CUfunction find_entry(CUmodule module, const KernelOptions& options) {
  CUfunction function = nullptr;
  check_driver(driver().find(&function, module, options.entry.c_str()), options.entry);
  if (options.shared_bytes > 0) {
    check_driver(driver().allow(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                static_cast<int>(options.shared_bytes)));
  }
  return function;
}

void launch(CUfunction function, const KernelOptions& options, Call& call, cudaStream_t stream) {
  std::vector<void*> pointers;
  for (std::vector<std::byte>& parameter : call) {
    pointers.push_back(parameter.data());
  }
  const auto part = [](std::int64_t size) { return static_cast<unsigned>(size); };
  check_driver(driver().launch(function, part(options.grid.x), part(options.grid.y),
                               part(options.grid.z), part(options.block.x), part(options.block.y),
                               part(options.block.z), part(options.shared_bytes), stream,
                               pointers.data(), nullptr));
}

std::string by_x(const Dim3& size) {
  return std::to_string(size.x) + "x" + std::to_string(size.y) + "x" + std::to_string(size.z);
}

Row identity(const KernelOptions& options) {
  Row row{{"implementation", "ptx"}, {"mode", "graph"}, {"op", "kernel"}};
  return row.set("kernel", options.entry)
      .set("file", options.file.filename().string())
      .set("grid", by_x(options.grid))
      .set("block", by_x(options.block))
      .set("dynamic_smem", options.shared_bytes)
      .set("arguments", options.args);
}

void measure_kernel(Lab& lab, const KernelOptions& options) {
  Row row = identity(options);
  const std::string ptx = read_text(options.file);
  const std::vector<KernelArgument> arguments =
      bind_arguments(entry_params(ptx, options.entry), options.args, options.params);
  const Rotation rotation = lab.rotation(buffer_bytes(arguments));
  row.set("cache", "cold");
  if (lab.skips(row)) {
    return;
  }
  const CUfunction function = find_entry(load_module(ptx), options);
  std::vector<Call> calls = make_calls(lab, arguments, rotation.sets);
  const auto call = [&](cudaStream_t stream, int turn) {
    launch(function, options, calls[turn], stream);
  };
  lab.record(row, lab.time({call, rotation}));
}

}  // namespace

int run_kernel(const Options& options) {
  const Job job{options.kernel.entry, [&](Lab& lab) { measure_kernel(lab, options.kernel); }, true};
  return run_jobs(options, "kernel.csv", kColumns, {job});
}

}  // namespace mansard::measure
