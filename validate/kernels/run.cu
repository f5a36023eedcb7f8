// Launches every kernel of kernels.cu as launches.csv will say, and writes that file: run [--once]
// OUT.csv Times: events around single launches on a stream, median of 21 after 4, so that they hold
// the launch. With --once each kernel runs once, for a profiler that counts.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "validate/kernels/kernels.cu"

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "run: %s\n", cudaGetErrorString(status));
    std::exit(1);
  }
}

/// From 0.1 to 1.1, so that no operation takes the slow path of special values.
__global__ void fill(size_t n, float* x) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x) {
    unsigned h = static_cast<unsigned>(i) * 2654435761U;
    h ^= h >> 15;
    h *= 0x85ebca6bU;
    h ^= h >> 13;
    x[i] = 0.1f + static_cast<float>(h >> 8) / 16777216.0f;
  }
}

struct Case {
  const char* name;
  const char* kernel;
  dim3 grid;
  dim3 block;
  const char* arguments;
  std::function<void()> launch;
};

std::string sides(dim3 d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

}  // namespace

int main(int count, char** words) {
  const bool once = count == 3 && std::strcmp(words[1], "--once") == 0;
  if (count != (once ? 3 : 2)) {
    std::fprintf(stderr, "usage: run [--once] OUT.csv\n");
    return 2;
  }
  constexpr size_t kFloats = size_t{1} << 27;
  std::vector<float*> buffers(4);
  for (float*& each : buffers) {
    check(cudaMalloc(&each, kFloats * sizeof(float)));
  }
  float* const a = buffers[0];
  float* const b = buffers[1];
  float* const c = buffers[2];
  float* const d = buffers[3];
  const auto f4 = [](float* p) { return reinterpret_cast<float4*>(p); };
  const auto f64 = [](float* p) { return reinterpret_cast<double*>(p); };
  std::vector<Case> cases;
  const auto add = [&](const char* name, const char* kernel, dim3 grid, dim3 block,
                       const char* arguments, auto launch) {
    cases.push_back({name, kernel, grid, block, arguments, [=] { launch(grid, block); }});
  };
  add("layernorm-8192x4096", "layernorm", 1024, 256, "rows=8192;cols=4096",
      [=](dim3 g, dim3 t) { layernorm<<<g, t>>>(8192, 4096, a, b, c, d); });
  add("layernorm-65536x768", "layernorm", 8192, 256, "rows=65536;cols=768",
      [=](dim3 g, dim3 t) { layernorm<<<g, t>>>(65536, 768, a, b, c, d); });
  add("gelu-64M", "gelu", 131072, 512, "n=67108864",
      [=](dim3 g, dim3 t) { gelu<<<g, t>>>(67108864, a, b); });
  add("add4-128M", "add_float4", 131072, 256, "n4=33554432",
      [=](dim3 g, dim3 t) { add_float4<<<g, t>>>(33554432, f4(a), f4(b), f4(c)); });
  add("add4-4M", "add_float4", 4096, 256, "n4=1048576",
      [=](dim3 g, dim3 t) { add_float4<<<g, t>>>(1048576, f4(a), f4(b), f4(c)); });
  add("adamw-32M", "adamw", 65536, 512, "n=33554432",
      [=](dim3 g, dim3 t) { adamw<<<g, t>>>(33554432, 1e-3f, 0.9f, 0.999f, 0.01f, a, b, c, d); });
  add("matmul_tiled-2048", "matmul_tiled", dim3(64, 64), dim3(32, 32), "n=2048",
      [=](dim3 g, dim3 t) { matmul_tiled<<<g, t>>>(2048, a, b, c); });
  add("matmul_blocked-4096", "matmul_blocked", dim3(64, 64), 256, "n=4096",
      [=](dim3 g, dim3 t) { matmul_blocked<<<g, t>>>(4096, a, b, c); });
  add("transpose_naive-8192", "transpose_naive", dim3(256, 1024), dim3(32, 8), "n=8192",
      [=](dim3 g, dim3 t) { transpose_naive<<<g, t>>>(8192, a, b); });
  add("stencil7-512", "stencil7", dim3(16, 64), dim3(32, 8), "n=512",
      [=](dim3 g, dim3 t) { stencil7<<<g, t>>>(512, a, b); });
  add("nbody-65536", "nbody", 256, 256, "n=65536",
      [=](dim3 g, dim3 t) { nbody<<<g, t>>>(65536, f4(a), f4(b)); });
  add("particles-16M", "move_particles", 65536, 256, "n=16777216", [=](dim3 g, dim3 t) {
    move_particles<<<g, t>>>(16777216, 0.01f, reinterpret_cast<Particle*>(a));
  });
  add("black_scholes-32M", "black_scholes", 131072, 256, "n=33554432",
      [=](dim3 g, dim3 t) { black_scholes<<<g, t>>>(33554432, 0.02f, 0.3f, b, c, d, a); });
  add("axpy_half2-64M", "axpy_half2", 1056, 256, "n2=67108864", [=](dim3 g, dim3 t) {
    axpy_half2<<<g, t>>>(67108864, reinterpret_cast<half2*>(b), reinterpret_cast<half2*>(c));
  });
  add("dot_f64-64M", "dot_f64", 1056, 256, "n=67108864",
      [=](dim3 g, dim3 t) { dot_f64<<<g, t>>>(67108864, f64(b), f64(c), f64(d)); });
  add("reduce_divergent-64M", "reduce_divergent", 262144, 256, "n=67108864",
      [=](dim3 g, dim3 t) { reduce_divergent<<<g, t>>>(67108864, b, d); });
  add("scan-64M", "scan_block", 131072, 512, "n=67108864",
      [=](dim3 g, dim3 t) { scan_block<<<g, t>>>(67108864, b, d); });
  add("gray-64M", "gray", 262144, 256, "n=67108864", [=](dim3 g, dim3 t) {
    gray<<<g, t>>>(67108864, reinterpret_cast<unsigned char*>(b),
                   reinterpret_cast<unsigned char*>(d));
  });
  add("convolve-64M", "convolve", 262144, 256, "n=67108864",
      [=](dim3 g, dim3 t) { convolve<<<g, t>>>(67108864, b, c, d); });
  add("fma_chain-4096", "fma_chain", 1056, 256, "iterations=4096",
      [=](dim3 g, dim3 t) { fma_chain<<<g, t>>>(4096, 0.5f, d); });
  add("columns-8192", "spread_columns", 64, 128, "rows=8192;cols=8192",
      [=](dim3 g, dim3 t) { spread_columns<<<g, t>>>(8192, 8192, b, d); });
  add("online_softmax-16384x2048", "online_softmax", 2048, 256, "rows=16384;cols=2048",
      [=](dim3 g, dim3 t) { online_softmax<<<g, t>>>(16384, 2048, b, d); });

  std::FILE* out = std::fopen(words[count - 1], "w");
  if (out == nullptr) {
    std::fprintf(stderr, "run: cannot write %s\n", words[count - 1]);
    return 1;
  }
  std::fprintf(out, "case,kernel,grid,block,dynamic_smem,arguments,median_us,min_us,max_us\n");
  check(cudaDeviceSynchronize());
  cudaEvent_t begin;
  cudaEvent_t end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (const Case& each : cases) {
    for (float* buffer : buffers) {
      fill<<<2048, 256>>>(kFloats, buffer);
    }
    std::vector<float> us;
    for (int i = 0; i < (once ? 1 : 25); ++i) {
      check(cudaEventRecord(begin));
      each.launch();
      check(cudaEventRecord(end));
      check(cudaEventSynchronize(end));
      check(cudaGetLastError());
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end));
      if (i >= 4 || once) {
        us.push_back(ms * 1000);
      }
    }
    std::sort(us.begin(), us.end());
    std::fprintf(out, "%s,%s,%s,%s,0,%s,%.3f,%.3f,%.3f\n", each.name, each.kernel,
                 sides(each.grid).c_str(), sides(each.block).c_str(), each.arguments,
                 us[us.size() / 2], us.front(), us.back());
  }
  std::fclose(out);
  return 0;
}
